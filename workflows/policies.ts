/**
 * One table: activity → time-outs, retry, heartbeat. The machine owns every retry that has a meaning (attempts, sends,
 * look-ups); Temporal's retries here only carry an activity over a lost worker or a database that is away.
 */
import { ActivityCancellationType, type ActivityOptions, type LocalActivityOptions } from '@temporalio/workflow';

const HEARTBEAT_TIMEOUT = '3s';
/** An activity that holds a candidate or a reply keeps it for so long while the database is away. */
const STORE_GRACE_MS = 5 * 60_000;

const UNTIL_IT_WORKS = { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' } as const;

/** Short, no effect on the world: asked again until the store answers. */
export const LOCAL: LocalActivityOptions = {
  startToCloseTimeout: '10s',
  retry: UNTIL_IT_WORKS,
};

/** Reads and writes the store only. */
export const STORE: ActivityOptions = {
  startToCloseTimeout: '30s',
  retry: UNTIL_IT_WORKS,
};

/** One attempt is one execution: what becomes of a dead one is for the machine to decide. */
export const attemptOptions = (attemptTimeoutMs: number): ActivityOptions => ({
  startToCloseTimeout: attemptTimeoutMs + STORE_GRACE_MS,
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/** Repeated executions of a read, dispatch or look-up meet the row that the first one left. */
export const TOOL: ActivityOptions = {
  startToCloseTimeout: 10 * 60_000 + STORE_GRACE_MS,
  heartbeatTimeout: HEARTBEAT_TIMEOUT,
  retry: UNTIL_IT_WORKS,
};
