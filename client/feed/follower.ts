/** One follower of a run: what it has been told, and what it is to be told next. */
import type { Logger } from 'pino';
import type { RunReading } from '../../store/reader';
import type { JournalEntry } from '../../store/rows';
import type { RunRef } from '../../workflows/contract/records';
import type { FeedItem } from '../schemas/event';
import { toEventView, toRunView } from '../views/run-view';
import { pause } from './pause';
import type { LiveState, WatchedRun } from './watched-run';

export interface FollowerOptions {
  readonly run: WatchedRun;
  readonly ref: RunRef;
  /** Position of the last line that is known. */
  readonly after: number;
  readonly signal: AbortSignal;
  readonly log: Logger | undefined;
  readonly beatMs: number;
}

/** What has been told of the attempt that spoke last. */
interface Told {
  readonly step: number;
  readonly attempt: number;
  readonly isVoid: boolean;
  readonly count: number;
}

export class Follower {
  private position: number;
  private told: Told | undefined;

  constructor(private readonly options: FollowerOptions) {
    this.position = options.after;
  }

  /** To the end of the run, or until the signal is aborted. `start` is the run as it was read first. */
  async *items(start: RunReading): AsyncGenerator<FeedItem, void> {
    const { run, signal } = this.options;
    if (this.position > start.position) yield this.resync(start);
    await this.patiently(() => run.look());
    while (!this.isOver()) {
      // Asked for first, so that no change is missed while what is known already is told.
      const changed = run.changed(signal);
      const seen = run.latest();
      if (seen !== undefined) {
        yield* this.lines(seen.moment.position);
        if (seen.live !== undefined) yield* this.text(seen.live);
        const { terminal, reason = '', position } = seen.moment;
        if (terminal !== undefined && this.position >= position) {
          yield { kind: 'end', terminal, reason };
          return;
        }
      }
      await changed;
    }
  }

  private isOver(): boolean {
    return this.options.signal.aborted;
  }

  private async *lines(upTo: number): AsyncGenerator<FeedItem, void> {
    while (this.position < upTo && !this.isOver()) {
      const page = await this.patiently(() => this.options.run.page(this.position));
      if (page === undefined) return;
      if (isBroken(page, this.position)) {
        const reading = await this.patiently(() => this.options.run.read());
        if (reading !== undefined) yield this.resync(reading);
        return;
      }
      for (const entry of page) {
        yield { kind: 'event', event: toEventView(entry) };
        this.position = entry.position;
      }
    }
  }

  private resync(reading: RunReading): FeedItem {
    this.position = reading.position;
    return { kind: 'resync', snapshot: toRunView(reading) };
  }

  private *text({ step, attempt, texts, isVoid }: LiveState): Generator<FeedItem, void> {
    const of = { run: this.options.ref.run, step, attempt };
    const { told } = this;
    const isOn = told?.step === step && told.attempt === attempt && !told.isVoid && told.count <= texts.length;
    this.told = { step, attempt, isVoid, count: texts.length };
    if (isVoid) {
      if (isOn) yield { kind: 'reset', ...of };
      return;
    }
    if (!isOn) yield { kind: 'reset', ...of };
    const from = isOn ? told.count : 0;
    for (const [offset, text] of texts.slice(from).entries()) {
      yield { kind: 'text', ...of, index: from + offset, text };
    }
  }

  /** Again and again while the store does not answer; undefined once the signal is aborted. */
  private async patiently<T>(read: () => Promise<T>): Promise<T | undefined> {
    const { log, beatMs } = this.options;
    while (!this.isOver()) {
      try {
        return await read();
      } catch (error) {
        log?.warn({ err: error, run: this.options.ref.run }, 'a follower waits for the store');
        await pause(beatMs);
      }
    }
    return undefined;
  }
}

/** The journal does not go on from the position: its beginning was cut off, or it was never as long. */
const isBroken = (page: readonly JournalEntry[], position: number): boolean => page[0]?.position !== position + 1;
