import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { operationIdOf } from '../../../workflows/contract/ids';
import type { RunRef } from '../../../workflows/contract/records';
import type { Store } from '../../../store/store';
import { createdOperation, fact, GRANT, judgedEvent, startedRun, type StoreUnderTest } from './fixtures';

/** What may happen to the operations of a run, in any order. */
type Happening =
  | { readonly kind: 'created' | 'dispatched' | 'settled' | 'doubted' | 'read' | 'looked'; readonly step: number }
  | { readonly kind: 'named'; readonly step: number };

const HAPPENINGS: fc.Arbitrary<readonly Happening[]> = fc.array(
  fc.record({
    kind: fc.constantFrom('created', 'dispatched', 'settled', 'doubted', 'read', 'looked', 'named'),
    step: fc.integer({ min: 1, max: 4 }),
  }),
  { minLength: 5, maxLength: 30 },
);

export const describeRemembered = (under: () => StoreUnderTest): void => {
  describe('operations and facts that were read before', () => {
    test('are those that a process which has read nothing before gets, whatever the other one did meanwhile', async () => {
      const { store, other, fresh } = under();
      await fc.assert(
        fc.asyncProperty(HAPPENINGS, async (happenings) => {
          const ref = await startedRun(store);
          let seq = 0;
          for (const happening of happenings) {
            seq += happening.kind === 'named' ? 1 : 0;
            await happen(other, ref, { ...happening, seq });
            await store.operations.list(ref);
          }
          const reader = fresh();
          const upTo = { step: 3, alsoOf: [operationIdOf(ref.run, 4, 1)] };
          const [operations, facts] = await Promise.all([store.operations.list(ref), store.facts.list(ref, upTo)]);
          expect(operations).toEqual(await reader.operations.list(ref));
          expect(facts).toEqual(await reader.facts.list(ref, upTo));
          await reader.close();
        }),
        { numRuns: 25 },
      );
    });

    test('what is done to a value that was read is not read by the next', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await createdOperation(store, ref, { effect: 'read' });
      const teams = fact('ticket:T100', 'teams', { value: ['billing'] });
      await store.operations.recordRead(ref, id, { state: 'SUCCEEDED', facts: [teams] });
      const upTo = { step: 1, alsoOf: [id] };

      const [first] = await store.facts.list(ref, upTo);
      if (Array.isArray(first?.value)) first.value.push('network');

      expect(await store.facts.list(ref, upTo)).toMatchObject([{ value: ['billing'] }]);
    });
  });
};

const happen = async (store: Store, ref: RunRef, { kind, step, seq }: Happening & { readonly seq: number }) => {
  const id = operationIdOf(ref.run, step, 1);
  if (kind === 'named') {
    await store.journal.carry({ ref, events: [judgedEvent(seq, step)] });
    return;
  }
  await createdOperation(store, ref, { step, target: `ticket:T${String(step)}` });
  const facts = [fact(`ticket:T${String(step % 2)}`, 'team', { value: seq })];
  if (kind === 'dispatched') await store.operations.dispatch(ref, id, GRANT);
  if (kind === 'settled') await store.operations.settle(ref, id, { state: 'SUCCEEDED', facts });
  if (kind === 'doubted') await store.operations.settle(ref, id, { state: 'UNKNOWN', code: 'OUTCOME_UNKNOWN' });
  if (kind === 'read') await store.operations.recordRead(ref, id, { state: 'FAILED', code: 'NOT_FOUND', facts });
  if (kind === 'looked') await store.operations.countPursuit(ref, id, 'lookUp', 0);
};
