import { describe, expect, test } from '@jest/globals';
import { operationIdOf, parseRunId, type OperationId } from '../../../workflows/contract/ids';
import type { RunRef } from '../../../workflows/contract/records';
import type { Store } from '../../../store/store';
import type { StoreUnderTest } from './fixtures';
import {
  createdOperation,
  dispatchedOperation,
  endAs,
  GRANT,
  hashFrom,
  inParallel,
  newRef,
  newRun,
  startedRun,
} from './fixtures';

const report = (operation: OperationId, eventId: string) => ({ operation, eventId, body: hashFrom(eventId) });

/** The signals that this run is owed, also those that are due only later. */
const wakesOf = async ({ store, advance }: StoreUnderTest, ref: RunRef): Promise<readonly string[]> => {
  advance(3_600_000);
  const owed: string[] = [];
  for (;;) {
    const wakes = await store.wakes.take({ limit: 100 });
    if (wakes.length === 0) return owed.sort();
    owed.push(...wakes.filter((wake) => wake.ref.run === ref.run).map(({ kind, subject }) => `${kind} ${subject}`));
  }
};

const linesOf = async (store: Store, ref: RunRef): Promise<readonly (string | undefined)[]> =>
  (await store.journal.list(ref, { after: 0, limit: 1_000 })).map(({ eventId }) => eventId);

