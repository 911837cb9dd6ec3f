import { describe, expect, test } from '@jest/globals';
import type { RunRef } from '../../../workflows/contract/records';
import { TERMINALS } from '../../../workflows/machine/states';
import type { StoreUnderTest } from './fixtures';
import {
  createdOperation,
  dispatchedOperation,
  endAs,
  event,
  GRANT,
  inParallel,
  newWait,
  resultOf,
  startedRun,
  stepEvent,
} from './fixtures';

export const describeEnds = (under: () => StoreUnderTest): void => {
  describe('plans and stops', () => {
    test('an accepted message moves the plan on, voids waits, calls off what nobody has sent, and is journaled', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const created = await createdOperation(store, ref, { ordinal: 1 });
      const backedOff = await dispatchedOperation(store, ref, { ordinal: 2 });
      await store.operations.settle(ref, backedOff, { state: 'NOT_EXECUTED', generation: 1, notBeforeMs: 60_000 });
      const sent = await dispatchedOperation(store, ref, { ordinal: 3 });
      const reading = await createdOperation(store, ref, { ordinal: 4, effect: 'read' });
      const { row: wait } = await store.waits.open({ ref, events: [] }, newWait(ref, 1));
      const message = { id: 'm\u00001', kind: 'amend' as const, body: { text: 'Use T101\0' } };
      const change = await store.runs.changePlan(ref, message);
      expect(change).toEqual({ planVersion: 2, change: 'amended', cancelled: [created, backedOff] });
      expect(await store.runs.get(ref)).toMatchObject({ planVersion: 2 });
      expect((await store.waits.read(ref, wait.id))?.row).toMatchObject({ state: 'VOID' });
      expect(await store.operations.get(ref, created)).toMatchObject({ state: 'CANCELLED', code: 'SUPERSEDED' });
      expect(await store.operations.get(ref, sent)).toMatchObject({ state: 'DISPATCHED' });
      expect(await store.operations.get(ref, reading)).toMatchObject({ state: 'CREATED' });
      expect(await store.runs.changePlan(ref, message)).toEqual(change);
      expect(await store.journal.list(ref, { after: 0, limit: 9 })).toMatchObject([
        { kind: 'outside', eventId: 'message:m\u00001', body: { kind: 'amend', planVersion: 2, body: message.body } },
      ]);
    });

    test('parallel messages each get a plan version of their own; the newest is read with what all have called off', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      await createdOperation(store, ref, { step: 1 });
      const operation = await createdOperation(store, ref, { step: 2 });
      await inParallel(9, (index) =>
        (index % 2 === 0 ? store : other).runs.changePlan(ref, {
          id: `m${String(index % 5)}`,
          kind: 'withdraw',
          body: { index },
        }),
      );
      const messages = await store.runs.messages(ref, { after: 1, upTo: 99 });
      expect(messages.map(({ id }) => id).sort()).toEqual(['m0', 'm1', 'm2', 'm3', 'm4']);
      expect(await store.runs.messages(ref, { after: 2, upTo: 4 })).toEqual(messages.slice(1, 3));
      const plan = { planVersion: 6, change: 'withdrawn' };
      expect(await store.runs.readPlan(ref, { planVersion: 1, step: 2 })).toEqual({ ...plan, cancelled: [operation] });
      expect(await store.runs.readPlan(ref, { planVersion: 5, step: 2 })).toEqual({ ...plan, cancelled: [] });
      expect(await store.runs.readPlan(ref, { planVersion: 6, step: 2 })).toEqual({
        planVersion: 6,
        change: 'none',
        cancelled: [],
      });
      const lines = await store.journal.list(ref, { after: 0, limit: 99 });
      expect(lines.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5]);
    });

    test('a run that is to be cancelled, or has stopped, takes no message any more; one that it had taken is the same again', async () => {
      const { store } = under();
      const stops: readonly ((ref: RunRef) => Promise<unknown>)[] = [
        (ref) => store.runs.requestCancel(ref),
        (ref) => store.runs.stopOperations({ ref, events: [] }, false),
      ];
      for (const stop of stops) {
        const ref = await startedRun(store);
        const created = await createdOperation(store, ref, { planVersion: 2 });
        const taken = await store.runs.changePlan(ref, { id: 'm1', kind: 'amend', body: {} });
        await stop(ref);

        expect(await store.runs.changePlan(ref, { id: 'm2', kind: 'amend', body: {} })).toBe('ending');
        expect(await store.runs.changePlan(ref, { id: 'm3', kind: 'withdraw', body: {} })).toBe('ending');

        expect(await store.runs.changePlan(ref, { id: 'm1', kind: 'amend', body: {} })).toEqual(taken);
        expect(taken).toMatchObject({ cancelled: [created] });
        expect(await store.runs.get(ref)).toMatchObject({ planVersion: 2 });
        expect(await store.runs.messages(ref, { after: 1, upTo: 9 })).toHaveLength(1);
      }
    });

    test('a stop calls off writes that nobody has sent, voids waits, and says the same when asked again', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const created = await createdOperation(store, ref, { ordinal: 1 });
      const sent = await dispatchedOperation(store, ref, { ordinal: 2 });
      const { row: wait } = await store.waits.open({ ref, events: [] }, newWait(ref, 1));
      const carried = { ref, events: [event(1, { to: 'WAITING_TOOL' })] };
      expect(await store.runs.stopOperations(carried, false)).toEqual([created]);
      expect((await store.runs.get(ref))?.cancelRequestedAt).toBeUndefined();
      expect(await store.runs.stopOperations(carried, true)).toEqual([created]);
      expect(await store.runs.get(ref)).toMatchObject({ state: 'WAITING_TOOL', cancelRequestedAt: expect.any(Number) });
      expect((await store.waits.read(ref, wait.id))?.row).toMatchObject({ state: 'VOID' });
      expect(await store.operations.get(ref, sent)).toMatchObject({ state: 'DISPATCHED' });
      const late = await store.waits.open({ ref, events: [] }, newWait(ref, 2));
      expect(late.row).toMatchObject({ state: 'VOID' });
    });
  });

  describe('ends', () => {
    test.each(TERMINALS)('%s is committed with its result, which is read again for ever', async (terminal) => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const events = [event(1, { to: 'FINALIZING' })];
      expect(await store.runs.commit({ ref, events }, endAs(ref, terminal, 'some.reason'))).toEqual({
        terminal,
        reason: 'some.reason',
      });
      expect(await other.runs.result(ref)).toEqual({ ...resultOf(ref)(terminal), version: 1 });
      expect(await other.runs.get(ref)).toMatchObject({ state: terminal, terminal, reason: 'some.reason', seq: 2 });
      const [, last] = await store.journal.machineEvents(ref);
      expect(last).toMatchObject({ seq: 2, from: 'FINALIZING', event: 'committed', to: terminal });
    });

    test('of two committers and more at once one wins, and all are told its outcome', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const outcomes = await inParallel(8, (index) =>
        (index % 2 === 0 ? store : other).runs.commit(
          { ref, events: [event(1, { to: 'FINALIZING' })] },
          {
            terminal: index % 2 === 0 ? 'SUCCEEDED' : 'FAILED',
            reason: `r${String(index)}`,
            buildResult: resultOf(ref, `a${String(index)}`),
          },
        ),
      );
      expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size).toBe(1);
      const row = await store.runs.get(ref);
      expect(row).toMatchObject({ state: outcomes[0]?.terminal, reason: outcomes[0]?.reason });
      expect((await store.runs.result(ref))?.answer).toBe(outcomes[0]?.reason.replace('r', 'a'));
      expect((await store.journal.machineEvents(ref)).filter(({ event: kind }) => kind === 'committed')).toHaveLength(
        1,
      );
    });

    test('the end voids waits and calls off what nobody has sent', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const created = await createdOperation(store, ref, { ordinal: 1 });
      const reading = await createdOperation(store, ref, { ordinal: 2, effect: 'read' });
      const { row: wait } = await store.waits.open({ ref, events: [] }, newWait(ref, 1));
      await store.runs.commit({ ref, events: [] }, endAs(ref, 'FAILED'));
      expect((await store.waits.read(ref, wait.id))?.row).toMatchObject({ state: 'VOID' });
      expect(await store.operations.get(ref, created)).toMatchObject({ state: 'CANCELLED' });
      expect(await store.operations.get(ref, reading)).toMatchObject({ state: 'CANCELLED' });
    });

    test('a commit that was decided under an older plan writes its events and nothing else', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      await store.runs.changePlan(ref, { id: 'm1', kind: 'amend', body: { text: 'b first' } });
      const carried = { ref, events: [event(1, { to: 'FINALIZING' })] };

      expect(await store.runs.commit(carried, { ...endAs(ref, 'SUCCEEDED'), planVersion: 1 })).toBeUndefined();

      expect(await store.runs.get(ref)).toMatchObject({ state: 'FINALIZING', seq: 1 });
      expect(await store.runs.result(ref)).toBeUndefined();
      const outcome = await store.runs.commit(carried, { ...endAs(ref, 'SUCCEEDED'), planVersion: 2 });
      expect(outcome).toEqual({ terminal: 'SUCCEEDED', reason: 'finish.done' });
      // Whoever comes later is told the end, whatever plan they know.
      expect(await store.runs.commit(carried, { ...endAs(ref, 'FAILED'), planVersion: 1 })).toEqual(outcome);
    });

    test('of a commit and a message that come together one goes before the other, and none is lost', async () => {
      const { store, other } = under();
      for (let round = 0; round < 8; round += 1) {
        const ref = await startedRun(store);
        const [outcome, plan] = await Promise.all([
          store.runs.commit({ ref, events: [] }, { ...endAs(ref, 'SUCCEEDED'), planVersion: 1 }),
          other.runs.changePlan(ref, { id: 'm1', kind: 'amend', body: {} }),
        ]);
        expect(outcome === undefined).toBe(plan !== undefined);
      }
    });

    test.each(['DISPATCHED', 'ACCEPTED', 'RUNNING', 'UNKNOWN', 'UNRESOLVED'] as const)(
      'a cancel while an operation is %s ends as CANCEL_UNKNOWN; other ends stay what they are',
      async (state) => {
        const { store } = under();
        for (const [asked, terminal] of [
          ['CANCELLED', 'CANCEL_UNKNOWN'],
          ['EXPIRED', 'EXPIRED'],
        ] as const) {
          const ref = await startedRun(store);
          const id = await dispatchedOperation(store, ref);
          if (state === 'UNRESOLVED') await store.operations.settle(ref, id, { state: 'UNKNOWN' });
          if (state !== 'DISPATCHED') await store.operations.settle(ref, id, { state });
          expect((await store.runs.commit({ ref, events: [] }, endAs(ref, asked)))?.terminal).toBe(terminal);
          expect((await store.runs.result(ref))?.terminal).toBe(terminal);
        }
      },
    );

    test.each(['SUCCEEDED', 'FAILED', 'NOT_EXECUTED'] as const)(
      'a cancel with an operation proved %s is CANCELLED',
      async (state) => {
        const { store } = under();
        const ref = await startedRun(store);
        const id = await dispatchedOperation(store, ref);
        await store.operations.settle(ref, id, { state, generation: 1 });
        expect((await store.runs.commit({ ref, events: [] }, endAs(ref, 'CANCELLED')))?.terminal).toBe('CANCELLED');
      },
    );

    test('a result that cannot be built leaves the run as it was', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const before = await store.runs.get(ref);
      const buildResult = (): never => {
        throw new RangeError('too large');
      };
      const commit = store.runs.commit(
        { ref, events: [stepEvent(1, 1)] },
        { terminal: 'FAILED', reason: 'x', buildResult },
      );
      await expect(commit).rejects.toThrow(RangeError);
      expect(await store.runs.get(ref)).toEqual(before);
      expect(await store.journal.list(ref, { after: 0, limit: 9 })).toEqual([]);
    });

    test('after the end nothing moves the run: late events are noted, cancels and messages refused, nothing is sent', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      await store.runs.commit({ ref, events: [event(1, { to: 'FINALIZING' })] }, endAs(ref, 'EXPIRED'));
      const ended = await store.runs.get(ref);
      const late = [
        event(1, { to: 'FINALIZING' }),
        event(2, { from: 'FINALIZING', event: 'cancelRequested', to: 'FINALIZING', rule: 'cancel.too_late' }),
        event(3, { from: 'FINALIZING', event: 'committed', to: 'EXPIRED' }),
      ];
      await store.journal.carry({ ref, events: late });
      await store.journal.carry({ ref, events: late });
      expect(await store.runs.requestCancel(ref)).toBe(false);
      expect(await store.runs.changePlan(ref, { id: 'm1', kind: 'amend', body: {} })).toBeUndefined();
      expect(await store.operations.dispatch(ref, id, GRANT)).toMatchObject({ kind: 'lost' });
      const late2 = await store.runs.commit({ ref, events: late }, endAs(ref, 'SUCCEEDED', 'other'));
      expect(late2).toEqual({ terminal: 'EXPIRED', reason: 'finish.done' });
      await store.operations.settle(ref, id, { state: 'SUCCEEDED' });
      expect(await store.runs.get(ref)).toEqual(ended);
      const lines = await store.journal.list(ref, { after: 0, limit: 9 });
      expect(lines.map(({ position, kind, seq, eventId }) => [position, kind, seq ?? eventId])).toEqual([
        [1, 'machine', 1],
        [2, 'machine', 2],
        [3, 'outside', 'late:2'],
      ]);
      expect(lines[1]?.body).toMatchObject({ event: 'committed', to: 'EXPIRED' });
    });
  });
};
