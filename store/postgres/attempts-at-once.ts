/**
 * The usual course of an attempt, each half in one statement of its own instead of a transaction of five round trips. It
 * applies only where the run's row is exactly as the caller's events say, and otherwise changes nothing: then the
 * transaction in `attempts` decides, as if this had not been tried.
 *
 * The update of the run row comes first and locks it; everything else in the statement is fed by what that returns. Whatever
 * is there already, against expectation, is an error of the statement, which undoes all of it.
 */
import { sql, type RawBuilder } from 'kysely';
import { DatabaseError } from 'pg';
import type { MachineEvent } from '../../workflows/contract/activities';
import type { Totals } from '../../workflows/machine/ledger';
import type { RunRef } from '../../workflows/contract/records';
import { isTerminal } from '../../workflows/machine/states';
import type { AttemptRow, Usage } from '../rows';
import type { AttemptKey, AttemptStore } from '../store';
import { insertArtifactsOf } from './artifacts';
import { isIgnored, ledgerEntriesOf, stepOf } from './carry';
import type { Session } from './connect';
import { TOTALS_COLUMNS, usageTokens, wholeUsage } from './totals';

type Opening = Parameters<AttemptStore['open']>[1];
type End = Parameters<AttemptStore['end']>[1];

interface Moved {
  readonly row: AttemptRow;
  readonly totals: Totals;
}

export const referenceOf = ({ step, attempt }: Pick<AttemptKey, 'step' | 'attempt'>): string =>
  `attempt:${String(step)}.${String(attempt)}`;

/** Undefined where the transaction has to decide. */
export const openAtOnce = async (
  session: Session,
  { ref, events }: { readonly ref: RunRef; readonly events: readonly MachineEvent[] },
  attempt: Opening,
): Promise<Moved | undefined> => {
  const last = events.at(-1);
  if (last === undefined || !isChain(events)) return undefined;
  const usage = wholeUsage({ ...attempt.reservation, isEstimate: true });
  const row = await orUndone(() => open(session, { ref, events, last, attempt, usage }));
  return row && { row: openedRow(ref, attempt, { usage, openedAt: row.openedAt }), totals: totalsOf(row) };
};

/** New ones that follow one another; the terminal's event is never carried. */
const isChain = (events: readonly MachineEvent[]): boolean =>
  events.every(({ seq, to }, index) => !isTerminal(to) && seq === (events[0]?.seq ?? 0) + index);

interface OpeningAtOnce {
  readonly ref: RunRef;
  readonly events: readonly MachineEvent[];
  readonly last: MachineEvent;
  readonly attempt: Opening;
  readonly usage: Usage;
}

const open = async (
  { db, clock }: Session,
  { ref: { tenant, run }, events, last, attempt, usage }: OpeningAtOnce,
): Promise<(Totals & { readonly openedAt: number }) | undefined> => {
  const entries = events.flatMap((event) => ledgerEntriesOf(run, event));
  const count = (kind: string): number => entries.filter((entry) => entry.kind === kind).length;
  const judged = events.filter((event) => event.event === 'callsJudged' && !isIgnored(event)).map(stepOf);
  const tokens = usageTokens(usage);
  const { rows } = await sql<Totals & { openedAt: number }>`
    with account as (
      update runs set
        state = ${last.to},
        seq = ${last.seq},
        step = greatest(step, ${Math.max(0, ...events.map(stepOf))}::integer),
        next_position = next_position + ${events.length}::integer,
        steps = steps + ${count('step')}::integer,
        tool_calls = tool_calls + ${count('toolCall')}::integer,
        attempts = attempts + 1,
        input_tokens = input_tokens + ${usage.inputTokens}::bigint,
        output_tokens = output_tokens + ${usage.outputTokens}::bigint,
        cache_read_tokens = cache_read_tokens + ${usage.cacheReadTokens}::bigint,
        cache_write_tokens = cache_write_tokens + ${usage.cacheWriteTokens}::bigint,
        cost_micros = cost_micros + ${usage.costMicros}::bigint,
        estimated_tokens = estimated_tokens + ${tokens}::bigint
      where tenant = ${tenant} and run = ${run} and terminal is null and cancel_requested_at is null
        and seq = ${last.seq - events.length}::integer and input_tokens + output_tokens + cache_read_tokens + cache_write_tokens + ${tokens}::bigint
          <= ${attempt.limits.maxTokens}::float8
        and cost_micros + ${usage.costMicros}::bigint <= ${attempt.limits.maxCostMicros}::float8
      returning *
    ), lines as (
      insert into journal (tenant, run, position, kind, seq, body, recorded_at)
      select account.tenant, account.run, account.next_position - ${events.length}::integer + line.index - 1, 'machine',
        line.seq, line.body, ${clock.now()}
      from account, unnest(
        ${events.map(({ seq }) => seq)}::integer[],
        ${events.map((event) => JSON.stringify(event))}::json[]
      ) with ordinality as line (seq, body, index)
    ), entries as (
      insert into ledger (tenant, run, reference, kind, is_open, is_estimate,
        input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_micros)
      select account.tenant, account.run, entry.reference, entry.kind, false, false, 0, 0, 0, 0, 0
      from account, unnest(
        ${entries.map((entry) => entry.reference)}::text[],
        ${entries.map((entry) => entry.kind)}::text[]
      ) as entry (reference, kind)
      union all
      select account.tenant, account.run, ${referenceOf(attempt)}, 'attempt', true, true,
        ${usage.inputTokens}::bigint, ${usage.outputTokens}::bigint, ${usage.cacheReadTokens}::bigint,
        ${usage.cacheWriteTokens}::bigint, ${usage.costMicros}::bigint
      from account
    ), named as (
      update operations set is_named = true from account
      where operations.tenant = account.tenant and operations.run = account.run
        and operations.step = any(${judged}::integer[])
    ), opened as (
      insert into attempts (tenant, run, step, attempt, state, context, opened_at)
      select account.tenant, account.run, ${attempt.step}::integer, ${attempt.attempt}::integer, 'OPEN',
        ${attempt.context}, ${clock.now()}
      from account
      returning opened_at
    )
    select opened.opened_at as "openedAt", ${TOTALS} from account, opened`.execute(db);
  return rows[0];
};