export const describeInbox = (under: () => StoreUnderTest): void => {
  describe('the inbox', () => {
    test('a report is kept once, with its line in the journal and the signal that it owes', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);

      const received = await inParallel(8, (index) =>
        (index % 2 === 0 ? store : other).inbox.receive(ref, report(id, 'evt_1')),
      );

      expect(received.filter((each) => each?.isNew)).toEqual([{ isNew: true, wake: 'toolEvent' }]);
      expect(await store.inbox.unsettled(ref, id)).toMatchObject([{ operation: id, eventId: 'evt_1' }]);
      expect(await linesOf(store, ref)).toEqual([`callback:${id}:evt_1`]);
      expect(await wakesOf(under(), ref)).toEqual([`toolEvent ${id}`]);
    });

    test('reports are read in order of arrival, also within one millisecond', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      const names = ['z', 'm', 'a', 'y', 'b'];
      for (const name of names) await store.inbox.receive(ref, report(id, name));

      expect((await store.inbox.unsettled(ref, id)).map(({ eventId }) => eventId)).toEqual(names);
      expect((await store.inbox.list(ref)).map(({ eventId }) => eventId)).toEqual(names);
    });

    test('what was proved unexecuted is not sent again, nor called off, while a report about it is unread', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      await store.operations.settle(ref, id, { state: 'NOT_EXECUTED', generation: 1 });
      await store.inbox.receive(ref, report(id, 'evt_1'));

      expect(await store.operations.dispatch(ref, id, GRANT)).toMatchObject({
        kind: 'lost',
        row: { state: 'NOT_EXECUTED', generation: 1 },
      });
      const change = await store.runs.changePlan(ref, { id: 'm1', kind: 'amend', body: { text: 'other' } });
      expect(change).toMatchObject({ cancelled: [] });
      await store.runs.commit({ ref, events: [] }, endAs(ref, 'CANCELLED'));
      expect(await store.operations.get(ref, id)).toMatchObject({ state: 'NOT_EXECUTED' });
      expect(await store.runs.get(ref)).toMatchObject({ terminal: 'CANCEL_UNKNOWN' });
      expect(await wakesOf(under(), ref)).toEqual([`reconcile ${id}`, `toolEvent ${id}`]);
    });

    test('with its reports read it is sent again', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      await store.operations.settle(ref, id, { state: 'NOT_EXECUTED', generation: 1 });
      await store.inbox.receive(ref, report(id, 'evt_1'));
      await store.inbox.settled(ref, id, { eventId: 'evt_1', effect: 'other_operation' });

      expect(await store.operations.dispatch(ref, id, GRANT)).toMatchObject({ kind: 'won', row: { generation: 2 } });
    });

    test('the signal is owed until the last report has been read', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      await store.inbox.receive(ref, report(id, 'evt_1'));
      await store.inbox.receive(ref, report(id, 'evt_2'));

      await store.inbox.settled(ref, id, { eventId: 'evt_1', effect: 'moved', job: 'J3\0' });
      expect(await wakesOf(under(), ref)).toEqual([`toolEvent ${id}`]);
      await store.inbox.settled(ref, id, { eventId: 'evt_2', effect: 'nothing_new' });

      expect(await wakesOf(under(), ref)).toEqual([]);
      expect(await store.inbox.unsettled(ref, id)).toEqual([]);
      expect(await store.inbox.list(ref)).toMatchObject([
        { eventId: 'evt_1', effect: 'moved', job: 'J3\0' },
        { eventId: 'evt_2', effect: 'nothing_new' },
      ]);
      await store.inbox.settled(ref, id, { eventId: 'evt_1', effect: 'contradicts' });
      expect((await store.inbox.list(ref))[0]).toMatchObject({ effect: 'moved' });
    });

    test('one that comes while another is being read keeps its signal', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      await store.inbox.receive(ref, report(id, 'evt_0'));

      await inParallel(20, async (index) => {
        if (index % 2 === 0) await store.inbox.receive(ref, report(id, `evt_${String(index + 2)}`));
        else await other.inbox.settled(ref, id, { eventId: 'evt_0', effect: 'moved' });
      });

      expect(await store.inbox.unsettled(ref, id)).toHaveLength(10);
      expect(await wakesOf(under(), ref)).toEqual([`toolEvent ${id}`]);
    });

    test('the end of the operation closes what is unread, and what comes later is late at once', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      await store.inbox.receive(ref, report(id, 'evt_1'));

      await store.operations.settle(ref, id, { state: 'SUCCEEDED' });
      const late = await store.inbox.receive(ref, report(id, 'evt_2'));

      expect(late).toEqual({ isNew: true });
      expect(await wakesOf(under(), ref)).toEqual([]);
      expect(await store.inbox.list(ref)).toMatchObject([{ effect: 'late' }, { effect: 'late' }]);
      await store.inbox.settled(ref, id, { eventId: 'evt_1', effect: 'contradicts' });
      expect((await store.inbox.list(ref))[0]).toMatchObject({ effect: 'contradicts' });
    });

    test('an end and reports at the same moment: none is left unread with nobody to read it', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      for (let ordinal = 1; ordinal <= 10; ordinal += 1) {
        const id = await dispatchedOperation(store, ref, { ordinal, target: `ticket:${String(ordinal)}` });
        await Promise.all([
          store.inbox.receive(ref, report(id, 'evt_1')),
          other.operations.settle(ref, id, { state: 'SUCCEEDED' }),
          store.inbox.receive(ref, report(id, 'evt_2')),
        ]);
        expect(await store.inbox.unsettled(ref, id)).toEqual([]);
      }
      expect(await wakesOf(under(), ref)).toEqual([]);
    });

    test('after the end of the run it is for the reconciliation of the operation', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      await store.operations.settle(ref, id, { state: 'UNKNOWN' });
      await store.runs.commit({ ref, events: [] }, endAs(ref, 'EXPIRED', 'deadline'));

      expect(await store.inbox.receive(ref, report(id, 'evt_1'))).toEqual({ isNew: true, wake: 'reconcile' });

      expect(await store.inbox.unsettled(ref, id)).toHaveLength(1);
      expect(await wakesOf(under(), ref)).toEqual([`reconcile ${id}`]);
      expect((await store.runs.get(ref))?.terminal).toBe('EXPIRED');
    });

    test('there is no inbox for reads, for what does not exist, or for another tenant', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const read = await createdOperation(store, ref, { effect: 'read' });
      const write = await dispatchedOperation(store, ref, { ordinal: 2 });

      expect(await store.inbox.receive(ref, report(read, 'evt_1'))).toBeUndefined();
      expect(await store.inbox.receive(ref, report(operationIdOf(ref.run, 7, 7), 'evt_1'))).toBeUndefined();
      await expect(
        store.inbox.receive({ ...ref, tenant: newRef().tenant }, report(write, 'evt_1')),
      ).rejects.toMatchObject({ code: 'store.missing' });
      expect(await store.inbox.list(ref)).toEqual([]);
      expect(await linesOf(store, ref)).toEqual([]);
    });

    test('an operation leads to its run and tenant, unless two tenants have a run of that id', async () => {
      const { store } = under();
      const ref = await startedRun(store);

      expect(await store.inbox.runOf(operationIdOf(ref.run, 3, 1))).toEqual(ref);
      expect(await store.inbox.runOf(operationIdOf(parseRunId('run_nobodyhasthis'), 3, 1))).toBeUndefined();
      await store.runs.start(newRun({ ...newRef(), run: ref.run }));
      expect(await store.inbox.runOf(operationIdOf(ref.run, 3, 1))).toBeUndefined();
    });

    test('what was refused is noted once per event and reason, and a bounded number of times', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      const refuse = (eventId: string, reason: string) => store.inbox.refuse(ref, { operation: id, eventId, reason });

      await inParallel(3, () => refuse('evt_1', 'callback.expired'));
      await refuse('evt_1', 'callback.signature_invalid');
      expect(await linesOf(store, ref)).toEqual([
        `callback_refused:${id}:callback.expired:evt_1`,
        `callback_refused:${id}:callback.signature_invalid:evt_1`,
      ]);

      for (let index = 2; index <= 40; index += 1) await refuse(`evt_${String(index)}`, 'callback.expired');
      await store.inbox.refuse(ref, { operation: operationIdOf(ref.run, 7, 7), eventId: 'evt_1', reason: 'any' });
      expect(await linesOf(store, ref)).toHaveLength(20);
      expect(await store.inbox.list(ref)).toEqual([]);
      expect(await wakesOf(under(), ref)).toEqual([]);
    });
  });
};
