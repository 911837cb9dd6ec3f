/** Operations: created once, dispatched by one, settled by whoever finds out. */
import { sql, type Selectable } from 'kysely';
import type { OperationId } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';
import { RowMissing } from '../errors';
import type { NewOperation, OperationRow } from '../rows';
import type { OperationStore } from '../store';
import type { Db, Session, Trx } from './connect';
import { dispatchOperation } from './dispatch';
import { isOperation, newOperationColumns, toOperationRow } from './operation-row';
import type { RunRecords } from './run-records';
import type { OperationsTable } from './schema';
import { recordRead, settleOperation } from './settle';

export const createOperationStore = (session: Session, records: RunRecords): OperationStore => ({
  create: (operations) => createOperations(session, operations),
  get: (ref, id) => findOperation(session.db, ref, id),
  list: async (ref) => {
    const { operations } = await records.read(ref);
    return [...operations.values()].map(({ row }) => row).sort(byPlace);
  },
  listCarried: (ref) => listCarried(session.db, ref),
  findEquivalent: (ref, like) => findEquivalent(session.db, ref, like),
  dispatch: (ref, id, grant) => dispatchOperation(session, { ref, id, grant }),
  settle: (ref, id, settlement) => settleOperation(session, { ref, id, settlement }),
  recordRead: async (ref, id, { artifacts = [], ...settlement }) =>
    (await recordRead(session, { ref, id, settlement, artifacts })) ??
    (await findOperation(session.db, ref, id)) ??
    missing(id),
  countPursuit: (...pursuit) => countPursuit(session, pursuit),
});

const selectOperations = (db: Db | Trx, { tenant, run }: RunRef) =>
  db.selectFrom('operations').selectAll().where('tenant', '=', tenant).where('run', '=', run);

const byPlace = (one: OperationRow, other: OperationRow): number =>
  one.step - other.step || one.ordinal - other.ordinal;

const findOperation = async (db: Db, ref: RunRef, id: OperationId): Promise<OperationRow | undefined> => {
  const row = await selectOperations(db, ref)
    .where((eb) => isOperation(eb, id))
    .executeTakeFirst();
  return row && toOperationRow(row);
};

const createOperations = async (
  session: Session,
  operations: readonly NewOperation[],
): Promise<readonly OperationRow[]> => {
  const [first] = operations;
  if (first === undefined) return [];
  const created = await insertOperations(session, session.db, operations).execute();
  return readCreated(session, first.ref, { operations, created });
};

/** Insert-once by (run, step, ordinal); returns those that are new. */
export const insertOperations = (
  { clock }: Pick<Session, 'clock'>,
  db: Pick<Db, 'insertInto'>,
  operations: readonly NewOperation[],
) =>
  db
    .insertInto('operations')
    .values(operations.map((operation) => ({ ...newOperationColumns(operation), created_at: clock.now() })))
    .onConflict((conflict) => conflict.columns(['tenant', 'run', 'step', 'ordinal']).doNothing())
    .returningAll();

interface Creation {
  readonly operations: readonly NewOperation[];
  /** Those that were not there before. */
  readonly created: readonly Selectable<OperationsTable>[];
}

/** As they are stored, in the order asked for. */
export const readCreated = async (
  { db }: Pick<Session, 'db'>,
  ref: RunRef,
  { operations, created }: Creation,
): Promise<readonly OperationRow[]> => {
  const ids = operations.map((operation) => operation.id);
  const steps = operations.map((operation) => operation.step);
  const rows =
    created.length === operations.length
      ? created
      : await selectOperations(db, ref).where('step', 'in', steps).where('id', 'in', ids).execute();
  const stored = new Map(rows.map((row) => [row.id, toOperationRow(row)]));
  return ids.map((id) => stored.get(id) ?? missing(id));
};

/** An operation of another run in the same call: our own bug. */
const missing = (id: OperationId): never => {
  throw new RowMissing(id);
};

/** The chain of reopened runs is short; the limit only keeps a damaged one from being followed for ever. */
const MAX_REOPENED = 100;

const selectOfChain = (db: Db | Trx, { tenant, run }: RunRef) =>
  db
    .withRecursive('chain(run, depth)', (cte) =>
      cte.selectNoFrom([sql.val(run).as('run'), sql<number>`0`.as('depth')]).unionAll((union) =>
        union
          .selectFrom('chain')
          .innerJoin('runs', 'runs.run', 'chain.run')
          .select([sql<typeof run>`runs.reopens`.as('run'), sql<number>`chain.depth + 1`.as('depth')])
          .where('runs.tenant', '=', tenant)
          .where('runs.reopens', 'is not', null)
          .where('chain.depth', '<', MAX_REOPENED),
      ),
    )
    .selectFrom('operations')
    .innerJoin('chain', 'chain.run', 'operations.run')
    .selectAll('operations')
    .where('tenant', '=', tenant);

const listCarried = async (db: Db, ref: RunRef): Promise<readonly OperationRow[]> => {
  const rows = await selectOfChain(db, ref)
    .where('chain.depth', '>', 0)
    .where('is_named', '=', true)
    .orderBy('chain.depth', 'desc')
    .orderBy('step')
    .orderBy('ordinal')
    .execute();
  return rows.map(toOperationRow);
};

export const findEquivalent = async (
  db: Db | Trx,
  ref: RunRef,
  like: Parameters<OperationStore['findEquivalent']>[1],
): Promise<readonly OperationRow[]> => {
  const rows = await selectOfChain(db, ref)
    .where('tool', '=', like.tool)
    .where('argument_hash', '=', like.argumentHash)
    .where((eb) =>
      eb.or([
        eb.and([eb('chain.depth', '>', 0), eb('is_named', '=', true)]),
        eb.and([eb('chain.depth', '=', 0), eb('is_named', '=', true), eb('step', '<', like.step)]),
        eb.and([eb('chain.depth', '=', 0), eb('step', '=', like.step), eb('ordinal', '<', like.beforeOrdinal)]),
      ]),
    )
    .orderBy('chain.depth', 'desc')
    .orderBy('step')
    .orderBy('ordinal')
    .execute();
  return rows.map(toOperationRow);
};

/** What has its end meanwhile is counted no more: its row never changes again. */
const countPursuit = async (
  { db, clock }: Session,
  [ref, id, kind, notBeforeMs]: Parameters<OperationStore['countPursuit']>,
): ReturnType<OperationStore['countPursuit']> => {
  const found = await db
    .updateTable('operations')
    .set((eb) => ({
      ...(kind === 'lookUp' ? { look_ups: eb('look_ups', '+', 1) } : { polls: eb('polls', '+', 1) }),
      not_before_at: clock.inMs(notBeforeMs),
    }))
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where((eb) => isOperation(eb, id))
    .where(sql<boolean>`is_open`)
    .returningAll()
    .returning(clock.nowMs().as('now'))
    .executeTakeFirst();
  const { now, ...row } = found ?? (await readNow({ db, clock }, ref, id));
  return { row: toOperationRow(row), now };
};

const readNow = async ({ db, clock }: Pick<Session, 'db' | 'clock'>, ref: RunRef, id: OperationId) => {
  const found = await selectOperations(db, ref)
    .select(clock.nowMs().as('now'))
    .where((eb) => isOperation(eb, id))
    .executeTakeFirst();
  if (found === undefined) throw new RowMissing(id);
  return found;
};
