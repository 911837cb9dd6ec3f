/**
 * One run that somebody watches. However many do, it is asked about once per beat: where its journal ends, and what its model
 * is writing. Journal pages are read by whoever needs them, those at the same place together.
 */
import { RowMissing } from '../../store/errors';
import type { LiveAttempt, Moment, RunReading } from '../../store/reader';
import type { JournalEntry } from '../../store/rows';
import type { Store } from '../../store/store';
import type { RunRef } from '../../workflows/contract/records';

export interface LiveState {
  readonly step: number;
  readonly attempt: number;
  readonly texts: readonly string[];
  /** Its attempt has failed or was lost: nothing of it stands. */
  readonly isVoid: boolean;
}

export interface Seen {
  readonly moment: Moment;
  readonly live?: LiveState;
}

export type FeedStore = Pick<Store, 'reader' | 'liveText' | 'journal'>;

const PAGE = 200;

export class WatchedRun {
  private seen: Seen | undefined;
  private pages = new Map<number, Promise<readonly JournalEntry[]>>();
  private readonly waiting = new Set<() => void>();
  private current: Promise<void> = Promise.resolve();
  private next: Promise<void> | undefined;

  constructor(
    private readonly store: FeedStore,
    private readonly ref: RunRef,
  ) {}

  latest(): Seen | undefined {
    return this.seen;
  }

  /** Lines after a position, a page of them; in the order of positions. */
  page(after: number): Promise<readonly JournalEntry[]> {
    const known = this.pages.get(after);
    if (known !== undefined) return known;
    const page = this.store.journal.list(this.ref, { after, limit: PAGE });
    this.pages.set(after, page);
    page.catch(() => this.pages.delete(after));
    return page;
  }

  /** Throws where it is gone. */
  async read(): Promise<RunReading> {
    const reading = await this.store.reader.run(this.ref);
    if (reading === undefined) throw new RowMissing(this.ref.run);
    return reading;
  }

  /** Resolves at the next change, or when the signal is aborted. */
  changed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        this.waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.waiting.add(done);
      signal.addEventListener('abort', done);
    });
  }

  /**
   * Reads what is new; those who ask while a reading is under way share the one after it, so that nobody is shown what was
   * read before they asked. Throws what the store throws.
   */
  look(): Promise<void> {
    this.next ??= this.current.then(() => {
      this.next = undefined;
      const reading = this.readNow();
      this.current = reading.catch(ignore);
      return reading;
    });
    return this.next;
  }

  private async readNow(): Promise<void> {
    const [moment, live] = await Promise.all([this.store.reader.moment(this.ref), this.readLive()]);
    if (moment === undefined) return;
    const before = this.seen;
    this.seen = { moment, ...(live === undefined ? {} : { live }) };
    if (before !== undefined && isSame(before, this.seen)) return;
    this.pages = new Map();
    for (const wake of [...this.waiting]) wake();
  }

  private async readLive(): Promise<LiveState | undefined> {
    const known = this.seen?.live;
    const read = await this.store.liveText.read(
      this.ref,
      known && { step: known.step, attempt: known.attempt, index: known.texts.length },
    );
    return read && join(known, read);
  }
}

const ignore = (): void => undefined;

const join = (known: LiveState | undefined, read: LiveAttempt): LiveState => {
  const { step, attempt, from, texts, isVoid } = read;
  const isOn = known?.step === step && known.attempt === attempt && known.texts.length === from;
  return { step, attempt, isVoid, texts: isOn ? [...known.texts, ...texts] : texts };
};

const isSame = (one: Seen, other: Seen): boolean =>
  one.moment.position === other.moment.position &&
  one.moment.terminal === other.moment.terminal &&
  one.live?.step === other.live?.step &&
  one.live?.attempt === other.live?.attempt &&
  one.live?.isVoid === other.live?.isVoid &&
  one.live?.texts.length === other.live?.texts.length;
