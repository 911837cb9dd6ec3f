/** Facts: what operations and responses have confirmed. They count once a machine event names what they come from. */
import { sql } from 'kysely';
import type { OperationId } from '../../workflows/contract/ids';
import type { Fact, RunRef } from '../../workflows/contract/records';
import type { FactRow, OperationRow } from '../rows';
import type { FactStore } from '../store';
import { mapPresent, present } from './columns';
import type { Session, Trx } from './connect';
import { decodeText, encodeText } from './text';

export const createFactStore = (session: Session): FactStore => ({
  list: (ref, upTo) => listFacts(session, ref, upTo),
});

/** In the transaction that settles the operation. Facts that it brought before stay; these come after them. */
export const insertFacts = async (
  { clock }: Session,
  trx: Trx,
  { row, facts }: { readonly row: OperationRow; readonly facts: readonly Fact[] },
): Promise<void> => {
  if (facts.length === 0) return;
  const { tenant, run } = row.ref;
  const { rows } = await sql<{ readonly count: number }>`
    select count(*) from facts where tenant = ${tenant} and run = ${run} and source = ${row.id}`.execute(trx);
  const before = rows[0]?.count ?? 0;
  await trx
    .insertInto('facts')
    .values(
      facts.map((fact, index) => ({
        tenant,
        run,
        source: row.id,
        index: before + index,
        step: row.step,
        ordinal: row.ordinal,
        object: encodeText(fact.object),
        field: encodeText(fact.field),
        value: JSON.stringify(fact.value),
        version: mapPresent(fact.version, encodeText),
        evidence: fact.evidence,
        recorded_at: clock.now(),
      })),
    )
    .execute();
};

/** The latest on each object and field, in order. */
const listFacts = async (
  { db }: Session,
  { tenant, run }: RunRef,
  { step, alsoOf }: Parameters<FactStore['list']>[1],
): Promise<readonly FactRow[]> => {
  const rows = await db
    .selectFrom('facts')
    .leftJoin('operations', (join) =>
      join
        .onRef('operations.tenant', '=', 'facts.tenant')
        .onRef('operations.run', '=', 'facts.run')
        .onRef('operations.id', '=', sql`facts.source`),
    )
    .leftJoin('waits', (join) =>
      join
        .onRef('waits.tenant', '=', 'facts.tenant')
        .onRef('waits.run', '=', 'facts.run')
        .onRef('waits.id', '=', sql`facts.source`),
    )
    .distinctOn(['facts.object', 'facts.field'])
    .select(['facts.step', 'facts.ordinal', 'facts.index', 'facts.object', 'facts.field', 'facts.value'])
    .select(['facts.version', 'facts.evidence', 'operations.id as operation'])
    .where('facts.tenant', '=', tenant)
    .where('facts.run', '=', run)
    .where((eb) =>
      eb.or([
        eb.and([eb('facts.step', '<=', step), eb('operations.is_named', '=', true)]),
        eb.and([eb('facts.step', '<=', step), eb('waits.state', '=', 'CONSUMED')]),
        eb('operations.id', '=', sql<OperationId>`any(${[...alsoOf]}::text[])`),
      ]),
    )
    .orderBy('facts.object')
    .orderBy('facts.field')
    .orderBy('facts.step', 'desc')
    .orderBy('facts.ordinal', 'desc')
    .orderBy('facts.index', 'desc')
    .execute();
  return rows.sort(byPlace).map((row) => ({
    object: decodeText(row.object),
    field: decodeText(row.field),
    value: row.value,
    evidence: row.evidence,
    step: row.step,
    ...present({
      version: mapPresent(row.version, decodeText),
      operation: row.operation,
    }),
  }));
};

interface Place {
  readonly step: number;
  readonly ordinal: number;
  readonly index: number;
}

const byPlace = (one: Place, other: Place): number =>
  one.step - other.step || one.ordinal - other.ordinal || one.index - other.index;
