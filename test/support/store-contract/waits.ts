import { describe, expect, test } from '@jest/globals';
import type { StoreUnderTest } from './fixtures';
import { createdOperation, dispatchedOperation, event, inParallel, newRef, newWait, startedRun } from './fixtures';

export const describeWaits = (under: () => StoreUnderTest): void => {
  describe('waits', () => {
    test('opening carries the events, and asked again reads the wait back', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const operation = await createdOperation(store, ref);
      const wait = newWait(ref, 1, { operation, reason: 'policy', responseSchema: { type: 'object', title: 'a\0' } });
      const carried = { ref, events: [event(1, { to: 'WAITING_USER' })] };
      const opened = await inParallel(6, (index) => (index % 2 === 0 ? store : other).waits.open(carried, wait));
      const [first] = opened;
      expect(first?.row).toMatchObject({ ...wait, state: 'OPEN' });
      expect((first?.row.expiresAt ?? 0) - (first?.row.openedAt ?? 0)).toBeGreaterThanOrEqual(60_000);
      for (const { row, remainingMs } of opened) {
        expect(row).toEqual(first?.row);
        expect(remainingMs).toBeGreaterThan(50_000);
        expect(remainingMs).toBeLessThanOrEqual(60_000);
      }
      expect(await store.runs.get(ref)).toMatchObject({ state: 'WAITING_USER' });
      expect((await store.waits.open(carried, { ...wait, expiresInMs: 1 })).row).toEqual(first?.row);
      expect((await store.waits.read(ref, wait.id))?.row).toEqual(first?.row);
    });

    test('a wait is open until its expiry and EXPIRED from then on', async () => {
      const { store, advance } = under();
      const ref = await startedRun(store);
      const wait = newWait(ref, 1);
      const { row } = await store.waits.open({ ref, events: [] }, wait);
      expect(await store.waits.list(ref.tenant, { state: 'OPEN', limit: 9 })).toEqual([row]);
      advance(60_000);
      expect(await store.waits.list(ref.tenant, { state: 'OPEN', limit: 9 })).toEqual([]);
      expect(await store.waits.read(ref, wait.id)).toEqual({ row: { ...row, state: 'EXPIRED' }, remainingMs: 0 });
      expect(await store.waits.list(ref.tenant, { limit: 9 })).toEqual([{ ...row, state: 'EXPIRED' }]);
    });

    test('a person is asked no more about what was found out by other means, and the run is told', async () => {
      const { store, advance } = under();
      const ref = await startedRun(store);
      const operation = await dispatchedOperation(store, ref);
      await store.operations.settle(ref, operation, { state: 'UNKNOWN' });
      await store.operations.settle(ref, operation, { state: 'UNRESOLVED' });
      const wait = newWait(ref, 1, { operation, kind: 'reconciliation' });
      await store.waits.open({ ref, events: [] }, wait);

      await store.operations.settle(ref, operation, { state: 'SUCCEEDED' });

      expect((await store.waits.read(ref, wait.id))?.row).toMatchObject({ state: 'VOID' });
      advance(10);
      const owed = (await store.wakes.take({ limit: 100 })).filter((wake) => wake.ref.run === ref.run);
      expect(owed).toMatchObject([{ kind: 'toolEvent', subject: operation }]);
    });

    test('what the plan has overtaken while it was being opened is VOID from the start', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      await store.runs.changePlan(ref, { id: 'm1', kind: 'amend', body: {} });
      expect((await store.waits.open({ ref, events: [] }, newWait(ref, 1))).row).toMatchObject({ state: 'VOID' });
      const current = newWait(ref, 2, { planVersion: 2 });
      expect((await store.waits.open({ ref, events: [] }, current)).row).toMatchObject({ state: 'OPEN' });
    });

    test('the inbox of a tenant is listed newest first', async () => {
      const { store, advance } = under();
      const { tenant } = newRef();
      const refs = await Promise.all([1, 2].map(() => startedRun(store, { ref: newRef(tenant) })));
      const ids = [];
      for (const [index, ref] of [...refs, ...refs].entries()) {
        const opened = await store.waits.open({ ref, events: [] }, newWait(ref, index + 1));
        ids.unshift(opened.row.id);
        advance(1);
      }
      const list = async (filter: object) =>
        (await store.waits.list(tenant, { limit: 9, ...filter })).map((row) => row.id);
      expect(await list({ state: 'OPEN' })).toEqual(ids);
      expect(await list({ run: refs[0]?.run })).toHaveLength(2);
      expect(await list({ limit: 3 })).toEqual(ids.slice(0, 3));
      expect(await list({ state: 'CONSUMED' })).toEqual([]);
    });
  });
};