const openedRow = (
  ref: RunRef,
  { step, attempt, context }: Opening,
  { usage, openedAt }: Pick<AttemptRow, 'usage' | 'openedAt'>,
): AttemptRow => ({ ref, step, attempt, state: 'OPEN', context, usage, openedAt });

/** `a as aB` → `account.a as "aB"`. */
const TOTALS: RawBuilder<unknown> = sql.raw(
  TOTALS_COLUMNS.map((column) => `account.${column.replace(/ as (\w+)$/, ' as "$1"')}`).join(', '),
);

const totalsOf = (row: Totals): Totals => ({
  steps: row.steps,
  attempts: row.attempts,
  inputTokens: row.inputTokens,
  outputTokens: row.outputTokens,
  cacheReadTokens: row.cacheReadTokens,
  cacheWriteTokens: row.cacheWriteTokens,
  costMicros: row.costMicros,
  toolCalls: row.toolCalls,
  estimatedTokens: row.estimatedTokens,
});

/** OPEN → its end. Undefined where the transaction has to decide: it is not OPEN any more. */
export const endAtOnce = async (session: Session, key: AttemptKey, end: End): Promise<Moved | undefined> => {
  const usage = wholeUsage(end.usage);
  const row = await orUndone(() => close(session, key, { end, usage }));
  if (row === undefined) return undefined;
  const { step, attempt } = key;
  const { state, outcome, candidate } = end;
  const { context, openedAt, endedAt } = row;
  return {
    row: {
      ref: key.ref,
      step,
      attempt,
      state,
      context,
      usage,
      openedAt,
      outcome,
      ...(candidate === undefined ? {} : { candidate }),
      endedAt,
    },
    totals: totalsOf(row),
  };
};

interface Ended extends Totals, Pick<AttemptRow, 'context' | 'openedAt'> {
  readonly endedAt: number;
}

/** While an attempt is OPEN its entry is its reservation, whatever else happens to the run. */
const close = async (
  { db, clock }: Session,
  key: AttemptKey,
  { end, usage }: { readonly end: End; readonly usage: Usage },
): Promise<Ended | undefined> => {
  const { tenant, run } = key.ref;
  const estimated = usage.isEstimate ? usageTokens(usage) : 0;
  const { rows } = await sql<Ended>`
    with stored as ${insertArtifactsOf({ clock }, tenant, end.artifacts ?? [])},
    reserved as (
      select input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_micros from ledger
      where tenant = ${tenant} and run = ${run} and reference = ${referenceOf(key)} and is_open and is_estimate
    ), account as (
      update runs set
        input_tokens = runs.input_tokens - reserved.input_tokens + ${usage.inputTokens}::bigint,
        output_tokens = runs.output_tokens - reserved.output_tokens + ${usage.outputTokens}::bigint,
        cache_read_tokens = runs.cache_read_tokens - reserved.cache_read_tokens + ${usage.cacheReadTokens}::bigint,
        cache_write_tokens = runs.cache_write_tokens - reserved.cache_write_tokens + ${usage.cacheWriteTokens}::bigint,
        cost_micros = runs.cost_micros - reserved.cost_micros + ${usage.costMicros}::bigint,
        estimated_tokens = runs.estimated_tokens + ${estimated}::bigint - reserved.input_tokens
          - reserved.output_tokens - reserved.cache_read_tokens - reserved.cache_write_tokens
      from reserved
      where runs.tenant = ${tenant} and runs.run = ${run}
      returning runs.*
    ), entry as (
      update ledger set is_open = false, is_estimate = ${usage.isEstimate}::boolean,
        input_tokens = ${usage.inputTokens}::bigint, output_tokens = ${usage.outputTokens}::bigint,
        cache_read_tokens = ${usage.cacheReadTokens}::bigint, cache_write_tokens = ${usage.cacheWriteTokens}::bigint,
        cost_micros = ${usage.costMicros}::bigint
      from account
      where ledger.tenant = account.tenant and ledger.run = account.run and ledger.reference = ${referenceOf(key)}
    ), ended as (
      update attempts set state = ${end.state}, outcome = ${JSON.stringify(end.outcome)}::json,
        candidate = ${end.candidate ?? null}::text, ended_at = ${clock.now()}
      from account
      where attempts.tenant = account.tenant and attempts.run = account.run
        and attempts.step = ${key.step}::integer and attempts.attempt = ${key.attempt}::integer
        and attempts.state = 'OPEN'
      returning attempts.context, attempts.opened_at, attempts.ended_at
    )
    -- Where somebody ended it between the snapshot and the lock, the proof is an error, which undoes the account.
    select ended.context, ended.opened_at as "openedAt", ended.ended_at as "endedAt", ${TOTALS},
      1 / (select count(*) from ended) as proof
    from account left join ended on true`.execute(db);
  return rows[0];
};

/** SQLSTATE of a key that is there already, of the proof that failed, and of what a transaction would be repeated for. */
const UNDONE: ReadonlySet<string | undefined> = new Set(['23505', '22012', '40001', '40P01']);

const orUndone = async <Row>(ask: () => Promise<Row | undefined>): Promise<Row | undefined> => {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof DatabaseError && UNDONE.has(error.code)) return undefined;
    throw error;
  }
};
