/** Runs as readers see them: the row, its account, the end of its journal and since when a person is waited for. */
import { sql, type SelectQueryBuilder } from 'kysely';
import type { RunId } from '../../../workflows/contract/ids';
import type { Database } from '../schema';
import type { ReaderStore, RunReading } from '../../reader';
import { present } from '../columns';
import type { Db } from '../connect';
import { pageOfRuns } from '../list-runs';
import { toRunRow } from '../run-row';
import { found, type RunSource } from './search';

export const createRunReader = (db: Db): Pick<ReaderStore, 'run' | 'runs' | 'rows' | 'moment'> => ({
  run: async ({ tenant, run }) => {
    const row = await selectReadings(db).where('tenant', '=', tenant).where('run', '=', run).executeTakeFirst();
    return row && toReading(row);
  },
  runs: async (tenant, filter) => {
    const asked = { tenant, ...filter };
    const { rows, cursor } = await found(db, asked, (runs) => pageOfRuns(selectReadings(runs), asked));
    return { readings: rows.map(toReading), ...present({ cursor }) };
  },
  rows: async (tenant, runs) => {
    if (runs.length === 0) return new Map();
    const rows = await db
      .selectFrom('runs')
      .selectAll()
      .where('tenant', '=', tenant)
      .where('run', 'in', runs)
      .execute();
    return new Map<RunId, ReturnType<typeof toRunRow>>(rows.map((row) => [row.run, toRunRow(row)]));
  },
  moment: async ({ tenant, run }) => {
    const row = await db
      .selectFrom('runs')
      .select(['state', 'terminal', 'reason', 'next_position'])
      .where('tenant', '=', tenant)
      .where('run', '=', run)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const { state, terminal, reason, next_position } = row;
    return { state, position: next_position - 1, ...present({ terminal, reason }) };
  },
});

const selectReadings = (db: RunSource) =>
  db
    .selectFrom('runs')
    .selectAll('runs')
    .select(
      sql<number | null>`case when runs.state = 'WAITING_USER' then (
        select min(waits.opened_at) from waits
        where waits.tenant = runs.tenant and waits.run = runs.run and waits.state = 'OPEN'
      ) end`.as('waitingSince'),
    );

type Selected = ReturnType<typeof selectReadings> extends SelectQueryBuilder<Database, 'runs', infer Row> ? Row : never;

const toReading = (row: Selected): RunReading => ({
  row: toRunRow(row),
  totals: {
    steps: row.steps,
    attempts: row.attempts,
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    cacheReadTokens: row.cache_read_tokens,
    cacheWriteTokens: row.cache_write_tokens,
    costMicros: row.cost_micros,
    toolCalls: row.tool_calls,
    estimatedTokens: row.estimated_tokens,
  },
  position: row.next_position - 1,
  ...present({ waitingSince: row.waitingSince }),
});
