/** Facts: what operations and responses have confirmed. They count once a machine event names what they come from. */
import { sql, type RawBuilder, type Selectable } from 'kysely';
import type { OperationId, WaitId } from '../../workflows/contract/ids';
import type { Fact, RunRef } from '../../workflows/contract/records';
import type { FactRow } from '../rows';
import type { FactStore } from '../store';
import { mapPresent, present } from './columns';
import type { Session } from './connect';
import type { FactsTable } from './schema';
import { decodeText, encodeText } from './text';

export const createFactStore = (session: Session): FactStore => ({
  list: (ref, upTo) => listFacts(session, ref, upTo),
});

interface Insertion {
  readonly ref: RunRef;
  readonly id: OperationId;
  readonly from: string;
  readonly facts: readonly Fact[];
}

/**
 * The part of a statement that stores the facts of the operation which the CTE `from` returns. Facts that it brought before
 * stay; these come after them.
 */
export const insertFactsOf = (
  { clock }: Pick<Session, 'clock'>,
  { ref, id, from, facts }: Insertion,
): RawBuilder<Record<string, never>> => sql`(
  insert into facts (tenant, run, source, index, step, ordinal, object, field, value, version, evidence, recorded_at)
  select ${ref.tenant}, ${ref.run}, ${id}, fact.index - 1 + (
      select count(*) from facts as before
      where before.tenant = ${ref.tenant} and before.run = ${ref.run} and before.source = ${id}
    ), source.step, source.ordinal, fact.object, fact.field, fact.value, fact.version, fact.evidence, ${clock.now()}
  from ${sql.table(from)} as source, unnest(
    ${facts.map((fact) => encodeText(fact.object))}::text[],
    ${facts.map((fact) => encodeText(fact.field))}::text[],
    ${facts.map((fact) => JSON.stringify(fact.value))}::json[],
    ${facts.map((fact) => mapPresent(fact.version, encodeText))}::text[],
    ${facts.map((fact) => fact.evidence)}::text[]
  ) with ordinality as fact (object, field, value, version, evidence, index))`;

/** The latest on each object and field, in order. The sources that count are found first: joins would multiply with them. */
const listFacts = async (
  { db }: Session,
  { tenant, run }: RunRef,
  { step, alsoOf }: Parameters<FactStore['list']>[1],
): Promise<readonly FactRow[]> => {
  const named = db
    .selectFrom('operations')
    .select('id')
    .where('tenant', '=', tenant)
    .where('run', '=', run)
    .where('is_named', '=', true);
  // Calls of one candidate go side by side: a read of the step may have been answered before the write took effect.
  const writes = db
    .selectFrom('operations')
    .select('id')
    .where('tenant', '=', tenant)
    .where('run', '=', run)
    .where('step', '<=', step)
    .where('effect', '=', 'write');
  const consumed = db
    .selectFrom('waits')
    .select('id')
    .where('tenant', '=', tenant)
    .where('run', '=', run)
    .where('state', '=', 'CONSUMED');
  const rows = await db
    .selectFrom('facts')
    .distinctOn(['object', 'field'])
    .select(FACT_COLUMNS)
    .where('tenant', '=', tenant)
    .where('run', '=', run)
    .where(
      sql<boolean>`(step <= ${step} and (is_carried or source in ${named} or source in ${consumed})
        or source = any(${[...alsoOf]}::text[]))`,
    )
    .orderBy('object')
    .orderBy('field')
    .orderBy('step', 'desc')
    .orderBy(sql`(source in ${writes})`, 'desc')
    .orderBy('ordinal', 'desc')
    .orderBy('index', 'desc')
    .execute();
  return rows.sort(byPlace).map(toFactRow);
};

/** A run has many: what nobody reads of them is not sent. */
const FACT_COLUMNS = [
  'source',
  'step',
  'ordinal',
  'index',
  'object',
  'field',
  'value',
  'version',
  'evidence',
] as const satisfies readonly (keyof FactsTable)[];

const toFactRow = (row: Pick<Selectable<FactsTable>, (typeof FACT_COLUMNS)[number]>): FactRow => ({
  object: decodeText(row.object),
  field: decodeText(row.field),
  value: row.value,
  evidence: row.evidence,
  step: row.step,
  ...present({
    version: mapPresent(row.version, decodeText),
    operation: isOperationId(row.source) ? row.source : null,
  }),
});

const isOperationId = (source: OperationId | WaitId): source is OperationId => source.startsWith('op_');

interface Place {
  readonly step: number;
  readonly ordinal: number;
  readonly index: number;
}

const byPlace = (one: Place, other: Place): number =>
  one.step - other.step || one.ordinal - other.ordinal || one.index - other.index;
