/** Why an activity is to stop before it is done. A worker's shutdown is no cancel: the run goes on elsewhere. */
import { ApplicationFailure, CancelledFailure, Context } from '@temporalio/activity';

export type Interruption =
  /** The run gave the work up. */
  | 'cancel'
  /** This worker ends; another takes over. */
  | 'shutdown'
  /** The server does not wait for this execution any more: timed out, or its workflow is gone. */
  | 'abandoned';

export const WORKER_SHUTDOWN = 'WorkerShutdown';

/** Of the current activity, once its cancellation signal has fired. */
export const currentInterruption = (): Interruption => {
  const details = Context.current().cancellationDetails;
  if (details?.workerShutdown === true) return 'shutdown';
  return details === undefined || details.cancelRequested ? 'cancel' : 'abandoned';
};

/**
 * What an interrupted activity throws. The type of a shutdown is the one that the engine gives it itself; it may be tried
 * again, where the activity is one that the engine retries.
 */
export const toFailure = (interruption: Interruption): ApplicationFailure | CancelledFailure =>
  interruption === 'shutdown'
    ? ApplicationFailure.retryable('the worker is shutting down', WORKER_SHUTDOWN)
    : new CancelledFailure(interruption);
