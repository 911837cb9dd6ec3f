import { describe, expect, test } from '@jest/globals';
import { RowMissing } from '../../../store/errors';
import type { OperationState } from '../../../workflows/machine/operation-transitions';
import type { StoreUnderTest } from './fixtures';
import {
  createdOperation,
  dispatchedOperation,
  endAs,
  event,
  fact,
  GRANT,
  hashFrom,
  inParallel,
  judgedEvent,
  newOperation,
  newRef,
  startedRun,
} from './fixtures';

export const describeOperations = (under: () => StoreUnderTest): void => {
  describe('operations', () => {
    test('are created once and read back in the order asked for', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const one = newOperation(ref, 1, {
        ordinal: 1,
        target: 'ticket:T\0\ud83d\\100',
        expectedVersion: 'W/"7"',
        call: 'x\0',
      });
      const two = newOperation(ref, 1, { ordinal: 2, tool: 'read_ticket', effect: 'read' });
      const created = await store.operations.create([two, one]);
      expect(created).toMatchObject([two, one]);
      expect(created[1]).toMatchObject({ state: 'CREATED', generation: 0, openGenerations: [], lookUps: 0, polls: 0 });
      const again = await store.operations.create([{ ...one, tool: 'another' }, two]);
      expect(again).toEqual([created[1], created[0]]);
      expect(await store.operations.list(ref)).toEqual([created[1], created[0]]);
      expect(await store.operations.get(ref, one.id)).toEqual(created[1]);
      expect(await store.operations.create([])).toEqual([]);
    });

    test('a long target is stored like any other', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const target = `ticket:${'x'.repeat(20_000)}`;
      const id = await dispatchedOperation(store, ref, { target });
      expect(await store.operations.get(ref, id)).toMatchObject({ target, state: 'DISPATCHED' });
    });

    test('of ten parallel dispatches by two processes one wins, within its time', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const id = await createdOperation(store, ref);
      const grants = await inParallel(10, (index) =>
        (index % 2 === 0 ? store : other).operations.dispatch(ref, id, GRANT),
      );
      const won = grants.filter((grant) => grant.kind === 'won');
      expect(won).toHaveLength(1);
      expect(won[0]).toMatchObject({
        row: { state: 'DISPATCHED', generation: 1, openGenerations: [1] },
        totals: { toolCalls: 1 },
      });
      expect(won[0]?.kind === 'won' ? won[0].remainingMs : 0).toBeLessThanOrEqual(GRANT.timeoutMs);
      expect(won[0]?.kind === 'won' ? won[0].remainingMs : 0).toBeGreaterThan(0);
      const lost = grants.filter((grant) => grant.kind === 'lost');
      expect(lost).toHaveLength(9);
      for (const grant of lost) expect(grant).toMatchObject({ row: { generation: 1 }, totals: { toolCalls: 1 } });
      const row = await store.operations.get(ref, id);
      expect((row?.dispatchDeadlineAt ?? 0) - (row?.dispatchedAt ?? 0)).toBeGreaterThanOrEqual(GRANT.timeoutMs);
    });

    test('a cancel, a stop, a newer plan and the end each keep an operation from being sent', async () => {
      const { store } = under();
      const cases: readonly [string, (ref: Awaited<ReturnType<typeof startedRun>>) => Promise<unknown>][] = [
        ['cancel', (ref) => store.runs.requestCancel(ref)],
        ['terminal', (ref) => store.runs.commit({ ref, events: [] }, endAs(ref, 'FAILED'))],
        ['plan', (ref) => store.runs.changePlan(ref, { id: 'm1', kind: 'amend', body: {} })],
        ['terminal', (ref) => store.runs.stopOperations({ ref, events: [] }, false)],
        ['cancel', (ref) => store.runs.stopOperations({ ref, events: [] }, true)],
      ];
      for (const [why, act] of cases) {
        const ref = await startedRun(store);
        const id = await dispatchedOperation(store, ref);
        await store.operations.settle(ref, id, { state: 'UNKNOWN', generation: 1 });
        await act(ref);
        expect(await store.operations.dispatch(ref, id, GRANT)).toMatchObject({
          kind: 'stopped',
          why,
          row: { state: 'UNKNOWN' },
        });
        expect(await store.ledger.totals(ref)).toMatchObject({ toolCalls: 1 });
      }
    });

    test('a cancel that races with dispatches: none is sent after it was acknowledged', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const ids = await inParallel(8, (index) => createdOperation(store, ref, { ordinal: index + 1 }));
      let isAcknowledged = false;
      const early = Promise.all(ids.slice(0, 4).map((id) => store.operations.dispatch(ref, id, GRANT)));
      const cancelled = other.runs.stopOperations({ ref, events: [] }, true).then((stopped) => {
        isAcknowledged = true;
        return stopped;
      });
      const [grants, stopped] = await Promise.all([early, cancelled]);
      expect(isAcknowledged).toBe(true);
      const late = await Promise.all(ids.map((id) => store.operations.dispatch(ref, id, GRANT)));
      expect(late.filter((grant) => grant.kind === 'won')).toEqual([]);
      const won = grants.filter((grant) => grant.kind === 'won').map((grant) => grant.row.id);
      expect([...won, ...stopped].sort()).toEqual([...ids].sort());
    });

    test('a second write on an object is held until the first has a proved end; other objects and reads are not', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const target = 'ticket:T100';
      const first = await dispatchedOperation(store, ref, { ordinal: 1, target });
      const second = await createdOperation(store, ref, { ordinal: 2, target });
      const elsewhere = await createdOperation(store, ref, { ordinal: 3, target: 'ticket:T101' });
      const reading = await createdOperation(store, ref, { ordinal: 4, target, effect: 'read' });
      const isHeld = async (state: OperationState) => {
        const grant = await store.operations.dispatch(ref, second, GRANT);
        expect(grant).toMatchObject({ kind: 'held', by: { id: first, state }, row: { state: 'CREATED' } });
      };
      await isHeld('DISPATCHED');
      for (const state of ['UNKNOWN', 'UNRESOLVED'] as const) {
        await store.operations.settle(ref, first, { state });
        await isHeld(state);
      }
      expect(await store.operations.dispatch(ref, elsewhere, GRANT)).toMatchObject({ kind: 'won' });
      expect(await store.operations.dispatch(ref, reading, GRANT)).toMatchObject({ kind: 'won' });
      await store.operations.settle(ref, first, { state: 'NOT_EXECUTED' });
      expect(await store.operations.dispatch(ref, second, GRANT)).toMatchObject({ kind: 'won' });
      expect(await store.operations.dispatch(ref, first, GRANT)).toMatchObject({ kind: 'held', by: { id: second } });
    });

    test('two writes on one object dispatched at once: one wins, one is held', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const ids = await inParallel(2, (index) =>
        createdOperation(store, ref, { ordinal: index + 1, target: 'ticket:T100' }),
      );
      const grants = await Promise.all(
        ids.map((id, index) => (index === 0 ? store : other).operations.dispatch(ref, id, GRANT)),
      );
      expect(grants.map((grant) => grant.kind).sort()).toEqual(['held', 'won']);
    });

    test('the budget of tool calls counts operations, not sends', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const grant = { ...GRANT, maxToolCalls: 1 };
      const id = await createdOperation(store, ref, { ordinal: 1 });
      const second = await createdOperation(store, ref, { ordinal: 2 });
      expect(await store.operations.dispatch(ref, id, grant)).toMatchObject({ kind: 'won', totals: { toolCalls: 1 } });
      await store.operations.settle(ref, id, { state: 'NOT_EXECUTED', generation: 1 });
      expect(await store.operations.dispatch(ref, id, grant)).toMatchObject({ kind: 'won', totals: { toolCalls: 1 } });
      const spent = await store.operations.dispatch(ref, second, grant);
      expect(spent).toMatchObject({ kind: 'budgetSpent', row: { state: 'CREATED' }, totals: { toolCalls: 1 } });
      expect(await store.ledger.entries(ref)).toMatchObject([{ reference: `operation:${id}`, kind: 'toolCall' }]);
    });

    test('a second send waits for its back-off, and for leave where the first is unknown', async () => {
      const { store, advance } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      await store.operations.settle(ref, id, { state: 'NOT_EXECUTED', generation: 1, notBeforeMs: 5_000 });
      const early = await store.operations.dispatch(ref, id, GRANT);
      expect(early.kind === 'lost' ? (early.row.notBeforeAt ?? 0) - early.now : 0).toBeGreaterThan(1_000);
      advance(5_000);
      const again = await store.operations.dispatch(ref, id, GRANT);
      expect(again).toMatchObject({ kind: 'won', row: { generation: 2, openGenerations: [2] } });
      expect(again.row.firstDispatchedAt).toBeLessThan(again.row.dispatchedAt ?? 0);
      await store.operations.settle(ref, id, { state: 'UNKNOWN', generation: 2 });
      const unknown = await store.operations.dispatch(ref, id, { ...GRANT, maySendAgain: false });
      expect(unknown).toMatchObject({ kind: 'lost', row: { state: 'UNKNOWN' } });
      expect(await store.operations.dispatch(ref, id, GRANT)).toMatchObject({
        kind: 'won',
        row: { openGenerations: [2, 3] },
      });
    });

    test('pursuits are counted and put off the next', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      await store.operations.countPursuit(ref, id, 'lookUp', 10);
      await store.operations.countPursuit(ref, id, 'poll', 10);
      const { row, now } = await store.operations.countPursuit(ref, id, 'poll', 7_000);
      expect(row).toMatchObject({ lookUps: 1, polls: 2 });
      expect((row.notBeforeAt ?? 0) - now).toBeGreaterThan(6_000);
      await expect(store.operations.countPursuit(newRef(), id, 'poll', 1)).rejects.toThrow(RowMissing);
    });

    test('what has its end is pursued no more: its row stays as it is', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      const { row: ended } = await store.operations.settle(ref, id, { state: 'SUCCEEDED' });

      const { row, now } = await store.operations.countPursuit(ref, id, 'lookUp', 7_000);

      expect(row).toEqual(ended);
      expect(row).toMatchObject({ state: 'SUCCEEDED', lookUps: 0 });
      expect(now).toBeGreaterThan(0);
      expect(await store.operations.get(ref, id)).toEqual(ended);
    });

    test('the first result of a read stays, with its facts', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await createdOperation(store, ref, { effect: 'read' });
      const results = await inParallel(6, (index) =>
        store.operations.recordRead(ref, id, {
          state: 'SUCCEEDED',
          raw: hashFrom(`raw ${String(index)}`),
          resultHash: hashFrom(`result ${String(index)}`),
          facts: [fact('ticket:T100', 'team', { value: index })],
        }),
      );
      expect(new Set(results.map((row) => row.raw)).size).toBe(1);
      expect(results[0]).toMatchObject({ state: 'SUCCEEDED' });
      const facts = await store.facts.list(ref, { step: 1, alsoOf: [id] });
      expect(facts).toHaveLength(1);
      expect(results[0]?.raw).toBe(hashFrom(`raw ${JSON.stringify(facts[0]?.value)}`));
    });

    test('an equal operation is found up to the call that asks, also in the run that was reopened', async () => {
      const { store } = under();
      const old = await startedRun(store);
      const oldId = await createdOperation(store, old, { step: 4, argumentHash: 'same' });
      const unnamed = await createdOperation(store, old, { step: 5, argumentHash: 'same' });
      await store.journal.carry({ ref: old, events: [judgedEvent(1, 4)] });
      const middle = await startedRun(store, { ref: newRef(old.tenant), reopens: old.run });
      const ref = await startedRun(store, { ref: newRef(old.tenant), reopens: middle.run });
      const ids = [];
      for (const [step, ordinal, argumentHash] of [
        [1, 1, 'same'],
        [1, 2, 'other'],
        [2, 1, 'same'],
        [2, 2, 'same'],
      ] as const) {
        ids.push(await createdOperation(store, ref, { step, ordinal, argumentHash }));
      }
      await store.journal.carry({ ref, events: [judgedEvent(1, 1)] });
      const find = async (step: number, beforeOrdinal: number) =>
        (
          await store.operations.findEquivalent(ref, {
            tool: 'assign_ticket',
            argumentHash: 'same',
            step,
            beforeOrdinal,
          })
        ).map((row) => row.id);
      expect(await find(2, 2)).toEqual([oldId, ids[0], ids[2]]);
      expect(await find(2, 1)).toEqual([oldId, ids[0]]);
      expect(await find(3, 1)).toEqual([oldId, ids[0]]);
      expect(await find(1, 1)).not.toContain(unnamed);
      const stranger = await startedRun(store, { reopens: old.run });
      const foreign = await store.operations.findEquivalent(stranger, {
        tool: 'assign_ticket',
        argumentHash: 'same',
        step: 9,
        beforeOrdinal: 1,
      });
      expect(foreign).toEqual([]);
    });

    test('what nobody has named keeps out of the way of what the run does', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      await createdOperation(store, ref, { step: 1 });
      await store.journal.carry({ ref, events: [event(1, { to: 'MODEL_RUNNING' })] });
      expect(await store.ledger.totals(ref)).toMatchObject({ toolCalls: 0 });
    });
  });
};
