import { describe, expect, test } from '@jest/globals';
import { evidenceIdOf, parseRunId } from '../../../workflows/contract/ids';
import type { StoreUnderTest } from './fixtures';
import {
  createdOperation,
  dispatchedOperation,
  endAs,
  fact,
  inParallel,
  judgedEvent,
  LIMITS,
  newAttempt,
  newRef,
  newRun,
  startedRun,
  stepEvent,
  usage,
} from './fixtures';

export const describeReopened = (under: () => StoreUnderTest): void => {
  describe('a run that reopens another', () => {
    const endedRun = async () => {
      const { store } = under();
      const ref = await startedRun(store);
      await store.attempts.open({ ref, events: [stepEvent(1, 1)] }, { ...newAttempt(1, 1), limits: LIMITS });
      await store.attempts.end(
        { ref, step: 1, attempt: 1 },
        { state: 'STORED', outcome: { kind: 'candidateStored' }, usage: usage(70, { outputTokens: 5 }) },
      );
      const done = await dispatchedOperation(store, ref, { step: 1, ordinal: 1 });
      await createdOperation(store, ref, { step: 2, ordinal: 1 });
      await store.journal.carry({ ref, events: [judgedEvent(2, 1)] });
      const evidence = evidenceIdOf(1, 1);
      const facts = [fact('ticket:T100', 'team', { evidence }), fact('ticket:T100', 'state', { evidence })];
      await store.operations.settle(ref, done, { state: 'SUCCEEDED', evidence, facts });
      await store.runs.commit({ ref, events: [] }, endAs(ref, 'FAILED'));
      return { ref, done };
    };

    test('begins with its step, its account, its facts and its operations; started at once by many it does so once', async () => {
      const { store, other } = under();
      const { ref: old, done } = await endedRun();
      const run = newRun(newRef(old.tenant), { reopens: old.run, extension: { maxSteps: 99 } });
      const started = await inParallel(6, (index) => (index % 2 === 0 ? store : other).runs.start(run));

      expect(started.filter(({ isNew }) => isNew)).toHaveLength(1);
      for (const { row } of started) expect(row).toMatchObject({ step: 1, extension: { maxSteps: 99 } });
      expect(await store.ledger.totals(run.ref)).toEqual(await store.ledger.totals(old));
      expect(await store.ledger.entries(run.ref)).toEqual([
        {
          reference: `reopened:${old.run}`,
          kind: 'carried',
          isOpen: false,
          usage: usage(70, { outputTokens: 5 }),
        },
      ]);
      const facts = await store.facts.list(run.ref, { step: 1, alsoOf: [] });
      expect(facts).toEqual(await store.facts.list(old, { step: 9, alsoOf: [] }));
      expect(facts.map(({ field, operation }) => [field, operation])).toEqual([
        ['team', done],
        ['state', done],
      ]);
      expect((await store.operations.listCarried(run.ref)).map(({ id }) => id)).toEqual([done]);
      expect(await store.operations.list(run.ref)).toEqual([]);
      expect(await store.operations.listCarried(old)).toEqual([]);
    });

    test('passes on what was passed on to it, and later facts of its own supersede', async () => {
      const { store } = under();
      const { ref: first, done } = await endedRun();
      const middle = await startedRun(store, { ref: newRef(first.tenant), reopens: first.run });
      const own = await dispatchedOperation(store, middle, { step: 2, ordinal: 1 });
      await store.journal.carry({ ref: middle, events: [judgedEvent(1, 2)] });
      const evidence = evidenceIdOf(2, 1);
      const newer = fact('ticket:T100', 'team', { value: 'other', evidence });
      await store.operations.settle(middle, own, { state: 'SUCCEEDED', evidence, facts: [newer] });
      await store.runs.commit({ ref: middle, events: [] }, endAs(middle, 'FAILED'));

      const last = await startedRun(store, { ref: newRef(first.tenant), reopens: middle.run });

      expect(await store.facts.list(last, { step: 2, alsoOf: [] })).toMatchObject([
        { field: 'state', operation: done },
        { field: 'team', value: 'other', operation: own },
      ]);
      expect((await store.operations.listCarried(last)).map(({ id }) => id)).toEqual([done, own]);
      expect(await store.ledger.totals(last)).toMatchObject({ inputTokens: 70, toolCalls: 2 });
    });

    test('one that names a run which is not there, or another tenant’s, begins with nothing', async () => {
      const { store } = under();
      const { ref: old } = await endedRun();
      for (const reopens of [parseRunId('run_nowhere1'), old.run]) {
        const ref = await startedRun(store, { reopens });
        expect(await store.ledger.entries(ref)).toEqual([]);
        expect(await store.facts.list(ref, { step: 9, alsoOf: [] })).toEqual([]);
        expect(await store.operations.listCarried(ref)).toEqual([]);
      }
    });
  });
};
