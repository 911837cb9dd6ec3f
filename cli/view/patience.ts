/** Reads that wait for a database which is away, instead of ending whoever reads. */
import { setTimeout as delay } from 'node:timers/promises';
import { errorCode } from '../stack/errors';

/** Repeats the read until the database answers; whatever else goes wrong is thrown. Not for writes. */
export type Patience = <T>(read: () => Promise<T>) => Promise<T>;

export const IMPATIENT: Patience = (read) => read();

export interface PatienceOptions {
  readonly everyMs: number;
  /** Ends the waiting: what the database failed with is thrown then. */
  readonly signal: AbortSignal;
  /** Told once for each time that it is away, however many reads wait. */
  readonly onAway: () => void;
  readonly onBack: () => void;
}

export const createPatience = ({ everyMs, signal, onAway, onBack }: PatienceOptions): Patience => {
  let isAway = false;
  const turn = (away: boolean): void => {
    if (away === isAway) return;
    isAway = away;
    (away ? onAway : onBack)();
  };
  return async (read) => {
    for (;;) {
      try {
        const value = await read();
        turn(false);
        return value;
      } catch (error) {
        if (errorCode(error) !== 'store.unavailable' || signal.aborted) throw error;
        turn(true);
        await delay(everyMs, undefined, { signal }).catch(() => undefined);
      }
    }
  };
};
