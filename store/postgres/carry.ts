/**
 * Machine events come to the journal here, and only here. On the locked run row:
 *
 *   1. an event whose number is stored already must be the same, else StoreConflict;
 *   2. new ones get the next positions, and the run row the state of the highest number, but never a terminal: that event is
 *      written by `commit` in the transaction that wins it;
 *   3. what the events say on their own follows in the same statement: steps and reads in the ledger, operations named.
 *
 * One statement after the lock, whatever the number of events, and none that looks at what the run did before.
 */
import { sql } from 'kysely';
import type { MachineEvent } from '../../workflows/contract/activities';
import { operationIdOf } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';
import type { Totals } from '../../workflows/machine/ledger';
import { isTerminal } from '../../workflows/machine/states';
import { StoreConflict } from '../errors';
import type { Session, Trx } from './connect';
import { isSameJson } from './json';
import type { LockedRun } from './locked-run';
import { noteLate } from './note';
import { TOTALS_COLUMNS } from './totals';

type Events = readonly MachineEvent[];

export const carryEvents = async (
  { clock }: Pick<Session, 'clock'>,
  trx: Trx,
  { run, events }: { readonly run: LockedRun; readonly events: Events },
): Promise<LockedRun> => {
  const { own, late } = splitLate(run, events);
  const fresh = await withoutStored(trx, run, own);
  const carried = fresh.length === 0 ? run : await insertEvents({ clock }, trx, { run, events: fresh });
  return late.length === 0 ? carried : noteLate({ clock }, trx, { run: carried, events: late });
};

/**
 * After the terminal, which has the run's last number, nothing is numbered any more: what the workflow took up meanwhile is
 * noted as late, and its own account of the terminal is the one that `commit` has written.
 */
const splitLate = (run: LockedRun, events: Events): { readonly own: Events; readonly late: Events } => {
  if (run.end === undefined) return { own: events, late: [] };
  return {
    own: events.filter((event) => event.seq < run.seq),
    late: events.filter((event) => event.seq >= run.seq && event.event !== 'committed'),
  };
};

const withoutStored = async (trx: Trx, run: LockedRun, events: Events): Promise<Events> => {
  const seqs = events.map((event) => event.seq).filter((seq) => seq <= run.seq);
  if (seqs.length === 0) return events;
  const rows = await trx
    .selectFrom('journal')
    .select(['seq', 'body'])
    .where('tenant', '=', run.ref.tenant)
    .where('run', '=', run.ref.run)
    .where('seq', 'in', seqs)
    .execute();
  const stored = new Map(rows.map(({ seq, body }) => [seq, body]));
  for (const event of events) {
    const body = stored.get(event.seq);
    if (body !== undefined && !isSameJson(body, event)) throw new StoreConflict(keyOf(run, event), body, event);
  }
  return events.filter((event) => !stored.has(event.seq));
};

const keyOf = (run: LockedRun, event: MachineEvent): string => `event ${String(event.seq)} of ${run.ref.run}`;

const insertEvents = async (
  { clock }: Pick<Session, 'clock'>,
  trx: Trx,
  { run, events }: { readonly run: LockedRun; readonly events: Events },
): Promise<LockedRun> => {
  const { tenant, run: id } = run.ref;
  const { state, seq } = lastOf(run, events);
  const nextPosition = run.nextPosition + events.length;
  const entries = events.flatMap((event) => ledgerEntriesOf(run.ref.run, event));
  const judged = events.filter((event) => event.event === 'callsJudged' && !isIgnored(event)).map(stepOf);
  const { rows } = await sql<Totals>`
    with lines as (
      insert into journal (tenant, run, position, kind, seq, body, recorded_at)
      select ${tenant}, ${id}, line.position, 'machine', line.seq, line.body, ${clock.now()}
      from unnest(
        ${events.map((_, index) => run.nextPosition + index)}::bigint[],
        ${events.map((event) => event.seq)}::integer[],
        ${events.map((event) => JSON.stringify(event))}::json[]
      ) as line (position, seq, body)
    ), entries as (
      insert into ledger (tenant, run, reference, kind, is_open, is_estimate,
        input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_micros)
      select ${tenant}, ${id}, entry.reference, entry.kind, false, false, 0, 0, 0, 0, 0
      from unnest(
        ${entries.map((entry) => entry.reference)}::text[],
        ${entries.map((entry) => entry.kind)}::text[]
      ) as entry (reference, kind)
      on conflict do nothing
      returning kind
    ), named as (
      update operations set is_named = true
      where tenant = ${tenant} and run = ${id} and step = any(${judged}::integer[])
    )
    update runs set
      state = ${state},
      seq = ${seq},
      step = greatest(step, ${Math.max(0, ...events.map(stepOf))}::integer),
      next_position = ${nextPosition},
      steps = steps + (select count(*) from entries where kind = 'step'),
      tool_calls = tool_calls + (select count(*) from entries where kind = 'toolCall')
    where tenant = ${tenant} and run = ${id}
    returning ${sql.join(TOTALS_COLUMNS.map((column) => sql.raw(quoteAlias(column))))}`.execute(trx);
  return { ...run, state, seq, nextPosition, totals: rows[0] ?? run.totals };
};

/** `a as aB` → `a as "aB"`. */
const quoteAlias = (column: string): string => column.replace(/ as (\w+)$/, ' as "$1"');

const lastOf = (run: LockedRun, events: Events): Pick<LockedRun, 'state' | 'seq'> => {
  const last = events.reduce<MachineEvent | undefined>(
    (newest, event) => (event.seq > (newest?.seq ?? run.seq) ? event : newest),
    undefined,
  );
  if (last === undefined) return run;
  if (isTerminal(last.to)) throw new StoreConflict(keyOf(run, last), `${run.state}, not committed`, last);
  return { state: last.to, seq: last.seq };
};

/** Late or stale: it answers a step that the run has left, and counts for nothing. A read that was late was made all the same. */
export const isIgnored = (event: MachineEvent): boolean => event.rule === 'ignored';

/** 0 where the event names none. */
export const stepOf = (event: MachineEvent): number => Number(event.cause['step'] ?? 0);

export const ledgerEntriesOf = (
  run: RunRef['run'],
  event: MachineEvent,
): readonly { readonly reference: string; readonly kind: string }[] => {
  if (event.event === 'contextFrozen' && event.to === 'MODEL_RUNNING' && !isIgnored(event)) {
    return [{ reference: `step:${String(stepOf(event))}`, kind: 'step' }];
  }
  if (event.event === 'readEnded') {
    const operation = operationIdOf(run, stepOf(event), Number(event.cause['ordinal'] ?? 0));
    return [{ reference: `operation:${operation}`, kind: 'toolCall' }];
  }
  return [];
};
