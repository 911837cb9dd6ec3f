/** Settling locks the operation alone: what is found out needs neither the journal nor the ledger. */
import { sql, type UpdateObject } from 'kysely';
import type { OperationId } from '../../workflows/contract/ids';
import type { Fact, RunRef } from '../../workflows/contract/records';
import type { OperationState } from '../../workflows/machine/operation-transitions';
import { RowMissing } from '../errors';
import type { OperationRow, Settlement } from '../rows';
import type { Artifact } from '../artifact';
import { insertArtifactsOf } from './artifacts';
import { mapPresent } from './columns';
import type { Db, Session, Trx } from './connect';
import { insertFactsOf } from './facts';
import { isOperation, toOperationRow } from './operation-row';
import type { Database } from './schema';
import { isFinal, resolve, standingOf, type Resolution } from './settlement';
import { encodeText } from './text';
import { insertWake } from './wakes';

interface Settling {
  readonly ref: RunRef;
  readonly id: OperationId;
  readonly settlement: Settlement & { readonly generation?: number };
}

interface Settled {
  readonly row: OperationRow;
  readonly now: number;
}

export const settleOperation = (session: Session, settling: Settling): Promise<Settled> =>
  session.transact(async (trx) =>
    settleLocked(session, trx, { locked: await lockOperation(session, trx, settling), settling }),
  );

export const settleLocked = async (
  session: Session,
  trx: Trx,
  { locked, settling }: { readonly locked: Settled; readonly settling: Settling },
): Promise<Settled> => {
  const resolution = resolve(standingOf(locked.row, locked.now), settling.settlement);
  const changes = changesOf(session, locked.row, { settling, resolution });
  if (Object.keys(changes).length === 0) return locked;
  const facts = resolution.effect === 'settled' ? (settling.settlement.facts ?? []) : [];
  if (isFinal(resolution.state)) {
    await closeInbox(session, trx, settling);
    if (locked.row.state === 'UNRESOLVED') await closeReconciliation(session, trx, settling);
  }
  const row = await updateOperation(session, trx, { settling, changes, facts });
  return { row: row ?? locked.row, now: locked.now };
};

/** What is found out needs no person any more; the run that waits for one is told. */
const closeReconciliation = async (
  session: Session,
  trx: Trx,
  { ref, id }: Pick<Settling, 'ref' | 'id'>,
): Promise<void> => {
  const closed = await trx
    .updateTable('waits')
    .set({ state: 'VOID' })
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('operation', '=', id)
    .where('kind', '=', 'reconciliation')
    .where('state', '=', 'OPEN')
    .executeTakeFirst();
  if (closed.numUpdatedRows === 0n) return;
  await insertWake(session, trx, { ref, wake: { kind: 'toolEvent', subject: id, isDue: true } });
};

/** A read has no effect, so it needs no dispatch: its result is stored from wherever it stands, and the first one stays. */
export const recordRead = async (
  session: Session,
  settling: Settling & { readonly artifacts: readonly Artifact[] },
): Promise<OperationRow | undefined> => {
  const { settlement } = settling;
  return updateOperation(session, session.db, {
    settling,
    changes: { ...resultColumns(session, settlement), state: settlement.state, generation: 1 },
    facts: settlement.facts ?? [],
    artifacts: settling.artifacts,
    from: ['CREATED', 'DISPATCHED'],
  });
};

export const lockOperation = async (
  { clock }: Session,
  trx: Trx,
  { ref, id }: Pick<Settling, 'ref' | 'id'>,
): Promise<Settled> => {
  const found = await trx
    .selectFrom('operations')
    .selectAll()
    .select(clock.nowMs().as('now'))
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where((eb) => isOperation(eb, id))
    .forUpdate()
    .executeTakeFirst();
  if (found === undefined) throw new RowMissing(id);
  const { now, ...row } = found;
  return { row: toOperationRow(row), now };
};

