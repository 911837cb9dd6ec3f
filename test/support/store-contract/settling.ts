import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { OperationRow, Settlement } from '../../../store/rows';
import { canMove, type OperationState } from '../../../workflows/machine/operation-transitions';
import type { StoreUnderTest } from './fixtures';
import { createdOperation, dispatchedOperation, fact, GRANT, hashFrom, inParallel, startedRun } from './fixtures';

const FINAL: ReadonlySet<OperationState> = new Set(['SUCCEEDED', 'FAILED', 'CANCELLED', 'REFUSED']);

export const describeSettling = (under: () => StoreUnderTest): void => {
  describe('settling', () => {
    test('what was found out is stored with its facts, once', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      const settlement: Settlement = {
        state: 'SUCCEEDED',
        raw: hashFrom('raw'),
        output: hashFrom('output'),
        resultHash: hashFrom('result'),
        facts: [fact('ticket:T100', 'team', { value: 'network', version: 'W/"8"' })],
      };
      const { row, now } = await store.operations.settle(ref, id, { ...settlement, generation: 1 });
      expect(row).toMatchObject({
        state: 'SUCCEEDED',
        raw: hashFrom('raw'),
        output: hashFrom('output'),
        openGenerations: [],
      });
      expect(now).toBeGreaterThanOrEqual(row.dispatchedAt ?? Infinity);
      expect((await store.operations.settle(ref, id, { ...settlement, generation: 1 })).row).toEqual(row);
      const contradiction = {
        state: 'FAILED' as const,
        code: 'STATE_CONFLICT' as const,
        facts: [fact('ticket:T100', 'team')],
      };
      expect((await store.operations.settle(ref, id, contradiction)).row).toEqual(row);
      expect(await store.facts.list(ref, { step: 1, alsoOf: [id] })).toMatchObject([
        { object: 'ticket:T100', field: 'team', value: 'network', version: 'W/"8"', operation: id, step: 1 },
      ]);
    });

    test.each([
      ['NOT_EXECUTED', 'UNAVAILABLE'],
      ['NOT_EXECUTED', 'RATE_LIMITED'],
      ['FAILED', 'PERMISSION_DENIED'],
      ['FAILED', 'STATE_CONFLICT'],
    ] as const)(
      'generation 1 lost its receipt, generation 2 is %s with %s: in doubt until a look-up finds it',
      async (state, code) => {
        const { store } = under();
        const ref = await startedRun(store);
        const id = await dispatchedOperation(store, ref);
        await store.operations.settle(ref, id, { state: 'UNKNOWN', generation: 1 });
        expect(await store.operations.dispatch(ref, id, GRANT)).toMatchObject({ kind: 'won', row: { generation: 2 } });
        const refused = await store.operations.settle(ref, id, { state, code, generation: 2, notBeforeMs: 3_000 });
        expect(refused.row).toMatchObject({ state: 'UNKNOWN', openGenerations: [1] });
        expect((refused.row.notBeforeAt ?? 0) - refused.now).toBeGreaterThan(1_000);
        expect((await store.operations.settle(ref, id, { state, code, generation: 2 })).row).toMatchObject({
          state: 'UNKNOWN',
          openGenerations: [1],
        });
        const found = await store.operations.settle(ref, id, { state: 'SUCCEEDED', raw: hashFrom('found') });
        expect(found.row).toMatchObject({ state: 'SUCCEEDED', raw: hashFrom('found'), openGenerations: [] });
        expect(found.row.code).toBeUndefined();
      },
    );

    test('every send proved unexecuted: the operation is', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      await store.operations.settle(ref, id, { state: 'UNKNOWN', generation: 1 });
      await store.operations.dispatch(ref, id, GRANT);
      await store.operations.settle(ref, id, { state: 'NOT_EXECUTED', generation: 2 });
      const { row } = await store.operations.settle(ref, id, { state: 'NOT_EXECUTED', generation: 1 });
      expect(row).toMatchObject({ state: 'NOT_EXECUTED', openGenerations: [] });
    });

    test('"not found" while the sender may still be sending proves nothing', async () => {
      const { store, advance } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      expect((await store.operations.settle(ref, id, { state: 'NOT_EXECUTED' })).row).toMatchObject({
        state: 'DISPATCHED',
      });
      advance(GRANT.timeoutMs);
      expect((await store.operations.settle(ref, id, { state: 'NOT_EXECUTED' })).row).toMatchObject({
        state: 'NOT_EXECUTED',
      });
    });

    test('a callback before the receipt: the receipt moves nothing back and still tells the job', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      await store.operations.settle(ref, id, { state: 'RUNNING' });
      const { row } = await store.operations.settle(ref, id, { state: 'ACCEPTED', job: 'J3\0', generation: 1 });
      expect(row).toMatchObject({ state: 'RUNNING', job: 'J3\0' });
      expect((await store.operations.settle(ref, id, { state: 'UNKNOWN', generation: 1 })).row).toMatchObject({
        state: 'RUNNING',
      });
    });

    test('the same again only puts off what comes next', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      await store.operations.settle(ref, id, { state: 'UNKNOWN', notBeforeMs: 60_000 });
      const sooner = await store.operations.settle(ref, id, { state: 'UNKNOWN', notBeforeMs: 1_000 });
      expect((sooner.row.notBeforeAt ?? 0) - sooner.now).toBeGreaterThan(30_000);
      const later = await store.operations.settle(ref, id, { state: 'UNKNOWN', notBeforeMs: 120_000 });
      expect((later.row.notBeforeAt ?? 0) - later.now).toBeGreaterThan(90_000);
    });

    test('a denied operation is REFUSED before it was ever sent, and stays so', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await createdOperation(store, ref);
      await store.operations.settle(ref, id, { state: 'REFUSED', code: 'PERMISSION_DENIED' });
      expect(await store.operations.dispatch(ref, id, GRANT)).toMatchObject({
        kind: 'lost',
        row: { state: 'REFUSED' },
      });
    });

    test('ten finders at once: one end, and everybody is told it', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      const ends = ['SUCCEEDED', 'FAILED'] as const;
      const told = await inParallel(10, (index) =>
        (index % 3 === 0 ? store : other).operations.settle(ref, id, {
          state: ends[index % 2 === 0 ? 0 : 1],
          raw: hashFrom(String(index)),
        }),
      );
      const row = await store.operations.get(ref, id);
      for (const each of told) expect(each.row).toEqual(row);
    });

    test('in whatever order settlements and sends come, nothing moves back and no other send is decided on', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      let ordinal = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(moves, { minLength: 1, maxLength: 8 }), async (sequence) => {
          ordinal += 1;
          const id = await dispatchedOperation(store, ref, { ordinal, target: `ticket:${String(ordinal)}` });
          let row = await store.operations.get(ref, id);
          for (const move of sequence) {
            const before = row;
            if (move === 'send') await store.operations.dispatch(ref, id, { ...GRANT, maxToolCalls: 10_000 });
            else await store.operations.settle(ref, id, move);
            row = await store.operations.get(ref, id);
            assertMove(before, row, move);
          }
        }),
        { numRuns: 40 },
      );
    });
  });
};

