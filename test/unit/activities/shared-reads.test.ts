import { beforeEach, expect, jest, test } from '@jest/globals';
import { shareReads, sharingReads } from '../../../activities/shared-reads';
import type { JudgementStore } from '../../../store/judgements';
import type { OperationRow, RunRow } from '../../../store/rows';
import type { OperationStore, RunStore, Store } from '../../../store/store';
import { operationIdOf, parseRunId, parseTenantId } from '../../../workflows/contract/ids';

const REF = { tenant: parseTenantId('acme'), run: parseRunId('run_4f3c2a') };
const ID = operationIdOf(REF.run, 2, 1);

// Only what the shared reads look at.
const parseRow = (row: object): OperationRow => row as OperationRow;
const parseRun = (row: object): RunRow => row as RunRow;
const parseStore = (store: object): Store => store as Store;

const CREATED = parseRow({ id: ID, ref: REF, state: 'CREATED' });
const MOVED = parseRow({ id: ID, ref: REF, state: 'REFUSED' });

const JUDGEMENT = { decisions: [], operations: [], artifacts: [] };

const run = jest.fn<RunStore['get']>();
const get = jest.fn<OperationStore['get']>();
const record = jest.fn<JudgementStore['record']>();
const settle = jest.fn<OperationStore['settle']>();
const store = shareReads(parseStore({ runs: { get: run }, operations: { get, settle }, judgements: { record } }));

beforeEach(() => {
  jest.resetAllMocks();
  run.mockImplementation(() => Promise.resolve(parseRun({ ref: REF })));
  get.mockResolvedValue(MOVED);
  record.mockResolvedValue([CREATED]);
  settle.mockResolvedValue({ row: MOVED, now: 0 });
});

test('the row of a run is read once in an activity, and anew in the next one', async () => {
  await sharingReads(() => Promise.all([store.runs.get(REF), store.runs.get(REF)]));
  expect(run).toHaveBeenCalledTimes(1);
  await sharingReads(() => store.runs.get(REF));
  await store.runs.get(REF);
  await store.runs.get(REF);
  expect(run).toHaveBeenCalledTimes(4);
});

test('another run is another row, and so is another tenant', async () => {
  await sharingReads(async () => {
    await store.runs.get(REF);
    await store.runs.get({ ...REF, run: parseRunId('run_aaaaaa') });
    await store.runs.get({ ...REF, tenant: parseTenantId('other') });
  });
  expect(run).toHaveBeenCalledTimes(3);
});

test('a read that failed is made again', async () => {
  run.mockRejectedValueOnce(new Error('away'));
  await sharingReads(async () => {
    await expect(store.runs.get(REF)).rejects.toThrow('away');
    expect(await store.runs.get(REF)).toEqual({ ref: REF });
  });
});

test('an operation just created need not be read, once', async () => {
  await sharingReads(async () => {
    await store.judgements.record(REF, JUDGEMENT);
    expect(await store.operations.get(REF, ID)).toBe(CREATED);
    expect(await store.operations.get(REF, ID)).toBe(MOVED);
  });
  expect(get).toHaveBeenCalledTimes(1);
});

test('an operation that was moved meanwhile is read', async () => {
  await sharingReads(async () => {
    await store.judgements.record(REF, JUDGEMENT);
    await store.operations.settle(REF, ID, { state: 'REFUSED' });
    expect(await store.operations.get(REF, ID)).toBe(MOVED);
  });
});

test('nothing created in one activity is taken for current in another', async () => {
  await sharingReads(() => store.judgements.record(REF, JUDGEMENT));
  expect(await sharingReads(() => store.operations.get(REF, ID))).toBe(MOVED);
});
