/**
 * Runs that are followed in this process.
 *
 *   1. Positions are told in order, each once: no gap, no duplicate, wherever a follower begins.
 *   2. A position that the journal does not go on from (cut off, or never reached) is answered with one `resync`.
 *   3. Text of an attempt is preceded by a `reset`; text of two attempts is never joined, and a failed attempt's is voided.
 *   4. A store that does not answer is waited for: followers hear nothing meanwhile, and lose nothing.
 */
import type { Logger } from 'pino';
import type { RunReading } from '../../store/reader';
import type { RunRef } from '../../workflows/contract/records';
import type { FeedItem } from '../schemas/event';
import { Follower } from './follower';
import { pause } from './pause';
import { WatchedRun, type FeedStore } from './watched-run';

export interface RunFeedsOptions {
  readonly store: FeedStore;
  readonly log?: Logger;
  /** How often a run that somebody follows is looked at. */
  readonly beatMs?: number;
}

const BEAT_MS = 200;

interface Watch {
  readonly run: WatchedRun;
  followers: number;
}

export class RunFeeds {
  private readonly watches = new Map<string, Watch>();

  constructor(private readonly options: RunFeedsOptions) {}

  /** How many follow a run in this process. */
  followers(): number {
    return [...this.watches.values()].reduce((sum, { followers }) => sum + followers, 0);
  }

  /**
   * From after the given position until the run has ended and all is told, or the signal is aborted. `start` is the run as
   * the caller has just read it.
   */
  async *follow(
    start: RunReading,
    { after, signal }: { readonly after: number; readonly signal: AbortSignal },
  ): AsyncGenerator<FeedItem, void> {
    const { ref } = start.row;
    const { log, beatMs = BEAT_MS } = this.options;
    const watch = this.join(ref);
    try {
      yield* new Follower({ run: watch.run, ref, after, signal, log, beatMs }).items(start);
    } finally {
      watch.followers -= 1;
      if (watch.followers === 0) this.watches.delete(keyOf(ref));
    }
  }

  private join(ref: RunRef): Watch {
    const known = this.watches.get(keyOf(ref));
    if (known !== undefined) {
      known.followers += 1;
      return known;
    }
    const watch: Watch = { run: new WatchedRun(this.options.store, ref), followers: 1 };
    this.watches.set(keyOf(ref), watch);
    void this.beat(watch);
    return watch;
  }

  private async beat(watch: Watch): Promise<void> {
    while (watch.followers > 0) {
      try {
        await watch.run.look();
      } catch (error) {
        this.options.log?.warn({ err: error }, 'a run that is followed could not be read');
      }
      await pause(this.options.beatMs ?? BEAT_MS);
    }
  }
}

const keyOf = ({ tenant, run }: RunRef): string => `${tenant} ${run}`;
