/** Keeps what was paid for, or what is known of an action, while the database is away. */
import { setTimeout as delay } from 'node:timers/promises';
import { StoreUnavailable } from '../store/errors';

export interface StoreGrace {
  /** From the first failure on; after it StoreUnavailable is thrown. */
  readonly graceMs: number;
  /** Gives up early: for work that nothing is lost with. */
  readonly signal?: AbortSignal;
  /** Called before each wait, with the number of failures so far. */
  readonly onWait?: (failures: number) => void;
}

const FIRST_WAIT_MS = 50;
const LONGEST_WAIT_MS = 2_000;

/**
 * Asks the store again, with back-off, while it does not answer. Nothing else is repeated: what the store refuses, it
 * refuses the next time too. The call may have been carried out although its answer was lost, so it has to be one that
 * may be made twice. The caller beats meanwhile.
 */
export const withStoreGrace = async <T>(grace: StoreGrace, ask: () => Promise<T>): Promise<T> => {
  let firstFailureAt: number | undefined;
  for (let failures = 1; ; failures += 1) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      firstFailureAt ??= performance.now();
      const leftMs = firstFailureAt + grace.graceMs - performance.now();
      if (leftMs <= 0 || grace.signal?.aborted === true) throw error;
      grace.onWait?.(failures);
      await pause(Math.min(waitMs(failures), leftMs), grace.signal);
    }
  }
};

/** Doubling, and between half and all of it: not every activity comes back in the same moment. */
const waitMs = (failures: number): number =>
  Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_WAIT_MS) * (0.5 + Math.random() / 2);

const pause = async (ms: number, signal: AbortSignal | undefined): Promise<void> => {
  // An abort only ends the wait; the loop says what follows.
  await delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
};
