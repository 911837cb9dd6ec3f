/** First of all on the way to an end: nothing unsent is sent any more, and the far side is asked to stop its jobs. */
import type { OperationRow } from '../../store/rows';
import type { Carried } from '../../workflows/contract/activities';
import { coordinatesOf, type OperationId } from '../../workflows/contract/ids';
import type { ActivityDeps } from '../deps';
import { callWithin } from '../operate/call-within';
import { classOf } from '../operate/classify-tool-error';
import { loadOperation, lookUpContextOf } from '../operate/load-operation';

export const stopOperations = async (
  deps: ActivityDeps,
  { isCancel, step, ...carried }: Carried & { readonly isCancel: boolean; readonly step: number },
): Promise<{ readonly cancelled: readonly number[] }> => {
  const cancelled = await deps.store.runs.stopOperations(carried, isCancel);
  const operations = await deps.store.operations.list(carried.ref);
  await Promise.all(operations.filter(isJob).map((row) => askToCancel(deps, row)));
  return { cancelled: ordinalsOf(step, cancelled) };
};

const isJob = ({ state }: OperationRow): boolean => state === 'ACCEPTED' || state === 'RUNNING';

const CANCEL_TIMEOUT_MS = 5_000;

/** A wish, whatever the far side answers to it: only a look-up or a poll proves what became of the job. */
const askToCancel = async (deps: ActivityDeps, { ref, id, step, ordinal }: OperationRow): Promise<void> => {
  const operation = await loadOperation(deps, { ref, step, ordinal });
  const { tool, input } = operation.pinned ?? {};
  const cancel = tool?.cancel;
  if (tool === undefined || cancel === undefined) return;
  const context = { run: ref.run, operation: id, tool: tool.name };
  try {
    const limits = { tool: tool.name, timeoutMs: CANCEL_TIMEOUT_MS };
    await callWithin(limits, (signal) => cancel(input, lookUpContextOf(deps, operation, signal)));
    deps.log.info(context, 'a job was asked to cancel');
  } catch (error) {
    deps.log.warn({ ...context, why: classOf(error) }, 'a job could not be asked to cancel');
  }
};

/** Of the open candidate; older operations have no call any more. */
export const ordinalsOf = (step: number, operations: readonly OperationId[]): readonly number[] =>
  operations.map(coordinatesOf).flatMap((at) => (at.step === step ? [at.ordinal] : []));
