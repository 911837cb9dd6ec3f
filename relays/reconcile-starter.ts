/** Starts the workflow that goes on with an operation after its run's end, or wakes it where it is there. */
import type { OperationId } from '../workflows/contract/ids';
import { SIGNALS, type ToolEventSignal } from '../workflows/contract/messages';
import { RECONCILE, reconcileIdOf, type ReconcileInput } from '../workflows/contract/reconcile';
import type { RunRef } from '../workflows/contract/records';
import { WORKFLOW_TASK_TIMEOUT, type StartTarget } from './start-workflow';

/** Idempotent. One that has ended (given up, say) is started again: what has come since is looked into. */
export const startReconcile = async (
  { temporal, taskQueue }: StartTarget,
  ref: RunRef,
  operation: OperationId,
): Promise<void> => {
  const input: ReconcileInput = { schemaVersion: 1, ref, operation };
  const signal: ToolEventSignal = { operation };
  await temporal.workflow.signalWithStart(RECONCILE, {
    workflowId: reconcileIdOf(operation),
    taskQueue,
    args: [input],
    signal: SIGNALS.toolEvent,
    signalArgs: [signal],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    staticSummary: `${operation} of ${ref.run}`,
  });
};
