/** Settling locks the operation alone: what is found out needs neither the journal nor the ledger. */
import { sql, type UpdateObject } from 'kysely';
import type { OperationId } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';
import { RowMissing } from '../errors';
import type { OperationRow, Settlement } from '../rows';
import { mapPresent } from './columns';
import type { Session, Trx } from './connect';
import { insertFacts } from './facts';
import { toOperationRow } from './operation-row';
import type { Database } from './schema';
import { resolve, standingOf, type Resolution } from './settlement';
import { encodeText } from './text';

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
  session.transact(async (trx) => {
    const locked = await lockOperation(session, trx, settling);
    const resolution = resolve(standingOf(locked.row, locked.now), settling.settlement);
    const changes = changesOf(session, locked.row, { settling, resolution });
    if (Object.keys(changes).length === 0) return locked;
    const row = await updateOperation(trx, settling, changes);
    if (resolution.effect === 'settled')
      await insertFacts(session, trx, { row, facts: settling.settlement.facts ?? [] });
    return { row, now: locked.now };
  });

/** A read has no effect, so it needs no dispatch: its result is stored from wherever it stands, and the first one stays. */
export const recordRead = (session: Session, settling: Settling): Promise<OperationRow> =>
  session.transact(async (trx) => {
    const { row } = await lockOperation(session, trx, settling);
    if (row.state !== 'CREATED' && row.state !== 'DISPATCHED') return row;
    const { settlement } = settling;
    const recorded = await updateOperation(trx, settling, {
      ...resultColumns(session, settlement),
      state: settlement.state,
      generation: 1,
    });
    await insertFacts(session, trx, { row: recorded, facts: settlement.facts ?? [] });
    return recorded;
  });

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
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  if (found === undefined) throw new RowMissing(id);
  const { now, ...row } = found;
  return { row: toOperationRow(row), now };
};

type Changes = UpdateObject<Database, 'operations'>;

const updateOperation = async (trx: Trx, { ref, id }: Settling, changes: Changes): Promise<OperationRow> => {
  const row = await trx
    .updateTable('operations')
    .set(changes)
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return toOperationRow(row);
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

const OPEN: ReadonlySet<OperationRow['state']> = new Set([
  'DISPATCHED',
  'ACCEPTED',
  'RUNNING',
  'UNKNOWN',
  'UNRESOLVED',
]);

/** The receipt that comes after the first callback still names the job that polls ask for. */
const lateJob = (row: OperationRow, { job }: Settlement): Changes =>
  job === undefined || row.job !== undefined || !OPEN.has(row.state) ? {} : { job: encodeText(job) };
