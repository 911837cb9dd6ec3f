/** One look at an operation whose run has ended: what was reported, then one question. Nothing here sends. */
import { Context } from '@temporalio/activity';
import type { OperationRow, RunRow } from '../../store/rows';
import { coordinatesOf } from '../../workflows/contract/ids';
import type { ResolutionSource } from '../../workflows/contract/records';
import type { Looked, LookInput } from '../../workflows/contract/reconcile';
import { isUnproved } from '../../workflows/machine/operation-transitions';
import type { ActivityDeps } from '../deps';
import { withHeartbeat } from '../heartbeat';
import { conclude } from '../operate/conclude';
import { loadOperation, type LoadedOperation } from '../operate/load-operation';
import { ask } from '../operate/pursue';
import { markAsked, readInbox, type Heard } from '../operate/read-inbox';
import { readWithClock } from '../operate/read-with-clock';
import { nextLook } from './next-look';

export const reconcileOperation = (deps: ActivityDeps, input: LookInput): Promise<Looked> =>
  withHeartbeat(async () => {
    const { ref, operation: id } = input;
    // Before anything is read: what comes from now on owes its signal anew.
    await deps.store.wakes.seen(ref, 'reconcile', id);
    await deps.store.wakes.seen(ref, 'toolEvent', id);
    const operation = await loadOperation(deps, { ref, ...coordinatesOf(id) });
    const { endedAt } = operation.run;
    return endedAt === undefined ? { kind: 'runNotEnded' } : look(deps, operation, { input, endedAt });
  });

interface Looking {
  readonly input: LookInput;
  readonly endedAt: NonNullable<RunRow['endedAt']>;
}

const look = async (deps: ActivityDeps, operation: LoadedOperation, looking: Looking): Promise<Looked> => {
  const { ref, row } = operation;
  const before = await readWithClock(deps.store, ref, row.id);
  const heard = await readInbox(deps, operation, before);
  // The run asked as often as it may; from now on every look is a question.
  const standing = await ask(deps, { ...operation, row: heard.row }, { ...heard, mustAsk: true });
  await markAsked(deps, operation, heard);
  const outcome = await conclude(deps, operation, standing);
  const { input, endedAt } = looking;
  const next = nextLook({
    outcome,
    look: input.look,
    sinceEndMs: standing.now - endedAt,
    canAsk: canAsk(operation, standing.row),
  });
  if (next.kind === 'open') return next;
  const by = next.kind === 'giveUp' ? 'lookUp' : sourceOf({ before: before.row, heard, input });
  if (next.kind === 'giveUp') await giveUp(deps, operation, standing.row);
  await deps.store.runs.resolve(ref, { operation: row.id, by: { kind: by } });
  const { row: now } = await readWithClock(deps.store, ref, row.id);
  deps.log.info({ run: ref.run, operation: row.id, look: input.look, state: now.state, by }, 'a run was reconciled');
  return isUnproved(now.state) ? { kind: 'givenUp' } : { kind: 'settled', state: now.state };
};

const canAsk = ({ pinned }: LoadedOperation, { state }: OperationRow): boolean => {
  if (pinned === undefined) return true;
  const { reconcile, poll } = pinned.tool;
  return reconcile !== undefined || (isJob(state) && poll !== undefined);
};

const isJob = (state: OperationRow['state']): boolean => state === 'ACCEPTED' || state === 'RUNNING';

/** Along the operation table; where somebody has found out meanwhile, the row stays with that. */
const giveUp = async ({ store }: ActivityDeps, { ref }: LoadedOperation, row: OperationRow): Promise<void> => {
  if (isJob(row.state)) await store.operations.settle(ref, row.id, { state: 'UNKNOWN', code: 'OUTCOME_UNKNOWN' });
  await store.operations.settle(ref, row.id, { state: 'UNRESOLVED', code: row.code ?? 'OUTCOME_UNKNOWN' });
};

interface Source {
  readonly before: OperationRow;
  readonly heard: Heard;
  readonly input: LookInput;
}

/** An operation that had its end before it was looked at was settled by its sender, or by an execution of ours that died. */
const sourceOf = ({ before, heard, input }: Source): ResolutionSource => {
  const asked = isJob(before.state) || before.polls > 0 ? 'poll' : 'lookUp';
  if (before.state === 'NOT_EXECUTED' && heard.hasNews) return 'callback';
  if (isUnproved(before.state)) return isUnproved(heard.row.state) ? asked : 'callback';
  const isFirst = input.look === 1 && Context.current().info.attempt === 1;
  // Its sender had its answer when it became a job; a poll of the run's own was still under way.
  return isFirst && before.job === undefined ? 'reply' : asked;
};
