/** Runs from their start to the request that ends them. What changes a plan is in `plan.ts`, what ends one in `commit.ts`. */
import { sql } from 'kysely';
import type { ArtifactHash } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';
import { RowMissing } from '../errors';
import type { NewRun, RunRow } from '../rows';
import type { RunStore } from '../store';
import { commitRun, readResult } from './commit';
import type { Db, Session, Trx } from './connect';
import { listHangingStarts, listRuns } from './list-runs';
import { changePlan, readMessages, readPlan } from './plan';
import { toRunRow } from './run-row';
import { stopOperations } from './stop';

export const createRunStore = (session: Session): RunStore => ({
  start: (run) => startRun(session, run),
  open: (ref, opening) => openRun(session, ref, opening),
  get: (ref) => getRun(session.db, ref),
  listHangingStarts: (page) => listHangingStarts(session, page),
  list: (tenant, filter) => listRuns(session.db, tenant, filter),
  requestCancel: (ref) => requestCancel(session, ref),
  changePlan: (ref, message) => changePlan(session, ref, message),
  readPlan: (ref, since) => readPlan(session.db, ref, since),
  messages: (ref, range) => readMessages(session.db, ref, range),
  stopOperations: (carried, isCancel) => stopOperations(session, carried, isCancel),
  commit: (carried, end) => commitRun(session, carried, end),
  result: (ref) => readResult(session.db, ref),
});

const startRun = async ({ db, clock }: Session, run: NewRun): ReturnType<RunStore['start']> => {
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

const requestCancel = async ({ db, clock }: Session, ref: RunRef): Promise<boolean> => {
  const asked = await db
    .updateTable('runs')
    .set({ cancel_requested_at: sql`coalesce(cancel_requested_at, ${clock.now()})` })
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('terminal', 'is', null)
    .returning('run')
    .executeTakeFirst();
  if (asked !== undefined) return true;
  await requireRun(db, ref);
  return false;
};

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
