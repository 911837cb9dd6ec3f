/**
 * What the runs of a period add up to. A run belongs to the period in which it was created; its journal is read to its end.
 *
 * - Time: the last state that the journal tells lasts until the next line. WAITING_USER is user time, the rest is system
 *   time, from creation to end; only ended runs are counted.
 * - Cost: what a reopened run began with is the cost of the run before, and counted there alone.
 * - Premature: `finish(done)` that records did not bear out, when it was judged or when the end was checked.
 */
import { sql, type RawBuilder } from 'kysely';
import type { TenantId } from '../../../workflows/contract/ids';
import { TERMINALS, type Terminal } from '../../../workflows/machine/states';
import type { Period, ReaderStore, Summary } from '../../reader';
import type { Db } from '../connect';

const PREMATURE_CODES = ['finish.condition_unmet', 'finish.unconfirmed', 'finish.object_changed'];

export const createSummaryReader = (db: Db): Pick<ReaderStore, 'summary'> => ({
  summary: async (tenant, period) => {
    const [ends, journal] = await Promise.all([readEnds(db, tenant, period), readJournal(db, tenant, period)]);
    return { ...ends, ...journal, systemMs: Math.max(0, ends.lifeMs - journal.userMs) };
  },
});

const inPeriod = (tenant: TenantId, { from, to, agent }: Period): RawBuilder<boolean> => sql`
  runs.tenant = ${tenant}
  and runs.created_at >= to_timestamp(${from}::numeric / 1000) and runs.created_at < to_timestamp(${to}::numeric / 1000)
  ${agent === undefined ? sql`` : sql`and runs.agent = ${agent}`}`;

type Ends = Pick<Summary, 'started' | 'ended' | 'active' | 'costMicros'> & { readonly lifeMs: number };

const readEnds = async (db: Db, tenant: TenantId, period: Period): Promise<Ends> => {
  const { rows } = await sql<{
    readonly terminal: Terminal | null;
    readonly count: number;
    readonly costMicros: number;
    readonly lifeMs: number;
  }>`
    select terminal, count(*)::float8 as count,
      sum(runs.cost_micros - coalesce(carried.cost_micros, 0))::float8 as "costMicros",
      coalesce(sum(extract(epoch from ended_at - created_at) * 1000), 0)::float8 as "lifeMs"
    from runs
    left join ledger as carried on carried.tenant = runs.tenant and carried.run = runs.run
      and carried.reference = 'reopened:' || runs.reopens
    where ${inPeriod(tenant, period)} group by terminal`.execute(db);
  const ended = parseCounts(
    TERMINALS.map((terminal) => [terminal, rows.find((row) => row.terminal === terminal)?.count ?? 0]),
  );
  return {
    started: sumOf(rows.map(({ count }) => count)),
    ended,
    active: rows.find(({ terminal }) => terminal === null)?.count ?? 0,
    costMicros: sumOf(rows.map(({ costMicros }) => costMicros)),
    lifeMs: sumOf(rows.map(({ lifeMs }) => lifeMs)),
  };
};

const parseCounts = (entries: readonly (readonly [Terminal, number])[]): Record<Terminal, number> =>
  Object.fromEntries(entries) as Record<Terminal, number>;

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

type Told = Pick<Summary, 'finishes' | 'loops' | 'userMs'>;

const readJournal = async (db: Db, tenant: TenantId, period: Period): Promise<Told> => {
  const { rows } = await sql<{
    readonly finishing: number;
    readonly premature: number;
    readonly proposals: number;
    readonly stopped: number;
    readonly corrected: number;
    readonly userMs: number;
  }>`
    with lines as (
      select runs.run, runs.ended_at, line."to", line.rule,
        lead(line.at) over (partition by runs.run order by journal.seq) - line.at as ms,
        (line.event = 'candidateRejected' and line.code = any(${PREMATURE_CODES}::text[]))
          or (line.event = 'endChecked' and line.obstacle = 'conditionUnmet') as is_premature,
        line.event = 'finishAccepted' as is_accepted
      from runs
      join journal on journal.tenant = runs.tenant and journal.run = runs.run and journal.seq is not null
      cross join lateral (
        select journal.body ->> 'event' as event, journal.body ->> 'to' as "to", journal.body ->> 'rule' as rule,
          (journal.body ->> 'at')::float8 as at,
          journal.body #>> '{cause,code}' as code, journal.body #>> '{cause,obstacle}' as obstacle
      ) as line
      where ${inPeriod(tenant, period)}
    ), of_run as (
      select run,
        bool_or(is_premature) as is_premature,
        count(*) filter (where is_premature or is_accepted) as proposals,
        bool_or(rule in ('loop.failed', 'loop.handoff')) as is_stopped,
        bool_or(rule = 'loop.correction') as is_corrected,
        coalesce(sum(ms) filter (where "to" = 'WAITING_USER' and ended_at is not null), 0) as user_ms
      from lines group by run
    )
    select count(*) filter (where proposals > 0)::float8 as finishing,
      count(*) filter (where is_premature)::float8 as premature,
      coalesce(sum(proposals), 0)::float8 as proposals,
      count(*) filter (where is_stopped)::float8 as stopped,
      count(*) filter (where is_corrected)::float8 as corrected,
      coalesce(sum(user_ms), 0)::float8 as "userMs"
    from of_run`.execute(db);
  const [told] = rows;
  return {
    finishes: { runs: told?.finishing ?? 0, premature: told?.premature ?? 0, proposals: told?.proposals ?? 0 },
    loops: { stopped: told?.stopped ?? 0, corrected: told?.corrected ?? 0 },
    userMs: told?.userMs ?? 0,
  };
};
