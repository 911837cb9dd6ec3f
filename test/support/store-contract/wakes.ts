import { describe, expect, test } from '@jest/globals';
import type { Wake } from '../../../store/outside';
import type { RunRef } from '../../../workflows/contract/records';
import type { StoreUnderTest } from './fixtures';
import { dispatchedOperation, endAs, inParallel, startedRun } from './fixtures';

export const describeWakes = (under: () => StoreUnderTest): void => {
  const MANY = 1_000;
  const takenOf = (wakes: readonly Wake[], ref: RunRef): readonly Wake[] =>
    wakes.filter((wake) => wake.ref.run === ref.run);
  const take = async (ref: RunRef): Promise<readonly Wake[]> =>
    takenOf(await under().store.wakes.take({ limit: MANY }), ref);

  describe('wakes', () => {
    test('a cancel owes its signal, at first to whoever asked, then to a relay, until the run has stopped', async () => {
      const { store, advance } = under();
      const ref = await startedRun(store);
      await store.runs.requestCancel(ref);
      expect(await take(ref)).toEqual([]);
      advance(2_000);
      expect(await take(ref)).toEqual([{ ref, kind: 'cancel', subject: '', tries: 1 }]);
      await store.runs.stopOperations({ ref, events: [] }, true);
      await store.runs.requestCancel(ref);
      advance(600_000);
      expect(await take(ref)).toEqual([]);
    });

    test('each is due again later and later, and asking again makes it due no later', async () => {
      const { store, advance } = under();
      const ref = await startedRun(store);
      await store.runs.requestCancel(ref);
      advance(2_000);
      // 5 s, 10 s, 20 s, … and never more than 5 minutes.
      for (const [index, pauseMs] of [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000].entries()) {
        expect(await take(ref)).toMatchObject([{ tries: index + 1 }]);
        advance(pauseMs - 2_000);
        expect(await take(ref)).toEqual([]);
        advance(2_000);
      }
      expect(await take(ref)).toHaveLength(1);
      await store.runs.requestCancel(ref);
      advance(2_000);
      expect(await take(ref)).toHaveLength(1);
    });

    test('two relays take different ones', async () => {
      const { store, other, advance } = under();
      const refs = await inParallel(20, () => startedRun(store));
      await Promise.all(refs.map((ref) => store.runs.requestCancel(ref)));
      advance(2_000);
      const batches = await inParallel(8, (index) => (index % 2 === 0 ? store : other).wakes.take({ limit: MANY }));
      const taken = batches.flat().map(({ ref }) => ref.run);
      for (const ref of refs) expect(taken.filter((run) => run === ref.run)).toEqual([ref.run]);
    });

    test('one that was seen is gone, and another of its run stays', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const first = await dispatchedOperation(store, ref, { ordinal: 1 });
      const second = await dispatchedOperation(store, ref, { ordinal: 2 });
      await store.runs.commit({ ref, events: [] }, endAs(ref, 'FAILED'));
      await store.wakes.seen(ref, 'reconcile', first);
      expect(await take(ref)).toEqual([{ ref, kind: 'reconcile', subject: second, tries: 1, terminal: 'FAILED' }]);
    });
  });
};
