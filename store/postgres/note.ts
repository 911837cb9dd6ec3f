/** Outside events in the journal: insert-once by their id, without a number of the machine's. */
import type { MachineEvent } from '../../workflows/contract/activities';
import type { JsonObject } from '../../workflows/contract/json';
import type { Session, Trx } from './connect';
import type { LockedRun } from './locked-run';
import { encodeKey } from './text';

export interface Note {
  readonly eventId: string;
  readonly body: JsonObject;
}

/** On the locked run row. An event that is there already stays as it is. */
export const noteEvents = async (
  { clock }: Pick<Session, 'clock'>,
  trx: Trx,
  { run, notes }: { readonly run: LockedRun; readonly notes: readonly Note[] },
): Promise<LockedRun> => {
  const { tenant, run: id } = run.ref;
  const eventIds = notes.map((note) => encodeKey('eventId', note.eventId));
  const rows = await trx
    .selectFrom('journal')
    .select('event_id')
    .where('tenant', '=', tenant)
    .where('run', '=', id)
    .where('event_id', 'in', eventIds)
    .execute();
  const stored = new Set(rows.map((row) => row.event_id));
  const fresh = notes.filter((_, index) => !stored.has(eventIds[index] ?? ''));
  if (fresh.length === 0) return run;
  const nextPosition = run.nextPosition + fresh.length;
  await trx
    .with('lines', (db) =>
      db.insertInto('journal').values(
        fresh.map((note, index) => ({
          tenant,
          run: id,
          position: run.nextPosition + index,
          kind: 'outside' as const,
          event_id: encodeKey('eventId', note.eventId),
          body: JSON.stringify(note.body),
          recorded_at: clock.now(),
        })),
      ),
    )
    .updateTable('runs')
    .set({ next_position: nextPosition })
    .where('tenant', '=', tenant)
    .where('run', '=', id)
    .execute();
  return { ...run, nextPosition };
};

/** What the workflow decided after its terminal had been committed. */
export const noteLate = async (
  session: Pick<Session, 'clock'>,
  trx: Trx,
  { run, events }: { readonly run: LockedRun; readonly events: readonly MachineEvent[] },
): Promise<LockedRun> => {
  const notes = events.map((event) => ({
    eventId: `late:${String(event.seq)}`,
    body: { kind: 'late', event: { ...event, cause: { ...event.cause } } },
  }));
  return noteEvents(session, trx, { run, notes });
};
