/**
 * What the parts of one activity read of the same run is read once. A judgement that goes on to reads and to the next
 * context asks for the run's row, and for operations that it has created itself, in each part; these answers are a few
 * milliseconds old at most, and no older than one part's own answer could be. Nothing is kept beyond the activity, and an
 * operation that the activity may have moved is read again.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { OperationRow, RunRow } from '../store/rows';
import type { Store } from '../store/store';

interface Read {
  readonly runs: Map<string, Promise<RunRow | undefined>>;
  /** As created or read back just now, until somebody takes it. */
  readonly created: Map<string, OperationRow>;
}

const reads = new AsyncLocalStorage<Read>();

/** Reads made in `work` are shared, where the store is one of `shareReads`. */
export const sharingReads = <Result>(work: () => Promise<Result>): Promise<Result> =>
  reads.run({ runs: new Map(), created: new Map() }, work);

export const shareReads = (store: Store): Store => ({
  ...store,
  runs: { ...store.runs, get: (ref) => shareRun(`${ref.tenant}/${ref.run}`, () => store.runs.get(ref)) },
  judgements: {
    record: async (ref, judgement) => {
      const rows = await store.judgements.record(ref, judgement);
      for (const row of rows) reads.getStore()?.created.set(keyOf(row.ref, row.id), row);
      return rows;
    },
  },
  operations: {
    ...store.operations,
    get: async (ref, id) => take(keyOf(ref, id)) ?? store.operations.get(ref, id),
    settle: (ref, id, settlement) => {
      take(keyOf(ref, id));
      return store.operations.settle(ref, id, settlement);
    },
  },
});

const shareRun = (key: string, read: () => Promise<RunRow | undefined>): Promise<RunRow | undefined> => {
  const shared = reads.getStore()?.runs;
  const known = shared?.get(key);
  if (known !== undefined) return known;
  const reading = read();
  shared?.set(key, reading);
  // A failure is not shared: whoever comes next asks again.
  reading.catch(() => shared?.delete(key));
  return reading;
};

const take = (key: string): OperationRow | undefined => {
  const created = reads.getStore()?.created;
  const row = created?.get(key);
  created?.delete(key);
  return row;
};

const keyOf = ({ tenant, run }: OperationRow['ref'], id: OperationRow['id']): string => `${tenant}/${run}/${id}`;
