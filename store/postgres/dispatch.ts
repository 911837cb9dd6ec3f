/**
 * The right to send, once per generation: one transaction on the locked run row, then the operation's. Nothing is sent where
 * the run has ended or is on its way there, was asked to cancel, or has a newer plan; where another write on the same object
 * has no proved end; or where the budget of tool calls is spent.
 */
import { sql } from 'kysely';
import type { OperationId } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';
import { isUnproved, OPERATION_STATES } from '../../workflows/machine/operation-transitions';
import type { OperationRow } from '../rows';
import type { DispatchGrant, OperationStore } from '../store';
import type { Session, Trx } from './connect';
import { lockRun, type LockedRun } from './locked-run';
import { isOperation, toOperationRow } from './operation-row';
import { lockOperation } from './settle';
import { encodeText } from './text';
import { NO_USAGE, usageToColumns } from './totals';

interface Dispatching {
  readonly ref: RunRef;
  readonly id: OperationId;
  readonly grant: Parameters<OperationStore['dispatch']>[2];
}

type Stop = Extract<DispatchGrant, { kind: 'stopped' }>['why'];

export const dispatchOperation = async (session: Session, dispatching: Dispatching): Promise<DispatchGrant> => {
  const { ref, grant } = dispatching;
  let askedAt = performance.now();
  const decided = await session.transact(async (trx): Promise<DispatchGrant> => {
    const run = await lockRun(trx, ref);
    const { row, now } = await lockOperation(session, trx, dispatching);
    const { totals } = run;
    if (!maySend(row, now, grant.maySendAgain) || (await hasUnread(trx, row))) {
      return { kind: 'lost', row, now, totals };
    }
    const why = stopOf(run, row);
    if (why !== undefined) return { kind: 'stopped', row, why, totals };
    const by = await findHolder(trx, row);
    if (by !== undefined) return { kind: 'held', row, by, totals };
    const isCounted = row.generation > 0;
    if (!isCounted && totals.toolCalls + 1 > grant.maxToolCalls) return { kind: 'budgetSpent', row, totals };
    askedAt = performance.now();
    const sent = await markDispatched(session, trx, dispatching);
    return {
      kind: 'won',
      row: sent.row,
      remainingMs: grant.timeoutMs,
      totals: { ...totals, toolCalls: sent.toolCalls },
    };
  });
  // The deadline counts from after `askedAt`, so what is left is never overstated, however slow the commit was.
  const spentMs = performance.now() - askedAt;
  return decided.kind === 'won' ? { ...decided, remainingMs: Math.max(0, grant.timeoutMs - spentMs) } : decided;
};

const maySend = (row: OperationRow, now: number, maySendAgain: boolean): boolean => {
  if (row.state === 'CREATED') return true;
  const isDue = row.notBeforeAt === undefined || row.notBeforeAt <= now;
  return isDue && (row.state === 'NOT_EXECUTED' || (row.state === 'UNKNOWN' && maySendAgain));
};

/** What was reported of a write that was proved unexecuted is read before it is sent again. */
const hasUnread = async (trx: Trx, { ref, id, state }: OperationRow): Promise<boolean> => {
  if (state !== 'NOT_EXECUTED') return false;
  const unread = await trx
    .selectFrom('inbox')
    .select('event_id')
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('operation', '=', id)
    .where('settled_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return unread !== undefined;
};

const stopOf = (run: LockedRun, row: OperationRow): Stop | undefined => {
  if (run.isCancelRequested) return 'cancel';
  if (run.end !== undefined || run.isStopped) return 'terminal';
  return row.planVersion === run.planVersion ? undefined : 'plan';
};

const UNPROVED = OPERATION_STATES.filter(isUnproved);

type Holder = Extract<DispatchGrant, { kind: 'held' }>['by'];

const findHolder = async (trx: Trx, row: OperationRow): Promise<Holder | undefined> => {
  if (row.effect === 'read' || row.target === undefined) return undefined;
  return trx
    .selectFrom('operations')
    .select(['id', 'state'])
    .where('tenant', '=', row.ref.tenant)
    .where('run', '=', row.ref.run)
    .where(sql<boolean>`is_open`)
    .where('state', 'in', UNPROVED)
    .where('effect', '=', 'write')
    .where('target', '=', encodeText(row.target))
    .where('id', '!=', row.id)
    .limit(1)
    .executeTakeFirst();
};

/** One ledger entry per operation, however often it is sent. */
const markDispatched = async (
  { clock }: Session,
  trx: Trx,
  { ref, id, grant }: Dispatching,
): Promise<{ readonly row: OperationRow; readonly toolCalls: number }> => {
  const now = clock.now();
  const { toolCalls, ...row } = await trx
    .with('entry', (db) =>
      db
        .insertInto('ledger')
        .values({
          tenant: ref.tenant,
          run: ref.run,
          reference: `operation:${id}`,
          kind: 'toolCall',
          is_open: false,
          ...usageToColumns(NO_USAGE),
        })
        .onConflict((conflict) => conflict.columns(['tenant', 'run', 'reference']).doNothing())
        .returning('reference'),
    )
    .with('account', (db) =>
      db
        .updateTable('runs')
        .set({ tool_calls: sql`tool_calls + (select count(*) from entry)` })
        .where('tenant', '=', ref.tenant)
        .where('run', '=', ref.run)
        .returning('tool_calls'),
    )
    .updateTable('operations')
    .set({
      state: 'DISPATCHED',
      generation: sql<number>`generation + 1`,
      open_generations: sql<readonly number[]>`open_generations || (generation + 1)`,
      decisions: sql<readonly string[]>`decisions || ${grant.decision}::text`,
      dispatched_at: now,
      first_dispatched_at: sql`coalesce(first_dispatched_at, ${now})`,
      dispatch_deadline_at: clock.inMs(grant.timeoutMs),
      not_before_at: null,
    })
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where((eb) => isOperation(eb, id))
    .returningAll()
    .returning(sql<number>`(select tool_calls from account)`.as('toolCalls'))
    .executeTakeFirstOrThrow();
  return { row: toOperationRow(row), toolCalls };
};