type Move = 'send' | (Settlement & { readonly generation?: number });

const moves: fc.Arbitrary<Move> = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Move>('send') },
  {
    weight: 3,
    arbitrary: fc.record(
      {
        state: fc.constantFrom(
          ...(['SUCCEEDED', 'FAILED', 'ACCEPTED', 'RUNNING', 'NOT_EXECUTED', 'UNKNOWN', 'UNRESOLVED'] as const),
        ),
        generation: fc.integer({ min: 1, max: 3 }),
      },
      { requiredKeys: ['state'] },
    ),
  },
);

const assertMove = (before: OperationRow | undefined, after: OperationRow | undefined, move: Move): void => {
  if (before === undefined || after === undefined) throw new Error('the operation is gone');
  expect(before.state === after.state || canMove(before.state, after.state)).toBe(true);
  if (FINAL.has(before.state)) expect(after).toEqual(before);
  if (move === 'send' || move.generation === undefined) return;
  if (move.state !== 'FAILED' && move.state !== 'NOT_EXECUTED') return;
  const others = before.openGenerations.filter((generation) => generation !== move.generation);
  if (others.length > 0) expect([before.state, 'UNKNOWN']).toContain(after.state);
  if (before.state === 'DISPATCHED' && move.generation !== before.generation) expect(after.state).toBe('DISPATCHED');
};
