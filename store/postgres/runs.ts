/**
 * Runs from their start to the request that ends them. What changes a plan is in `plan.ts`, what ends one in `commit.ts`,
 * what is found out later in `resolutions.ts`.
 */
import { sql } from 'kysely';
import type { ArtifactHash } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';
import { RowMissing } from '../errors';
import type { NewRun, RunRow } from '../rows';
import type { RunStore } from '../store';
import { commitRun, readResult } from './commit';
import type { Db, Session, Trx } from './connect';
import { listHangingStarts, listRuns } from './list-runs';
import { closeFromOutside, listUnended } from './close-from-outside';
import { carryOver } from './reopen';
import { changePlan, planSeen, readMessages, readPlan } from './plan';
import { resolveOperation } from './resolutions';
import { toRunRow } from './run-row';
import { stopOperations } from './stop';
import { insertWake } from './wakes';

export const createRunStore = (session: Session): RunStore => ({
  start: (run) => startRun(session, run),
  open: (ref, opening) => openRun(session, ref, opening),
  get: (ref) => getRun(session.db, ref),
  listHangingStarts: (page) => listHangingStarts(session, page),
  list: (tenant, filter) => listRuns(session.db, tenant, filter),
  requestCancel: (ref) => requestCancel(session, ref),
  changePlan: (ref, message) => changePlan(session, ref, message),
  readPlan: (ref, since) => readPlan(session.db, ref, since),
  planSeen: (ref, planVersion) => planSeen(session.db, ref, planVersion),
  messages: (ref, range) => readMessages(session.db, ref, range),
  stopOperations: (carried, isCancel) => stopOperations(session, carried, isCancel),
  commit: (carried, end) => commitRun(session, carried, end),
  result: (ref, version) => readResult(session.db, ref, version),
  resolve: (ref, resolving) => resolveOperation(session, ref, resolving),
  closeFromOutside: (ref, closing) => closeFromOutside(session, ref, closing),
  listUnended: (runs) => listUnended(session.db, runs),
});

const startRun = (session: Session, run: NewRun): ReturnType<RunStore['start']> =>
  run.reopens === undefined
    ? insertRun(session, session.db, run)
    : session.transact(async (trx) => {
        const started = await insertRun(session, trx, run);
        if (!started.isNew) return started;
        await carryOver(session, trx, run);
        return { ...started, row: await requireRun(trx, run.ref) };
      });

const insertRun = async ({ clock }: Session, db: Db | Trx, run: NewRun): ReturnType<RunStore['start']> => {
  const inserted = await db
    .insertInto('runs')
    .values({
      tenant: run.ref.tenant,
      run: run.ref.run,
      agent: run.agent,
      principal: JSON.stringify(run.principal),
      task: JSON.stringify(run.task),
      body_hash: run.bodyHash,
      limits: run.limits === undefined ? null : JSON.stringify(run.limits),
      extension: run.extension === undefined ? null : JSON.stringify(run.extension),
      reopens: run.reopens ?? null,
      follows: run.follows ?? null,
      state: 'STARTING',
      created_at: clock.now(),
    })
    .onConflict((conflict) => conflict.columns(['tenant', 'run']).doNothing())
    .returningAll()
    .executeTakeFirst();
  if (inserted !== undefined) return { row: toRunRow(inserted), isNew: true };
  return { row: await requireRun(db, run.ref), isNew: false };
};

const openRun = async (
  { db, clock }: Session,
  ref: RunRef,
  opening: { readonly definition: ArtifactHash; readonly deadlineMs: number },
): Promise<RunRow> => {
  const opened = await db
    .updateTable('runs')
    .set({
      state: sql<'READY'>`case state when 'STARTING' then 'READY' else state end`,
      definition: opening.definition,
      opened_at: clock.now(),
      deadline_at: clock.inMs(opening.deadlineMs),
    })
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('opened_at', 'is', null)
    .where('terminal', 'is', null)
    .returningAll()
    .executeTakeFirst();
  return opened === undefined ? await requireRun(db, ref) : toRunRow(opened);
};

/** With the signal that is owed for it, until the run has stopped its operations. */
const requestCancel = (session: Session, ref: RunRef): Promise<boolean> =>
  session.transact(async (trx) => {
    const asked = await trx
      .updateTable('runs')
      .set({ cancel_requested_at: sql`coalesce(cancel_requested_at, ${session.clock.now()})` })
      .where('tenant', '=', ref.tenant)
      .where('run', '=', ref.run)
      .where('terminal', 'is', null)
      .returning('stopped_at')
      .executeTakeFirst();
    if (asked === undefined) {
      await requireRun(trx, ref);
      return false;
    }
    if (asked.stopped_at === null) await insertWake(session, trx, { ref, wake: { kind: 'cancel', subject: '' } });
    return true;
  });

const getRun = async (db: Db | Trx, ref: RunRef): Promise<RunRow | undefined> => {
  const row = await db
    .selectFrom('runs')
    .selectAll()
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .executeTakeFirst();
  return row && toRunRow(row);
};

const requireRun = async (db: Db | Trx, ref: RunRef): Promise<RunRow> => {
  const row = await getRun(db, ref);
  if (row === undefined) throw new RowMissing(ref.run);
  return row;
};
