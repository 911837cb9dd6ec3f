/** The journal's own face: bringing machine events without other work, noting outside ones, and reading both. */
import type { Selectable } from 'kysely';
import type { MachineEvent } from '../../workflows/contract/activities';
import type { RunRef } from '../../workflows/contract/records';
import type { JournalEntry } from '../rows';
import type { JournalStore } from '../store';
import { carryEvents } from './carry';
import { mapPresent, present } from './columns';
import type { Session } from './connect';
import { readTotals } from './ledger';
import { lockRun } from './locked-run';
import { noteEvents } from './note';
import type { JournalTable } from './schema';
import { decodeText } from './text';

export const createJournalStore = (session: Session): JournalStore => ({
  carry: async ({ ref, events }) => {
    if (events.length === 0) return readTotals(session.db, ref);
    return session.transact(async (trx) => {
      const run = await carryEvents(session, trx, { run: await lockRun(trx, ref), events });
      return run.totals;
    });
  },
  note: (ref, event) =>
    session.transact(async (trx) => {
      await noteEvents(session, trx, { run: await lockRun(trx, ref), notes: [event] });
    }),
  list: async (ref, page) => {
    const rows = await selectLines(session, ref)
      .where('position', '>', page.after)
      .orderBy('position')
      .limit(page.limit)
      .execute();
    return rows.map(toEntry);
  },
  machineEvents: async (ref) => {
    const rows = await selectLines(session, ref).where('seq', 'is not', null).orderBy('seq').execute();
    return rows.map((row) => parseMachineEvent(row.body));
  },
});

const selectLines = ({ db }: Session, { tenant, run }: RunRef) =>
  db.selectFrom('journal').selectAll().where('tenant', '=', tenant).where('run', '=', run);

const toEntry = (row: Selectable<JournalTable>): JournalEntry => ({
  position: row.position,
  kind: row.kind,
  body: row.body,
  recordedAt: row.recorded_at,
  ...present({ seq: row.seq, eventId: mapPresent(row.event_id, decodeText) }),
});

// Written by `carry` and `commit` alone, in this shape.
const parseMachineEvent = (body: unknown): MachineEvent => body as MachineEvent;
