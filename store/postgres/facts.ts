/** Facts: what operations and responses have confirmed. They count once a machine event names what they come from. */
import { sql, type RawBuilder } from 'kysely';
import type { OperationId } from '../../workflows/contract/ids';
import type { Fact, RunRef } from '../../workflows/contract/records';
import type { FactRow } from '../rows';
import type { FactStore } from '../store';
import { mapPresent } from './columns';
import type { Session } from './connect';
import { isOfOperation, type RecordedFact, type Records, type RunRecords } from './run-records';
import { encodeText } from './text';

export const createFactStore = (records: RunRecords): FactStore => ({
  list: async (ref, upTo) => listFacts(await records.read(ref), upTo),
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

type UpTo = Parameters<FactStore['list']>[1];

/** The latest on each object and field, in order. */
const listFacts = (records: Records, upTo: UpTo): readonly FactRow[] => {
  const latest = new Map<string, RecordedFact>();
  for (const fact of records.facts.values()) {
    if (!counts(records, upTo, fact)) continue;
    const { object, field } = fact.row;
    const key = `${String(object.length)} ${object} ${field}`;
    const other = latest.get(key);
    if (other === undefined || isLater(records, upTo, [fact, other])) latest.set(key, fact);
  }
  return [...latest.values()].sort(byPlace).map(({ row }) => toOwn(row));
};

/** What operations have confirmed counts once a machine event names them. A response leaves facts only where it counts. */
const counts = ({ operations }: Records, { step, alsoOf }: UpTo, fact: RecordedFact): boolean => {
  const { source } = fact;
  if (!isOfOperation(source)) return fact.step <= step;
  if (alsoOf.includes(source)) return true;
  return fact.step <= step && (fact.isCarried || operations.get(source)?.isNamed === true);
};

/** Calls of one candidate go side by side: a read of the step may have been answered before the write took effect. */
const isLater = (records: Records, upTo: UpTo, [one, other]: readonly [RecordedFact, RecordedFact]): boolean => {
  const byStep = one.step - other.step;
  const byEffect = Number(isOfWrite(records, upTo, one)) - Number(isOfWrite(records, upTo, other));
  return (byStep || byEffect || byPlace(one, other)) > 0;
};

const isOfWrite = ({ operations }: Records, { step }: UpTo, { source }: RecordedFact): boolean => {
  const row = isOfOperation(source) ? operations.get(source)?.row : undefined;
  return row?.effect === 'write' && row.step <= step;
};

/** What a condition does to a value stays in the condition: the records are everybody's. */
const toOwn = (row: FactRow): FactRow =>
  typeof row.value === 'object' && row.value !== null ? { ...row, value: structuredClone(row.value) } : row;

interface Place {
  readonly step: number;
  readonly ordinal: number;
  readonly index: number;
}

const byPlace = (one: Place, other: Place): number =>
  one.step - other.step || one.ordinal - other.ordinal || one.index - other.index;
