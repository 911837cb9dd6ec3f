/** Starts that hang between their two phases: the caller wrote the row and died, or Temporal was away. */
import type { Logger } from 'pino';
import type { Store } from '../store/store';
import { startWorkflow, type StartTarget } from './start-workflow';

/** A start younger than this is still its caller's. */
const HANGING_AFTER_MS = 5_000;
const BATCH = 20;

/** One pass. Returns how many were started; a failure leaves the row for the next pass. */
export const relayStarts = async (store: Store, target: StartTarget, log: Logger): Promise<number> => {
  const hanging = await store.runs.listHangingStarts({ olderThanMs: HANGING_AFTER_MS, limit: BATCH });
  let started = 0;
  for (const row of hanging) {
    try {
      await startWorkflow(target, row);
      started += 1;
      log.info({ run: row.ref.run }, 'relayed a start');
    } catch (error) {
      log.warn({ run: row.ref.run, err: error }, 'could not relay a start');
    }
  }
  return started;
};
