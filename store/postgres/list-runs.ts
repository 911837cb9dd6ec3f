/** The list of runs, newest first, by pages that neither skip nor repeat a run while others are started. */
import { sql, type Selectable, type SelectQueryBuilder } from 'kysely';
import type { TenantId } from '../../workflows/contract/ids';
import { isTerminal } from '../../workflows/machine/states';
import { CursorInvalid } from '../errors';
import type { RunRow } from '../rows';
import type { RunFilter, RunStore } from '../store';
import type { Db, Session } from './connect';
import { found } from './reader/search';
import { toRunRow } from './run-row';
import type { Database, RunsTable } from './schema';

export const listRuns = async (db: Db, tenant: TenantId, filter: RunFilter): ReturnType<RunStore['list']> => {
  const asked = { tenant, ...filter };
  const { rows, cursor } = await found(db, asked, (runs) => pageOfRuns(runs.selectFrom('runs').selectAll(), asked));
  return { rows: rows.map(toRunRow), ...(cursor === undefined ? {} : { cursor }) };
};

type RunQuery<Row> = SelectQueryBuilder<Database, 'runs', Row>;

/** The asked page of a query for those that are found, whatever it selects beside the row. */
export const pageOfRuns = async <Row extends Selectable<RunsTable>>(
  runs: RunQuery<Row>,
  { tenant, state, agent, cursor, limit }: RunFilter & { readonly tenant: TenantId },
): Promise<{ readonly rows: readonly Row[]; readonly cursor?: string }> => {
  let query = runs.where('tenant', '=', tenant);
  if (state !== undefined) {
    const isEnd = state !== 'STARTING' && isTerminal(state);
    query = isEnd
      ? query.where('terminal', '=', state)
      : query.where('state', '=', state).where('terminal', 'is', null);
  }
  if (agent !== undefined) query = query.where('agent', '=', agent);
  if (cursor !== undefined) {
    const { createdAt, run } = decodeCursor(cursor);
    query = query.where(sql<boolean>`(created_at, run) < (to_timestamp(${createdAt}::numeric / 1000), ${run})`);
  }
  const read = await query
    .orderBy('created_at', 'desc')
    .orderBy('run', 'desc')
    .limit(limit + 1)
    .execute();
  const rows = read.slice(0, limit);
  const last = rows.at(-1);
  return { rows, ...(read.length > rows.length && last ? { cursor: encodeCursor(last) } : {}) };
};

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
