import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RowMissing } from '../../../store/errors';
import type { Usage } from '../../../store/rows';
import type { Store } from '../../../store/store';
import type { RunRef } from '../../../workflows/contract/records';
import { NO_TOTALS, type Totals } from '../../../workflows/machine/ledger';
import type { StoreUnderTest } from './fixtures';
import {
  event,
  GRANT,
  createdOperation,
  hashFrom,
  inParallel,
  newAttempt,
  readEvent,
  startedRun,
  stepEvent,
  usage,
} from './fixtures';

export const describeAttempts = (under: () => StoreUnderTest): void => {
  describe('attempts and the ledger', () => {
    test('opening carries the events, reserves, and is asked again without effect', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const carried = { ref, events: [stepEvent(1, 1)] };
      const first = await store.attempts.open(carried, newAttempt(1, 1));
      expect(first).toMatchObject({
        kind: 'opened',
        isNew: true,
        row: { state: 'OPEN', step: 1, attempt: 1, usage: { inputTokens: 1_000, isEstimate: true } },
        totals: { steps: 1, attempts: 1, inputTokens: 1_000, estimatedTokens: 1_000, costMicros: 3_000 },
      });
      const again = await store.attempts.open(carried, newAttempt(1, 1, 9));
      expect(again).toEqual({ ...first, isNew: false });
      expect(await store.runs.get(ref)).toMatchObject({ state: 'MODEL_RUNNING', step: 1 });
      expect(await store.ledger.entries(ref)).toMatchObject([
        { reference: 'step:1', kind: 'step', isOpen: false },
        { reference: 'attempt:1.1', kind: 'attempt', isOpen: true },
      ]);
    });

    test('none is opened once a cancel was asked for; one that is open stays', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const first = await store.attempts.open({ ref, events: [stepEvent(1, 1)] }, newAttempt(1, 1));
      await store.runs.requestCancel(ref);

      const refused = await store.attempts.open({ ref, events: [stepEvent(2, 2)] }, newAttempt(2, 1));

      expect(refused).toMatchObject({ kind: 'cancelRequested', totals: { attempts: 1, steps: 2 } });
      expect(await store.attempts.open({ ref, events: [] }, newAttempt(1, 1))).toEqual({
        ...first,
        isNew: false,
        totals: refused.totals,
      });
      expect(await store.attempts.list(ref)).toHaveLength(1);
      expect(await store.ledger.entries(ref)).toHaveLength(3);
    });

    test('of ten parallel openings of one attempt, one is new', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const opened = await inParallel(10, (index) =>
        (index % 2 === 0 ? store : other).attempts.open({ ref, events: [stepEvent(1, 1)] }, newAttempt(1, 1)),
      );
      expect(opened.filter((each) => each.kind === 'opened' && each.isNew)).toHaveLength(1);
      expect(await store.ledger.totals(ref)).toMatchObject({ attempts: 1, inputTokens: 1_000 });
    });

    test('the real usage takes the place of the reservation; the first end stays', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      await store.attempts.open({ ref, events: [] }, newAttempt(1, 1));
      const end = {
        state: 'STORED' as const,
        outcome: { kind: 'candidateStored', note: 'a\0\ud83d' },
        candidate: hashFrom('candidate'),
        usage: usage(700, { outputTokens: 50, cacheReadTokens: 7, cacheWriteTokens: 3, costMicros: 10.2 }),
      };
      const ended = await store.attempts.end({ ref, step: 1, attempt: 1 }, end);
      expect(ended.row).toMatchObject({ state: 'STORED', candidate: hashFrom('candidate'), outcome: end.outcome });
      expect(ended.totals).toEqual({
        ...NO_TOTALS,
        attempts: 1,
        inputTokens: 700,
        outputTokens: 50,
        cacheReadTokens: 7,
        cacheWriteTokens: 3,
        costMicros: 11,
      });
      const second = { state: 'FAILED' as const, outcome: { kind: 'attemptFailed' }, usage: usage(9_999) };
      expect(await store.attempts.end({ ref, step: 1, attempt: 1 }, second)).toEqual(ended);
      expect(await store.attempts.list(ref)).toEqual([ended.row]);
      await expect(store.attempts.end({ ref, step: 1, attempt: 2 }, second)).rejects.toThrow(RowMissing);
    });

    test('a reservation that does not fit opens nothing, and what is open already stays open', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const limits = { maxTokens: 1_500, maxCostMicros: 10_000 };
      const carried = { ref, events: [stepEvent(1, 1)] };
      await store.attempts.open(carried, { ...newAttempt(1, 1), limits });
      expect(await store.attempts.open(carried, { ...newAttempt(1, 2, 501), limits })).toMatchObject({
        kind: 'budgetSpent',
        budget: 'tokens',
        totals: { attempts: 1, inputTokens: 1_000 },
      });
      const dear = { ...newAttempt(1, 2, 100), reservation: usage(100, { costMicros: 7_001 }), limits };
      expect(await store.attempts.open(carried, dear)).toMatchObject({ kind: 'budgetSpent', budget: 'cost' });
      expect(await store.attempts.open(carried, { ...newAttempt(1, 2, 500), limits })).toMatchObject({
        kind: 'opened',
      });
      expect(await store.attempts.open(carried, { ...newAttempt(1, 1), limits })).toMatchObject({ isNew: false });
      expect(await store.attempts.list(ref)).toHaveLength(2);
    });

    test('collecting makes an open attempt LOST with its estimate, and leaves an ended one alone', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      await store.attempts.open({ ref, events: [] }, newAttempt(1, 1));
      await store.attempts.open({ ref, events: [] }, newAttempt(1, 2));
      await store.attempts.end(
        { ref, step: 1, attempt: 2 },
        { state: 'STORED', outcome: { kind: 'candidateStored' }, candidate: hashFrom('c'), usage: usage(5) },
      );
      const collect = (attempt: number) =>
        store.attempts.collect(
          { ref, events: [event(1, { to: 'MODEL_RUNNING' })] },
          { step: 1, attempt, context: hashFrom('context 1'), estimate: usage(77) },
        );
      const lost = await collect(1);
      expect(lost).toMatchObject({
        row: { state: 'LOST', usage: { inputTokens: 1_000, isEstimate: true } },
        totals: { attempts: 2, inputTokens: 1_005, estimatedTokens: 1_000 },
      });
      expect(await collect(1)).toEqual(lost);
      expect((await collect(2)).row).toMatchObject({ state: 'STORED', candidate: hashFrom('c') });
      expect((await collect(3)).row).toMatchObject({ state: 'LOST', usage: { inputTokens: 77, isEstimate: true } });
      expect((await store.ledger.entries(ref)).every(({ isOpen }) => !isOpen)).toBe(true);
      expect(await store.attempts.open({ ref, events: [] }, newAttempt(1, 3))).toMatchObject({
        isNew: false,
        row: { state: 'LOST' },
      });
    });

    test('who ends after LOST changes the account by the difference, and brings no candidate', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const key = { ref, step: 1, attempt: 1 };
      await store.attempts.open({ ref, events: [] }, newAttempt(1, 1));
      await store.attempts.collect({ ref, events: [] }, { ...key, context: hashFrom('context 1'), estimate: usage(1) });
      const end = {
        state: 'STORED' as const,
        outcome: { kind: 'candidateStored' },
        candidate: hashFrom('late'),
        usage: usage(600),
      };
      const late = await store.attempts.end(key, end);
      expect(late.row).toMatchObject({ state: 'LOST', usage: { inputTokens: 600, isEstimate: false } });
      expect(late.row.candidate).toBeUndefined();
      expect(late.totals).toMatchObject({ attempts: 1, inputTokens: 600, estimatedTokens: 0 });
      expect(await store.attempts.end(key, end)).toEqual(late);
      const lines = await store.journal.list(ref, { after: 0, limit: 10 });
      expect(lines).toMatchObject([
        {
          kind: 'outside',
          body: { kind: 'attemptLate', artifact: hashFrom('late'), estimate: { inputTokens: 1_000 } },
        },
      ]);
    });

    test('whatever happens to attempts and calls, in whatever order, the totals are the sum of the entries', async () => {
      const { store, other } = under();
      await fc.assert(
        fc.asyncProperty(fc.array(commands, { maxLength: 12 }), async (sequence) => {
          const ref = await startedRun(store);
          await Promise.all(sequence.map((command, index) => command(index % 2 === 0 ? store : other, ref)));
          expect(await store.ledger.totals(ref)).toEqual(await sumEntries(store, ref));
        }),
        { numRuns: 25 },
      );
    });
  });
};

