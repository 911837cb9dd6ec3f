/**
 * Reports from outside. Receiving one locks the run and the operation, settling the operation alone, so that a report either
 * is seen by whoever brings the operation to its end, or sees that end itself:
 *
 *   1. an unread report owes its run a signal, until it is read;
 *   2. an operation that has its end owes none: what is unread then is late;
 *   3. the journal has a line for each that arrived, and one for each that says something else than what is held to be true.
 */
import { sql, type Selectable } from 'kysely';
import { coordinatesOf, type OperationId } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';
import type { InboxRow } from '../rows';
import type { InboxStore } from '../outside';
import { mapPresent, present } from './columns';
import type { Db, Session, Trx } from './connect';
import { lockRun, type LockedRun } from './locked-run';
import { noteEvents } from './note';
import { isOperation } from './operation-row';
import type { InboxTable } from './schema';
import { lockOperation } from './settle';
import { isFinal } from './settlement';
import { decodeText, encodeKey, encodeText } from './text';
import { insertWake } from './wakes';

type Received = Awaited<ReturnType<InboxStore['receive']>>;
type Report = Parameters<InboxStore['receive']>[1];
type Refusal = Parameters<InboxStore['refuse']>[1];
type Reading = Parameters<InboxStore['settled']>[2];

export const createInboxStore = (session: Session): InboxStore => ({
  runOf: (operation) => findRunOf(session.db, operation),
  receive: (ref, report) => receiveReport(session, ref, report),
  refuse: (ref, refusal) => refuseReport(session, ref, refusal),
  unsettled: async (ref, operation) => {
    const rows = await selectReports(session.db, ref)
      .where('operation', '=', operation)
      .where('settled_at', 'is', null)
      .limit(MAX_READ_AT_ONCE)
      .execute();
    return rows.map(toInboxRow);
  },
  settled: (ref, operation, reading) => markRead(session, ref, { operation, ...reading }),
  list: async (ref) => (await selectReports(session.db, ref).execute()).map(toInboxRow),
});

const MAX_READ_AT_ONCE = 100;
const MAX_REFUSALS = 20;

const selectReports = (db: Db, { tenant, run }: RunRef) =>
  db.selectFrom('inbox').selectAll().where('tenant', '=', tenant).where('run', '=', run).orderBy('position');

const toInboxRow = (row: Selectable<InboxTable>): InboxRow => ({
  operation: row.operation,
  eventId: decodeText(row.event_id),
  body: row.body,
  receivedAt: row.received_at,
  ...present({ effect: row.effect, job: mapPresent(row.job, decodeText) }),
});

const findRunOf = async (db: Db, operation: OperationId): Promise<RunRef | undefined> => {
  const { run } = coordinatesOf(operation);
  const rows = await db.selectFrom('runs').select('tenant').where('run', '=', run).limit(2).execute();
  const [row] = rows;
  return row === undefined || rows.length > 1 ? undefined : { tenant: row.tenant, run };
};

const receiveReport = (session: Session, ref: RunRef, report: Report): Promise<Received> =>
  session.transact(async (trx) => {
    const run = await lockRun(trx, ref);
    const state = await lockWrite(trx, ref, report.operation);
    if (state === undefined) return undefined;
    const isLate = isFinal(state);
    if (!(await insertReport(session, trx, { run, report, isLate }))) return { isNew: false };
    await noteEvents(session, trx, { run, notes: [noteOf(report, isLate)] });
    if (isLate) return { isNew: true };
    const wake = run.end === undefined ? 'toolEvent' : 'reconcile';
    await insertWake(session, trx, {
      ref,
      wake: { kind: wake, subject: report.operation, isDue: wake === 'reconcile' },
    });
    return { isNew: true, wake };
  });

const lockWrite = async (trx: Trx, ref: RunRef, id: OperationId) => {
  const row = await trx
    .selectFrom('operations')
    .select('state')
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where((eb) => isOperation(eb, id))
    .where('effect', '=', 'write')
    .forUpdate()
    .executeTakeFirst();
  return row?.state;
};

