import { describe, expect, test } from '@jest/globals';
import { CursorInvalid, RowMissing } from '../../../store/errors';
import type { RunRow } from '../../../store/rows';
import type { StoreUnderTest } from './fixtures';
import { event, hashFrom, inParallel, newRef, newRun, startedRun, stepEvent } from './fixtures';

export const describeRuns = (under: () => StoreUnderTest): void => {
  describe('runs', () => {
    test('of twenty parallel starts of one id, by two processes, one is new', async () => {
      const { store, other } = under();
      const ref = newRef();
      const starts = await inParallel(20, (index) => (index % 2 === 0 ? store : other).runs.start(newRun(ref)));
      expect(starts.filter((start) => start.isNew)).toHaveLength(1);
      expect(new Set(starts.map((start) => JSON.stringify(start.row))).size).toBe(1);
    });

    test('another body under the same id gets the first one’s row', async () => {
      const { store } = under();
      const ref = newRef();
      await store.runs.start(newRun(ref));
      const second = await store.runs.start(newRun(ref, { bodyHash: hashFrom('other'), agent: 'other' }));
      expect(second).toMatchObject({ isNew: false, row: { bodyHash: hashFrom('body'), agent: 'tickets' } });
    });

    test('a run comes back as it was started', async () => {
      const { store } = under();
      const run = newRun(newRef(), {
        principal: { subject: 'o’hara\0\ud83d', roles: [] },
        task: {
          goal: 'a\0b \ud83d "x"',
          data: { id: '9223372036854775807', list: [1.5, null, false], nested: { '\0': '' } },
        },
        limits: { maxSteps: 3 },
        reopens: newRef().run,
      });
      const { row } = await store.runs.start(run);
      expect(row).toMatchObject({ ...run, state: 'STARTING', seq: 0, step: 0, planVersion: 1 });
      expect(Math.abs(row.createdAt - Date.now())).toBeLessThan(60_000);
      expect(await store.runs.get(run.ref)).toEqual(row);
    });

    test('opening twice keeps what the first one set', async () => {
      const { store } = under();
      const ref = newRef();
      await store.runs.start(newRun(ref));
      const first = await store.runs.open(ref, { definition: hashFrom('one'), deadlineMs: 60_000 });
      expect(first).toMatchObject({ state: 'READY', definition: hashFrom('one') });
      expect((first.deadlineAt ?? 0) - (first.openedAt ?? 0)).toBeGreaterThanOrEqual(60_000);
      expect(await store.runs.open(ref, { definition: hashFrom('two'), deadlineMs: 1 })).toEqual(first);
    });

    test('what is not there is undefined to readers and RowMissing to writers', async () => {
      const { store } = under();
      const ref = newRef();
      expect(await store.runs.get(ref)).toBeUndefined();
      expect(await store.runs.result(ref)).toBeUndefined();
      await expect(store.runs.open(ref, { definition: hashFrom('one'), deadlineMs: 1 })).rejects.toThrow(RowMissing);
      await expect(store.runs.requestCancel(ref)).rejects.toThrow(RowMissing);
      await expect(store.journal.carry({ ref, events: [event(1)] })).rejects.toThrow(RowMissing);
      await expect(store.ledger.totals(ref)).rejects.toThrow(RowMissing);
    });

    test('pages list every run once, newest first, while others are started', async () => {
      const { store } = under();
      const { tenant } = newRef();
      const refs = [];
      for (let count = 0; count < 7; count += 1) refs.push(await startedRun(store, { ref: newRef(tenant) }));
      const seen: RunRow[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.runs.list(tenant, { limit: 3, ...(cursor === undefined ? {} : { cursor }) });
        seen.push(...page.rows);
        cursor = page.cursor;
        await startedRun(store, { ref: newRef(tenant) });
      } while (cursor !== undefined);
      const created = seen.map((row) => row.createdAt);
      expect(created).toEqual([...created].sort((one, next) => next - one));
      expect(seen.map((row) => row.ref.run).sort()).toEqual(refs.map((ref) => ref.run).sort());
    });

    test('lists are filtered by state and agent', async () => {
      const { store } = under();
      const { tenant } = newRef();
      const ready = await startedRun(store, { ref: newRef(tenant) });
      const running = await startedRun(store, { ref: newRef(tenant), agent: 'other' });
      await store.journal.carry({ ref: running, events: [stepEvent(1, 1)] });
      const runsOf = async (filter: object) =>
        (await store.runs.list(tenant, { limit: 10, ...filter })).rows.map((row) => row.ref.run);
      expect(await runsOf({ state: 'READY' })).toEqual([ready.run]);
      expect(await runsOf({ state: 'MODEL_RUNNING' })).toEqual([running.run]);
      expect(await runsOf({ agent: 'other' })).toEqual([running.run]);
      expect(await runsOf({ agent: 'other', state: 'READY' })).toEqual([]);
    });

    test.each([
      '',
      'x',
      Buffer.from('12 run_x; drop').toString('base64url'),
      Buffer.from('abc run_x').toString('base64url'),
    ])('the cursor %j is refused by name', async (cursor) => {
      const { store } = under();
      const failure = store.runs.list(newRef().tenant, { limit: 1, cursor });
      await expect(failure).rejects.toBeInstanceOf(CursorInvalid);
      await expect(failure).rejects.toMatchObject({ code: 'store.cursor_invalid', field: 'cursor' });
    });

    test('starts that hang are listed once they are old enough', async () => {
      const { store, advance } = under();
      const hanging = newRef();
      await store.runs.start(newRun(hanging));
      const opened = await startedRun(store);
      const listed = async (olderThanMs: number) =>
        (await store.runs.listHangingStarts({ olderThanMs, limit: 1_000 })).map((row) => row.ref.run);
      expect(await listed(60_000)).not.toContain(hanging.run);
      advance(60_000);
      expect(await listed(60_000)).toContain(hanging.run);
      expect(await listed(0)).not.toContain(opened.run);
    });

    test('a cancel is asked for once, and not after the end', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      expect(await store.runs.requestCancel(ref)).toBe(true);
      const asked = (await store.runs.get(ref))?.cancelRequestedAt;
      expect(asked).toEqual(expect.any(Number));
      expect(await store.runs.requestCancel(ref)).toBe(true);
      expect((await store.runs.get(ref))?.cancelRequestedAt).toBe(asked);
    });
  });
};
