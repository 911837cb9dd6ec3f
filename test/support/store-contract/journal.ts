import { describe, expect, test } from '@jest/globals';
import { StoreConflict } from '../../../store/errors';
import type { StoreUnderTest } from './fixtures';
import {
  createdOperation,
  event,
  inParallel,
  judgedEvent,
  newOperation,
  readEvent,
  startedRun,
  stepEvent,
} from './fixtures';

export const describeJournal = (under: () => StoreUnderTest): void => {
  describe('journal', () => {
    test('events are numbered by position in the order in which they come, and move the row', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      await store.journal.carry({ ref, events: [stepEvent(1, 1), event(2, { to: 'VALIDATING', cause: { step: 1 } })] });
      await store.journal.note(ref, { eventId: 'callback-1', body: { job: 'J3' } });
      await store.journal.carry({ ref, events: [event(3, { to: 'TOOL_RUNNING' })] });
      const lines = await store.journal.list(ref, { after: 0, limit: 10 });
      expect(lines.map(({ position, kind, seq, eventId }) => [position, kind, seq ?? eventId])).toEqual([
        [1, 'machine', 1],
        [2, 'machine', 2],
        [3, 'outside', 'callback-1'],
        [4, 'machine', 3],
      ]);
      expect(await store.runs.get(ref)).toMatchObject({ state: 'TOOL_RUNNING', seq: 3, step: 1 });
      expect(await store.journal.list(ref, { after: 2, limit: 1 })).toEqual([lines[2]]);
      expect(await store.journal.machineEvents(ref)).toEqual([lines[0]?.body, lines[1]?.body, lines[3]?.body]);
    });

    test('the same events again are a success and change nothing', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const events = [stepEvent(1, 1), event(2, { to: 'VALIDATING' })];
      const totals = await store.journal.carry({ ref, events });
      const before = await store.runs.get(ref);
      expect(await store.journal.carry({ ref, events })).toEqual(totals);
      expect(await store.runs.get(ref)).toEqual(before);
      expect(await store.journal.list(ref, { after: 0, limit: 10 })).toHaveLength(2);
    });

    test('an event with the number of another is a conflict that leaves nothing behind', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      await store.journal.carry({ ref, events: [stepEvent(1, 1)] });
      const before = await store.runs.get(ref);
      const other = { ref, events: [stepEvent(1, 2), event(2, { to: 'VALIDATING' })] };
      await expect(store.journal.carry(other)).rejects.toBeInstanceOf(StoreConflict);
      await expect(store.journal.carry(other)).rejects.toMatchObject({
        code: 'store.conflict',
        given: stepEvent(1, 2),
      });
      expect(await store.runs.get(ref)).toEqual(before);
      expect(await store.journal.machineEvents(ref)).toEqual([stepEvent(1, 1)]);
    });

    test('an older carrier that comes late adds its events and does not lower the row', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      await store.journal.carry({ ref, events: [event(1), event(2), event(3, { to: 'WAITING_TOOL' })] });
      await store.journal.carry({ ref, events: [event(1), event(2)] });
      await store.journal.carry({ ref, events: [event(5, { to: 'WAITING_USER' })] });
      await store.journal.carry({ ref, events: [event(4, { to: 'READY' })] });
      expect(await store.runs.get(ref)).toMatchObject({ state: 'WAITING_USER', seq: 5 });
      expect((await store.journal.machineEvents(ref)).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    });

    test('a terminal is not for a carrier to write', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const committed = event(1, { from: 'FINALIZING', event: 'committed', to: 'SUCCEEDED' });
      await expect(store.journal.carry({ ref, events: [committed] })).rejects.toBeInstanceOf(StoreConflict);
      expect(await store.runs.get(ref)).toMatchObject({ state: 'READY', seq: 0 });
    });

    test('positions have no gap and follow the commits, whoever writes', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const events = Array.from({ length: 12 }, (_, index) => event(index + 1, { to: 'TOOL_RUNNING' }));
      let seen = 0;
      const watch = async (): Promise<void> => {
        const lines = await other.journal.list(ref, { after: 0, limit: 100 });
        expect(lines.map((line) => line.position)).toEqual(lines.map((_, index) => index + 1));
        expect(lines.length).toBeGreaterThanOrEqual(seen);
        seen = lines.length;
      };
      await Promise.all([
        ...events.map((_, index) =>
          (index % 2 === 0 ? store : other).journal.carry({ ref, events: events.slice(0, index + 1) }),
        ),
        inParallel(12, (index) => store.journal.note(ref, { eventId: `n${String(index % 6)}`, body: { index } })),
        watch().then(watch).then(watch),
      ]);
      const lines = await store.journal.list(ref, { after: 0, limit: 100 });
      expect(lines.map((line) => line.position)).toEqual(Array.from({ length: 18 }, (_, index) => index + 1));
      expect(lines.filter((line) => line.kind === 'outside').map((line) => line.eventId)).toHaveLength(6);
      expect(lines.flatMap((line) => line.seq ?? [])).toEqual(events.map(({ seq }) => seq));
    });

    test('an outside event is noted once; the first body stays', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      await store.journal.note(ref, { eventId: 'a\0\ud83d\\', body: { text: 'x\0\ud83d', id: '9223372036854775807' } });
      await store.journal.note(ref, { eventId: 'a\0\ud83d\\', body: { text: 'again' } });
      const lines = await store.journal.list(ref, { after: 0, limit: 10 });
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatchObject({
        position: 1,
        kind: 'outside',
        eventId: 'a\0\ud83d\\',
        body: { text: 'x\0\ud83d', id: '9223372036854775807' },
      });
      expect(Math.abs((lines[0]?.recordedAt ?? 0) - Date.now())).toBeLessThan(24 * 3_600_000);
    });

    test('an id from outside that is too long for a key is refused by name, before anything is written', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = 'x'.repeat(2_001);
      const failure = { code: 'store.key_too_long', isRetryable: false };
      await expect(store.journal.note(ref, { eventId: id, body: {} })).rejects.toMatchObject({
        ...failure,
        field: 'eventId',
      });
      const message = { id, kind: 'amend' as const, body: {} };
      await expect(store.runs.changePlan(ref, message)).rejects.toMatchObject({ ...failure, field: 'message' });
      await store.journal.note(ref, { eventId: id.slice(1), body: {} });
      expect(await store.journal.list(ref, { after: 0, limit: 9 })).toHaveLength(1);
      expect(await store.runs.get(ref)).toMatchObject({ planVersion: 1 });
    });

    test('a context that goes to the model is a step, a read that ended a tool call, each once', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const events = [
        stepEvent(1, 1),
        judgedEvent(2, 1),
        readEvent(3, 1, 1),
        readEvent(4, 1, 2),
        readEvent(5, 1, 2),
        event(6, { cause: { step: 2 } }),
        stepEvent(7, 2),
        event(8, { from: 'MODEL_RUNNING', to: 'MODEL_RUNNING', rule: 'ignored', cause: { step: 9 } }),
      ];
      const totals = await store.journal.carry({ ref, events });
      expect(totals).toMatchObject({ steps: 2, toolCalls: 2, attempts: 0 });
      expect((await store.ledger.entries(ref)).map(({ reference, kind }) => [reference, kind])).toEqual([
        ['step:1', 'step'],
        [`operation:${newOperation(ref, 1).id}`, 'toolCall'],
        [`operation:${newOperation(ref, 1, { ordinal: 2 }).id}`, 'toolCall'],
        ['step:2', 'step'],
      ]);
      expect(await store.journal.carry({ ref, events: [] })).toEqual(totals);
    });

    test('judged calls name the operations of their step, unless the verdict came too late', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      for (const step of [1, 2, 3]) await createdOperation(store, ref, { step, argumentHash: 'same' });
      await store.journal.carry({ ref, events: [judgedEvent(1, 1), judgedEvent(2, 2, { rule: 'ignored' })] });
      const named = await store.operations.findEquivalent(ref, {
        tool: 'assign_ticket',
        argumentHash: 'same',
        step: 4,
        beforeOrdinal: 1,
      });
      expect(named.map(({ step }) => step)).toEqual([1]);
    });
  });
};
