/** The list of runs, newest first, by pages that neither skip nor repeat a run while others are started. */
import { sql, type Selectable, type SelectQueryBuilder } from 'kysely';
import type { TenantId } from '../../workflows/contract/ids';
import { isTerminal } from '../../workflows/machine/states';
import { CursorInvalid } from '../errors';
import type { RunRow } from '../rows';
import type { RunFilter, RunStore } from '../store';
import type { Db, Session } from './connect';
import { toRunRow } from './run-row';
import type { Database, RunsTable } from './schema';

export const listRuns = async (db: Db, tenant: TenantId, filter: RunFilter): ReturnType<RunStore['list']> => {
  const { rows, cursor } = await pageOfRuns(db.selectFrom('runs').selectAll().where('tenant', '=', tenant), filter);
  return { rows: rows.map(toRunRow), ...(cursor === undefined ? {} : { cursor }) };
};

type RunQuery<Row> = SelectQueryBuilder<Database, 'runs', Row>;

/** The asked page of a query for one tenant's runs, whatever it selects beside the row. */
export const pageOfRuns = async <Row extends Selectable<RunsTable>>(
  runs: RunQuery<Row>,
  { state, agent, search, cursor, limit }: RunFilter,
): Promise<{ readonly rows: readonly Row[]; readonly cursor?: string }> => {
  let query = runs;
  if (state !== undefined) {
    const isEnd = state !== 'STARTING' && isTerminal(state);
    query = isEnd
      ? query.where('terminal', '=', state)
      : query.where('state', '=', state).where('terminal', 'is', null);
  }
  if (agent !== undefined) query = query.where('agent', '=', agent);
  if (search !== undefined) {
    // As it stands in JSON: nothing is left in it that PostgreSQL could not take.
    const asJson = JSON.stringify(search).slice(1, -1);
    query = query.where(sql<boolean>`(starts_with(run, ${asJson}) or task::text ilike ${`%${escapeLike(asJson)}%`})`);
  }
  if (cursor !== undefined) {
    const { createdAt, run } = decodeCursor(cursor);
    query = query.where(sql<boolean>`(created_at, run) < (to_timestamp(${createdAt}::numeric / 1000), ${run})`);
  }
  const found = await query
    .orderBy('created_at', 'desc')
    .orderBy('run', 'desc')
    .limit(limit + 1)
    .execute();
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, ...(found.length > rows.length && last ? { cursor: encodeCursor(last) } : {}) };
};

/** What stands for itself in a pattern. */
const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** Of all tenants: started, and no workflow has taken them up for that long. */
export const listHangingStarts = async (
  { db, clock }: Session,
  { olderThanMs, limit }: Parameters<RunStore['listHangingStarts']>[0],
): Promise<readonly RunRow[]> => {
  const rows = await db
    .selectFrom('runs')
    .selectAll()
    .where('state', '=', 'STARTING')
    .where('opened_at', 'is', null)
    .where('terminal', 'is', null)
    .where('created_at', '<=', clock.inMs(-olderThanMs))
    .orderBy('created_at')
    .limit(limit)
    .execute();
  return rows.map(toRunRow);
};

interface Place {
  readonly createdAt: number;
  readonly run: string;
}

const encodeCursor = ({ created_at, run }: Pick<Selectable<RunsTable>, 'created_at' | 'run'>): string =>
  Buffer.from(`${String(created_at)} ${run}`).toString('base64url');

const CURSOR = /^(\d{1,15}) (\S{1,100})$/;

const decodeCursor = (cursor: string): Place => {
  const [, createdAt, run] = CURSOR.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (createdAt === undefined || run === undefined) throw new CursorInvalid(cursor);
  return { createdAt: Number(createdAt), run };
};
