/** Waits: opened by a machine event, ended by a response, by their expiry, or by the plan and the run moving on. */
import { sql } from 'kysely';
import type { Carried } from '../../workflows/contract/activities';
import type { TenantId, WaitId } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';
import { CursorInvalid, RowMissing } from '../errors';
import type { NewWait, WaitRow } from '../rows';
import type { WaitFilter, WaitStore } from '../outside';
import { carryEvents } from './carry';
import type { Db, Session, Trx } from './connect';
import { lockRun, type LockedRun } from './locked-run';
import { listResponses, respond } from './responses';
import { toWaitRow } from './wait-row';

interface Reading {
  readonly row: WaitRow;
  readonly remainingMs: number;
}

export const createWaitStore = (session: Session): WaitStore => ({
  open: (carried, wait) => openWait(session, carried, wait),
  read: (ref, id) => readWait(session, ref, id),
  list: (tenant, filter) => listWaits(session, tenant, filter),
  page: (tenant, filter) => pageWaits(session, tenant, filter),
  respond: (ref, response, judge) => respond(session, { ref, response }, judge),
  responses: (ref, id) => listResponses(session, ref, id),
});

const openWait = (session: Session, { ref, events }: Carried, wait: NewWait): Promise<Reading> =>
  session.transact(async (trx) => {
    const run = await carryEvents(session, trx, { run: await lockRun(trx, ref), events });
    await insertWait(session, trx, { run, wait });
    const reading = await findWait(session, trx, { ref, id: wait.id });
    if (reading === undefined) throw new RowMissing(wait.id);
    return reading;
  });

/** A wait that the plan, a stop or the end has overtaken is VOID from the start: nobody is asked for what has no effect. */
const insertWait = async (
  { clock }: Session,
  trx: Trx,
  { run, wait }: { readonly run: LockedRun; readonly wait: NewWait },
): Promise<void> => {
  const isOvertaken = run.end !== undefined || run.isStopped || run.planVersion !== wait.planVersion;
  await trx
    .insertInto('waits')
    .values({
      tenant: run.ref.tenant,
      run: run.ref.run,
      id: wait.id,
      kind: wait.kind,
      seq: wait.seq,
      plan_version: wait.planVersion,
      operation: wait.operation ?? null,
      plan: wait.plan,
      response_schema: JSON.stringify(wait.responseSchema),
      expires_in_ms: wait.expiresInMs,
      reason: wait.reason ?? null,
      state: isOvertaken ? 'VOID' : 'OPEN',
      opened_at: clock.now(),
      expires_at: clock.inMs(wait.expiresInMs),
    })
    .onConflict((conflict) => conflict.columns(['tenant', 'run', 'id']).doNothing())
    .execute();
};

/** The update waits for a response that is being judged, and finds the wait CONSUMED then. */
const readWait = async (session: Session, ref: RunRef, id: WaitId): Promise<Reading | undefined> => {
  await expire(session, ref.tenant).where('run', '=', ref.run).where('id', '=', id).execute();
  return findWait(session, session.db, { ref, id });
};

const expire = ({ db, clock }: Session, tenant: TenantId) =>
  db
    .updateTable('waits')
    .set({ state: 'EXPIRED' })
    .where('tenant', '=', tenant)
    .where('state', '=', sql.lit('OPEN'))
    .where('expires_at', '<=', clock.now());

const findWait = async (
  { clock }: Session,
  db: Db | Trx,
  { ref, id }: { readonly ref: RunRef; readonly id: WaitId },
): Promise<Reading | undefined> => {
  const found = await db
    .selectFrom('waits')
    .selectAll()
    .select(clock.msUntil('expires_at').as('remainingMs'))
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('id', '=', id)
    .executeTakeFirst();
  if (found === undefined) return undefined;
  const { remainingMs, ...row } = found;
  return { row: toWaitRow(row), remainingMs };
};

/** Newest first. What is listed as OPEN has not expired. */
const listWaits = async (
  session: Session,
  tenant: TenantId,
  { run, state, limit }: Parameters<WaitStore['list']>[1],
): Promise<readonly WaitRow[]> => {
  if (state !== 'CONSUMED' && state !== 'VOID') {
    const overdue = expire(session, tenant);
    await (run === undefined ? overdue : overdue.where('run', '=', run)).execute();
  }
  const waits = session.db.selectFrom('waits').selectAll().where('tenant', '=', tenant);
  // Within a run the number of the opening event says the same as its time, and the run's few rows are found by their key.
  const asked = run === undefined ? waits.orderBy('opened_at', 'desc') : waits.where('run', '=', run);
  const inState = state === undefined ? asked : asked.where('state', '=', state === 'OPEN' ? sql.lit(state) : state);
  const rows = await inState.orderBy('seq', 'desc').orderBy('id', 'desc').limit(limit).execute();
  return rows.map(toWaitRow);
};

/** By opening, then by what tells apart those that one event opened, which no page may skip or repeat. */
const pageWaits = async (session: Session, tenant: TenantId, filter: WaitFilter): ReturnType<WaitStore['page']> => {
  const { run, state, kind, limit, cursor } = filter;
  if (state !== 'CONSUMED' && state !== 'VOID') await expire(session, tenant).execute();
  let query = session.db.selectFrom('waits').selectAll().where('tenant', '=', tenant);
  if (run !== undefined) query = query.where('run', '=', run);
  if (kind !== undefined) query = query.where('kind', '=', kind);
  if (state !== undefined) query = query.where('state', '=', state === 'OPEN' ? sql.lit(state) : state);
  if (cursor !== undefined) {
    const { openedAt, seq, id } = decodeCursor(cursor);
    query = query.where(
      sql<boolean>`(opened_at, seq, id) > (to_timestamp(${openedAt}::numeric / 1000), ${seq}::integer, ${id})`,
    );
  }
  const found = await query
    .orderBy('opened_at')
    .orderBy('seq')
    .orderBy('id')
    .limit(limit + 1)
    .execute();
  const rows = found.slice(0, limit).map(toWaitRow);
  const last = rows.at(-1);
  return { rows, ...(found.length > rows.length && last ? { cursor: encodeCursor(last) } : {}) };
};

type Place = Pick<WaitRow, 'openedAt' | 'seq'> & { readonly id: string };

const encodeCursor = ({ openedAt, seq, id }: Place): string =>
  Buffer.from(`${String(openedAt)} ${String(seq)} ${id}`).toString('base64url');

const CURSOR = /^(\d{1,15}) (\d{1,9}) (\S{1,100})$/;

const decodeCursor = (cursor: string): Place => {
  const [, openedAt, seq, id] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (openedAt === undefined || seq === undefined || id === undefined) throw new CursorInvalid(cursor);
  return { openedAt: Number(openedAt), seq: Number(seq), id };
};