type Command = (store: Store, ref: RunRef) => Promise<unknown>;

const amounts = fc.record({
  inputTokens: fc.nat(1_000),
  outputTokens: fc.nat(1_000),
  cacheReadTokens: fc.nat(10),
  cacheWriteTokens: fc.nat(10),
  costMicros: fc.nat(5_000),
  isEstimate: fc.boolean(),
});
const numbers = fc.integer({ min: 1, max: 3 });

const commands: fc.Arbitrary<Command> = fc.oneof(
  fc.tuple(numbers, amounts).map(
    ([attempt, reservation]): Command =>
      (store, ref) =>
        store.attempts.open({ ref, events: [] }, { ...newAttempt(1, attempt), reservation }),
  ),
  fc.tuple(numbers, amounts).map(
    ([attempt, real]): Command =>
      (store, ref) =>
        store.attempts
          .end({ ref, step: 1, attempt }, { state: 'STORED', outcome: {}, candidate: hashFrom('c'), usage: real })
          .catch(onlyMissing),
  ),
  fc.tuple(numbers, amounts).map(
    ([attempt, estimate]): Command =>
      (store, ref) =>
        store.attempts.collect({ ref, events: [] }, { step: 1, attempt, context: hashFrom('c'), estimate }),
  ),
  fc.constant<Command>((store, ref) => store.journal.carry({ ref, events: [stepEvent(1, 1), readEvent(2, 1, 1)] })),
  numbers.map((step): Command => async (store, ref) => {
    const id = await createdOperation(store, ref, { step });
    await store.operations.dispatch(ref, id, { ...GRANT, maxToolCalls: 2 });
  }),
);

const onlyMissing = (error: unknown): void => {
  if (!(error instanceof RowMissing)) throw error;
};

const sumEntries = async (store: Store, ref: RunRef): Promise<Totals> => {
  const entries = await store.ledger.entries(ref);
  const count = (kind: string): number => entries.filter((entry) => entry.kind === kind).length;
  const sum = (of: (usage: Usage) => number): number => entries.reduce((total, entry) => total + of(entry.usage), 0);
  return {
    steps: count('step'),
    attempts: count('attempt'),
    toolCalls: count('toolCall'),
    inputTokens: sum((each) => each.inputTokens),
    outputTokens: sum((each) => each.outputTokens),
    cacheReadTokens: sum((each) => each.cacheReadTokens),
    cacheWriteTokens: sum((each) => each.cacheWriteTokens),
    costMicros: sum((each) => each.costMicros),
    estimatedTokens: sum((each) =>
      each.isEstimate ? each.inputTokens + each.outputTokens + each.cacheReadTokens + each.cacheWriteTokens : 0,
    ),
  };
};
