import { describe, expect, test } from '@jest/globals';
import { withStoreGrace } from '../../../activities/with-store-grace';
import { StoreConflict, StoreUnavailable } from '../../../store/errors';

/** Fails so often, then answers. */
const store = (failures: number) => {
  const calls = { count: 0 };
  const ask = (): Promise<string> => {
    calls.count += 1;
    return calls.count <= failures ? Promise.reject(new StoreUnavailable('away')) : Promise.resolve('stored');
  };
  return { calls, ask };
};

describe('a store that is away', () => {
  test('is asked again until it answers', async () => {
    const { calls, ask } = store(3);
    const waits: number[] = [];

    const answer = await withStoreGrace({ graceMs: 60_000, onWait: (failures) => waits.push(failures) }, ask);

    expect(answer).toBe('stored');
    expect(calls.count).toBe(4);
    expect(waits).toEqual([1, 2, 3]);
  });

  test('is given up when the grace is over, counted from the first failure', async () => {
    const { calls, ask } = store(Infinity);
    const startedAt = performance.now();

    await expect(withStoreGrace({ graceMs: 120 }, ask)).rejects.toBeInstanceOf(StoreUnavailable);

    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(119);
    expect(calls.count).toBeGreaterThan(2);
  });

  test('is not waited for without grace', async () => {
    const { calls, ask } = store(1);

    await expect(withStoreGrace({ graceMs: 0 }, ask)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(calls.count).toBe(1);
  });

  test('is not waited for once the work is not wanted any more', async () => {
    const { ask } = store(Infinity);
    const abort = new AbortController();

    const asking = withStoreGrace({ graceMs: 60_000, signal: abort.signal, onWait: () => abort.abort() }, ask);

    await expect(asking).rejects.toBeInstanceOf(StoreUnavailable);
  });
});

test('what the store refuses is not asked again', async () => {
  const refusal = new StoreConflict('run_1/7', 'a', 'b');
  let count = 0;

  const asking = withStoreGrace({ graceMs: 60_000 }, () => {
    count += 1;
    return Promise.reject(refusal);
  });

  await expect(asking).rejects.toBe(refusal);
  expect(count).toBe(1);
});
