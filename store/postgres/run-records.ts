/**
 * Operations and facts of the runs that this process works on, so that a step reads only what is new, however long the run.
 *
 *   1. An operation that has its end and is named by a machine event never changes again, and brings no further fact. Only
 *      such rows are taken from memory; all others, and whatever belongs to the newest step or a later one, are read again
 *      with every call.
 *   2. Steps are made in order, but nothing rests on it: the statement counts the rows of the run, and where memory has not
 *      as many, everything is read again.
 *   3. A call is answered by a statement that was sent after it; those of one moment share one. Statements of one run follow
 *      one another, so that no older answer is put over a newer one.
 */
import { sql, type Selectable } from 'kysely';
import type { OperationId, WaitId } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';
import type { FactRow, OperationRow } from '../rows';
import { mapPresent, present } from './columns';
import type { Session } from './connect';
import { toOperationRow } from './operation-row';
import type { FactsTable, OperationsTable } from './schema';
import { isFinal } from './settlement';
import { decodeText } from './text';

export interface RecordedOperation {
  readonly row: OperationRow;
  readonly isNamed: boolean;
}

export interface RecordedFact extends Pick<Selectable<FactsTable>, 'source' | 'step' | 'ordinal' | 'index'> {
  readonly row: FactRow;
  readonly isCarried: boolean;
}

export interface Records {
  readonly operations: ReadonlyMap<OperationId, RecordedOperation>;
  readonly facts: ReadonlyMap<string, RecordedFact>;
}

export interface RunRecords {
  /** As they are now, for use at once: what is read later changes them. */
  readonly read: (ref: RunRef) => Promise<Records>;
}

/** Rows in memory, of all runs together; the run that was used last stays whatever it has. */
const MAX_ROWS = 50_000;

export const createRunRecords = (session: Session): RunRecords => {
  const runs = new Map<string, RecordsOfRun>();
  const shrink = (): void => {
    let rows = [...runs.values()].reduce((sum, { size }) => sum + size, 0);
    for (const [key, oldest] of runs) {
      if (rows <= MAX_ROWS || runs.size === 1) return;
      rows -= oldest.size;
      runs.delete(key);
    }
  };
  return {
    read: async (ref) => {
      const key = `${ref.tenant}/${ref.run}`;
      const records = runs.get(key) ?? new RecordsOfRun(session, ref);
      // What is used goes to the end; what is dropped comes from the start.
      runs.delete(key);
      runs.set(key, records);
      const read = await records.read();
      shrink();
      return read;
    },
  };
};

class RecordsOfRun implements Records {
  readonly operations = new Map<OperationId, RecordedOperation>();
  readonly facts = new Map<string, RecordedFact>();
  /** The newest step that there is an operation of. */
  private newestStep = 0;
  /** Of earlier steps: what may still change. */
  private changing: readonly OperationRow[] = [];
  private reading: Promise<unknown> = Promise.resolve();
  private next: Promise<Records> | undefined;

  constructor(
    private readonly session: Session,
    private readonly ref: RunRef,
  ) {}

  get size(): number {
    return this.operations.size + this.facts.size;
  }

  read(): Promise<Records> {
    this.next ??= this.reading.then(() => {
      this.next = undefined;
      const reading = this.refresh();
      this.reading = reading.catch(() => undefined);
      return reading;
    });
    return this.next;
  }

  private async refresh(): Promise<Records> {
    if (await this.readNew()) return this;
    this.operations.clear();
    this.facts.clear();
    this.note();
    if (await this.readNew()) return this;
    throw new Error(`${this.ref.run}: one statement counted other rows than it returned`);
  }

  /** False where memory has other rows than there are. */
  private async readNew(): Promise<boolean> {
    const { newestStep, changing } = this;
    const rows = await selectNew(this.session, this.ref, { newestStep, changing });
    for (const row of rows) {
      if (isOperation(row)) this.operations.set(row.id, { row: toOperationRow(row), isNamed: row.is_named });
      if (row.fact !== null) this.facts.set(`${row.fact.source} ${String(row.fact.index)}`, toFact(row.fact));
    }
    this.note();
    const [counted] = rows;
    return counted?.operations === this.operations.size && counted.facts === this.facts.size;
  }

  private note(): void {
    const all = [...this.operations.values()];
    this.newestStep = all.reduce((newest, { row }) => Math.max(newest, row.step), 0);
    this.changing = all
      .filter(({ row, isNamed }) => row.step < this.newestStep && !(isNamed && isFinal(row.state)))
      .map(({ row }) => row);
  }
}

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
  'is_carried',
] as const satisfies readonly (keyof FactsTable)[];

type StoredFact = Pick<Selectable<FactsTable>, (typeof FACT_COLUMNS)[number]>;

/** An operation with one of its facts; one of the two alone; or neither. Of the run as a whole how many there are. */
type FoundRow = (Selectable<OperationsTable> | Record<keyof OperationsTable, null>) & {
  readonly fact: StoredFact | null;
  readonly operations: number;
  readonly facts: number;
};

const isOperation = (row: FoundRow): row is FoundRow & Selectable<OperationsTable> => row.id !== null;

interface Known {
  readonly newestStep: number;
  readonly changing: readonly OperationRow[];
}

const FACT = sql.join(FACT_COLUMNS.map((column) => sql.ref(column)));

const selectNew = async (
  { db }: Session,
  { tenant, run }: RunRef,
  { newestStep, changing }: Known,
): Promise<readonly FoundRow[]> => {
  const { rows } = await sql<FoundRow>`
    with changed as (
      select * from operations
      where tenant = ${tenant} and run = ${run} and (step >= ${newestStep}::integer or (step, ordinal) in (
        select * from unnest(
          ${changing.map(({ step }) => step)}::integer[],
          ${changing.map(({ ordinal }) => ordinal)}::integer[]
        )
      ))
    ), confirmed as (
      select ${FACT} from facts
      where tenant = ${tenant} and run = ${run}
        and (step >= ${newestStep}::integer or source = any(${changing.map(({ id }) => id)}::text[]))
    )
    select changed.*, fact, counted.*
    from (
      select
        (select count(*) from operations where tenant = ${tenant} and run = ${run}) as operations,
        (select count(*) from facts where tenant = ${tenant} and run = ${run}) as facts
    ) as counted
    left join (
      changed full join (select source, row_to_json(confirmed) as fact from confirmed) as confirmed
        on confirmed.source = changed.id
    ) on true`.execute(db);
  return rows;
};

const toFact = (fact: StoredFact): RecordedFact => ({
  source: fact.source,
  step: fact.step,
  ordinal: fact.ordinal,
  index: fact.index,
  isCarried: fact.is_carried,
  row: {
    object: decodeText(fact.object),
    field: decodeText(fact.field),
    value: fact.value,
    evidence: fact.evidence,
    step: fact.step,
    ...present({
      version: mapPresent(fact.version, decodeText),
      operation: isOfOperation(fact.source) ? fact.source : null,
    }),
  },
});

export const isOfOperation = (source: OperationId | WaitId): source is OperationId => source.startsWith('op_');
