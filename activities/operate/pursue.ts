/**
 * Goes after a write whose end is open: what has been reported about it is read, then there is one look-up or one poll, then
 * what comes next. It never sends.
 */
import { Context } from '@temporalio/activity';
import type { PursueInput } from '../../workflows/contract/activities';
import type { OperationOutcome } from '../../workflows/machine/events';
import type { ActivityDeps } from '../deps';
import { withHeartbeat } from '../heartbeat';
import { conclude } from './conclude';
import { loadOperation, type LoadedOperation } from './load-operation';
import { markAsked, readInbox, type Heard } from './read-inbox';
import { lookUp } from './look-up';
import { readWithClock } from './read-with-clock';

/**
 * What is asked follows from the row, which may have moved on since the timer was set: a callback, the late reply of a
 * sender, a person. A question that is cut short is no answer, and is asked again.
 */
export const pursue = (deps: ActivityDeps, input: PursueInput): Promise<OperationOutcome> =>
  withHeartbeat(async () => {
    await deps.store.journal.carry(input);
    const operation = await loadOperation(deps, input);
    const known = await readWithClock(deps.store, input.ref, operation.row.id);
    const heard = await readInbox(deps, operation, known);
    const standing = isToldEnough(input, heard) ? heard : await ask(deps, { ...operation, row: heard.row }, heard);
    // Cut short it was not asked: whoever looks next has to.
    if (!Context.current().cancellationSignal.aborted) await markAsked(deps, operation, heard);
    return conclude(deps, operation, standing);
  });

/**
 * A job is polled when its time has come. Looked into for another reason, it is asked about only where what was reported does
 * not say how it stands.
 */
const isToldEnough = ({ action }: PursueInput, { row, hasNews, mustAsk }: Heard): boolean =>
  (row.state === 'ACCEPTED' || row.state === 'RUNNING') && !mustAsk && (hasNews || action === 'lookUp');

export const ask = async (deps: ActivityDeps, operation: LoadedOperation, heard: Heard): ReturnType<typeof lookUp> => {
  const { row } = operation;
  const tool = operation.pinned?.tool;
  const { cancellationSignal: cancellation } = Context.current();
  switch (row.state) {
    case 'ACCEPTED':
    case 'RUNNING':
      return lookUp(deps, operation, { kind: 'poll', ask: tool?.poll?.check ?? tool?.reconcile, cancellation });
    case 'UNKNOWN':
      return askAboutUnknown(deps, operation, cancellation);
    case 'DISPATCHED':
      return askAboutDispatched(deps, operation, cancellation);
    case 'UNRESOLVED':
      // A person is being asked; the far side may know by now.
      return heard.mustAsk ? askAboutUnknown(deps, operation, cancellation) : heard;
    default:
      return heard;
  }
};

/** Where nobody can be asked, nothing is counted: the row alone says what comes next. */
const askAboutUnknown = (
  deps: ActivityDeps,
  operation: LoadedOperation,
  cancellation: AbortSignal,
): ReturnType<typeof lookUp> => {
  const { ref, row, pinned } = operation;
  const tool = pinned?.tool;
  return tool !== undefined && tool.reconcile === undefined
    ? readWithClock(deps.store, ref, row.id)
    : lookUp(deps, operation, { kind: 'lookUp', ask: tool?.reconcile, cancellation });
};

/** Its sender is gone, or still has time: only once its deadline is over is the outcome unknown. */
const askAboutDispatched = async (
  deps: ActivityDeps,
  operation: LoadedOperation,
  cancellation: AbortSignal,
): ReturnType<typeof lookUp> => {
  const { ref, row } = operation;
  const { now } = await readWithClock(deps.store, ref, row.id);
  if (now < (row.dispatchDeadlineAt ?? now)) return { row, now };
  const doubted = await deps.store.operations.settle(ref, row.id, {
    state: 'UNKNOWN',
    code: 'OUTCOME_UNKNOWN',
    generation: row.generation,
  });
  if (doubted.row.state !== 'UNKNOWN') return doubted;
  return askAboutUnknown(deps, { ...operation, row: doubted.row }, cancellation);
};