/** Reports that nobody has read are late from now on, and owe no signal. One statement: most operations have none. */
const closeInbox = async ({ clock }: Session, trx: Trx, { ref, id }: Pick<Settling, 'ref' | 'id'>): Promise<void> => {
  await trx
    .with('late', (cte) =>
      cte
        .updateTable('inbox')
        .set({ settled_at: clock.now(), effect: 'late' })
        .where('tenant', '=', ref.tenant)
        .where('run', '=', ref.run)
        .where('operation', '=', id)
        .where('settled_at', 'is', null),
    )
    .deleteFrom('wakes')
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('kind', '=', 'toolEvent')
    .where('subject', '=', id)
    .execute();
};

type Changes = UpdateObject<Database, 'operations'>;

interface Update {
  readonly settling: Settling;
  readonly changes: Changes;
  readonly facts: readonly Fact[];
  /** Only from these states; undefined is returned where the row is in another. */
  readonly from?: readonly OperationState[];
  /** What the row names, where it is not stored yet. */
  readonly artifacts?: readonly Artifact[];
}

/** The row with its facts and artifacts, in one statement. */
const updateOperation = async (
  session: Session,
  db: Db | Trx,
  { settling: { ref, id }, changes, facts, from, artifacts = [] }: Update,
): Promise<OperationRow | undefined> => {
  const updated = db.with('updated', (cte) =>
    cte
      .updateTable('operations')
      .set(changes)
      .where('tenant', '=', ref.tenant)
      .where('run', '=', ref.run)
      .where((eb) => isOperation(eb, id))
      .$if(from !== undefined, (update) => update.where('state', 'in', from ?? []))
      .returningAll(),
  );
  const stored =
    artifacts.length === 0 ? updated : updated.with('stored', () => insertArtifactsOf(session, ref.tenant, artifacts));
  const row =
    facts.length === 0
      ? await stored.selectFrom('updated').selectAll().executeTakeFirst()
      : await stored
          .with('inserted', () => insertFactsOf(session, { ref, id, from: 'updated', facts }))
          .selectFrom('updated')
          .selectAll()
          .executeTakeFirst();
  return row && toOperationRow(row);
};

const changesOf = (
  session: Session,
  row: OperationRow,
  { settling, resolution }: { readonly settling: Settling; readonly resolution: Resolution },
): Changes => {
  const { settlement } = settling;
  const open = resolution.openGenerations;
  const opened = open.length === row.openGenerations.length ? {} : { open_generations: open };
  switch (resolution.effect) {
    case 'settled':
      return {
        ...resultColumns(session, settlement),
        state: resolution.state,
        open_generations: open,
        ...(settlement.job === undefined ? {} : { job: encodeText(settlement.job) }),
        ...(settlement.raw === undefined && row.raw !== undefined ? { raw: row.raw } : {}),
      };
    case 'doubted':
      return { state: resolution.state, open_generations: open, not_before_at: notBefore(session, settlement) };
    case 'none':
      return { ...opened, ...latePursuit(session, row, settlement), ...lateJob(row, settlement) };
  }
};

const resultColumns = (session: Session, settlement: Settlement) => ({
  code: settlement.code ?? null,
  raw: settlement.raw ?? null,
  output: settlement.output ?? null,
  failure: settlement.failure ?? null,
  result_hash: settlement.resultHash ?? null,
  evidence: settlement.evidence ?? null,
  not_before_at: notBefore(session, settlement),
});

const notBefore = ({ clock }: Session, settlement: Settlement) => mapPresent(settlement.notBeforeMs, clock.inMs);

/** The same again, for instance a look-up that still cannot tell: it only puts off what comes next. */
const latePursuit = (session: Session, row: OperationRow, settlement: Settlement): Changes => {
  if (settlement.state !== row.state || settlement.notBeforeMs === undefined) return {};
  return { not_before_at: sql`greatest(not_before_at, ${session.clock.inMs(settlement.notBeforeMs)})` };
};

const OPEN: ReadonlySet<OperationState> = new Set(['DISPATCHED', 'ACCEPTED', 'RUNNING', 'UNKNOWN', 'UNRESOLVED']);

/** The receipt that comes after the first callback still names the job that polls ask for. */
const lateJob = (row: OperationRow, { job }: Settlement): Changes =>
  job === undefined || row.job !== undefined || !OPEN.has(row.state) ? {} : { job: encodeText(job) };