interface Insertion {
  readonly run: LockedRun;
  readonly report: Report;
  readonly isLate: boolean;
}

const insertReport = async (
  { clock }: Session,
  trx: Trx,
  { run: { ref, nextPosition }, report, isLate }: Insertion,
): Promise<boolean> => {
  const inserted = await trx
    .insertInto('inbox')
    .values({
      tenant: ref.tenant,
      run: ref.run,
      operation: report.operation,
      event_id: encodeKey('eventId', report.eventId),
      body: report.body,
      position: nextPosition,
      received_at: clock.now(),
      ...(isLate ? { settled_at: clock.now(), effect: 'late' as const } : {}),
    })
    .onConflict((conflict) => conflict.columns(['tenant', 'run', 'operation', 'event_id']).doNothing())
    .returning('event_id')
    .executeTakeFirst();
  return inserted !== undefined;
};

const noteOf = ({ operation, eventId, body }: Report, isLate: boolean) => ({
  eventId: `callback:${operation}:${eventId}`,
  body: { kind: 'callback', operation, event: eventId, artifact: body, ...(isLate ? { isLate } : {}) },
});

/** Whoever cannot sign must not be able to fill a journal. */
const refuseReport = (session: Session, ref: RunRef, { operation, eventId, reason }: Refusal): Promise<void> =>
  session.transact(async (trx) => {
    const run = await lockRun(trx, ref);
    if ((await lockWrite(trx, ref, operation)) === undefined) return;
    const prefix = `callback_refused:${operation}:`;
    const { rows } = await sql<{ readonly count: number }>`
      select count(*)::int as count from journal
      where tenant = ${ref.tenant} and run = ${ref.run} and starts_with(event_id, ${prefix})`.execute(trx);
    if ((rows[0]?.count ?? 0) >= MAX_REFUSALS) return;
    const body = { kind: 'callback refused', operation, event: eventId, reason };
    await noteEvents(session, trx, { run, notes: [{ eventId: `${prefix}${reason}:${eventId}`, body }] });
  });

const ODD: ReadonlySet<Reading['effect']> = new Set(['contradicts', 'other_job', 'other_operation']);

/** No longer than that of the report's own line: what fitted there fits here. */
const oddNote = ({ operation, eventId, effect, job }: Reading & { readonly operation: OperationId }) => ({
  eventId: `read:${operation}:${eventId}`,
  body: { kind: 'callback read', operation, event: eventId, effect, ...(job === undefined ? {} : { job }) },
});

/** On the locked operation, so that the signal of a report that comes at the same moment is not taken away with this one's. */
const markRead = (
  session: Session,
  ref: RunRef,
  reading: Reading & { readonly operation: OperationId },
): Promise<void> =>
  session.transact(async (trx) => {
    const { operation, eventId, effect, job } = reading;
    const run = ODD.has(effect) ? await lockRun(trx, ref) : undefined;
    await lockOperation(session, trx, { ref, id: operation });
    const read = await trx
      .updateTable('inbox')
      .set({ settled_at: session.clock.now(), effect, job: mapPresent(job, encodeText) })
      .where('tenant', '=', ref.tenant)
      .where('run', '=', ref.run)
      .where('operation', '=', operation)
      .where('event_id', '=', encodeKey('eventId', eventId))
      .where((eb) => eb.or([eb('effect', 'is', null), eb('effect', '=', 'late')]))
      .executeTakeFirst();
    if (run !== undefined && read.numUpdatedRows > 0n)
      await noteEvents(session, trx, { run, notes: [oddNote(reading)] });
    await trx
      .deleteFrom('wakes')
      .where('tenant', '=', ref.tenant)
      .where('run', '=', ref.run)
      .where('kind', '=', 'toolEvent')
      .where('subject', '=', operation)
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom('inbox')
              .select('event_id')
              .where('tenant', '=', ref.tenant)
              .where('run', '=', ref.run)
              .where('operation', '=', operation)
              .where('settled_at', 'is', null),
          ),
        ),
      )
      .execute();
  });
