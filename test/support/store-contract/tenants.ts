import { describe, expect, test } from '@jest/globals';
import type { Store } from '../../../store/store';
import type { RunRef } from '../../../workflows/contract/records';
import type { StoreUnderTest } from './fixtures';
import {
  createdOperation,
  dispatchedOperation,
  endAs,
  event,
  GRANT,
  hashFrom,
  newAttempt,
  newRef,
  newRun,
  newWait,
  resultOf,
  startedRun,
  stepEvent,
  usage,
} from './fixtures';

/** Everything of a run that can be read. */
const readAll = async (store: Store, ref: RunRef) => ({
  run: await store.runs.get(ref),
  result: await store.runs.result(ref),
  messages: await store.runs.messages(ref, { after: 0, upTo: 99 }),
  journal: await store.journal.list(ref, { after: 0, limit: 99 }),
  machineEvents: await store.journal.machineEvents(ref),
  attempts: await store.attempts.list(ref),
  decisions: await store.decisions.list(ref),
  operations: await store.operations.list(ref),
  facts: await store.facts.list(ref, { step: 99, alsoOf: [] }),
  waits: await store.waits.list(ref.tenant, { run: ref.run, limit: 99 }),
  entries: await store.ledger.entries(ref),
});

const filledRun = async (store: Store, ref: RunRef): Promise<void> => {
  await startedRun(store, { ref });
  await store.attempts.open({ ref, events: [stepEvent(1, 1)] }, newAttempt(1, 1));
  const id = await dispatchedOperation(store, ref, { target: 'ticket:T100' });
  await store.operations.settle(ref, id, { state: 'ACCEPTED', job: 'J3' });
  await store.runs.changePlan(ref, { id: 'm1', kind: 'amend', body: {} });
  await store.waits.open({ ref, events: [] }, newWait(ref, 1, { planVersion: 2 }));
  await store.decisions.record(ref, [
    {
      step: 1,
      attempt: 1,
      ordinal: 1,
      validator: 'policy',
      validatorVersion: '1',
      phase: 'proposal',
      try: 1,
      inputHash: hashFrom('input'),
      verdict: 'pass',
      evidence: {},
    },
  ]);
};

export const describeTenants = (under: () => StoreUnderTest): void => {
  describe('tenants', () => {
    test('another tenant sees nothing of a run: every read is like that of a run that does not exist', async () => {
      const { store } = under();
      const mine = newRef();
      const theirs = { ...mine, tenant: newRef().tenant };
      await filledRun(store, mine);
      await store.runs.commit({ ref: mine, events: [] }, endAs(mine, 'FAILED'));
      const [operation] = await store.operations.list(mine);
      const [wait] = await store.waits.list(mine.tenant, { limit: 1 });
      if (operation === undefined || wait === undefined) throw new Error('the run is not filled');
      const hash = await store.artifacts.putJson(mine.tenant, { secret: 1 });

      expect(await readAll(store, theirs)).toEqual(await readAll(store, newRef()));
      expect(await store.operations.get(theirs, operation.id)).toBeUndefined();
      expect(await store.waits.read(theirs, wait.id)).toBeUndefined();
      expect(await store.artifacts.get(theirs.tenant, hash)).toBeUndefined();
      expect((await store.runs.list(theirs.tenant, { limit: 9 })).rows).toEqual([]);
      const like = { tool: operation.tool, argumentHash: operation.argumentHash, step: 9, beforeOrdinal: 9 };
      expect(await store.operations.findEquivalent(theirs, like)).toEqual([]);
    });

    test('another tenant’s writes under the same ids touch nothing of mine', async () => {
      const { store } = under();
      const mine = newRef();
      const theirs = { ...mine, tenant: newRef().tenant };
      await filledRun(store, mine);
      const before = await readAll(store, mine);

      const { row, isNew } = await store.runs.start(newRun(theirs, { agent: 'other' }));
      expect({ isNew, agent: row.agent }).toEqual({ isNew: true, agent: 'other' });
      await store.journal.carry({ ref: theirs, events: [event(1, { to: 'WAITING_USER' })] });
      await store.journal.note(theirs, { eventId: 'n', body: {} });
      await store.attempts.open({ ref: theirs, events: [] }, newAttempt(1, 1, 5));
      const end = { state: 'FAILED' as const, outcome: {}, usage: usage(1) };
      await store.attempts.end({ ref: theirs, step: 1, attempt: 1 }, end);
      const id = await createdOperation(store, theirs, { target: 'ticket:T100' });
      expect(await store.operations.dispatch(theirs, id, GRANT)).toMatchObject({
        kind: 'won',
        totals: { toolCalls: 1 },
      });
      await store.operations.settle(theirs, id, { state: 'FAILED' });
      await store.operations.countPursuit(theirs, id, 'poll', 1);
      await store.runs.changePlan(theirs, { id: 'm1', kind: 'withdraw', body: {} });
      await store.waits.open({ ref: theirs, events: [] }, newWait(theirs, 1));
      await store.runs.requestCancel(theirs);
      await store.runs.stopOperations({ ref: theirs, events: [] }, true);
      await store.runs.commit({ ref: theirs, events: [] }, endAs(theirs, 'CANCELLED'));

      expect(await readAll(store, mine)).toEqual(before);
      expect(await store.runs.result(theirs)).toEqual({ ...resultOf(theirs)('CANCELLED'), version: 1 });
    });
  });
};
