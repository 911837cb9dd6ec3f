import { describe, expect, test } from '@jest/globals';
import type { OperationRow } from '../../../store/rows';
import type { Resolving } from '../../../store/store';
import { NO_TOTALS } from '../../../workflows/machine/ledger';
import type { OperationId } from '../../../workflows/contract/ids';
import type { OperationSummary, Result, RunRef } from '../../../workflows/contract/records';
import type { StoreUnderTest } from './fixtures';
import {
  createdOperation,
  dispatchedOperation,
  event,
  inParallel,
  LIMITS,
  newAttempt,
  newWait,
  startedRun,
  stepEvent,
  usage,
} from './fixtures';

const DISPATCH_OVER_MS = 31_000;

const toSummary = (row: OperationRow): OperationSummary => {
  const { id, tool, effect, state, generation, step, ordinal } = row;
  return { id, tool, effect, state, generation, step, ordinal };
};

export const describeResolutions = (under: () => StoreUnderTest): void => {
  /** Ends the run while those operations are open. */
  const endWith = async (ref: RunRef, ...ids: readonly OperationId[]): Promise<Result | undefined> => {
    const { store } = under();
    const operations = (await store.operations.list(ref)).filter(({ id }) => ids.includes(id)).map(toSummary);
    await store.runs.commit(
      { ref, events: [] },
      {
        terminal: 'CANCELLED',
        reason: 'cancelled',
        buildResult: (terminal) => ({
          schemaVersion: 1,
          run: ref.run,
          terminal,
          reason: 'cancelled',
          answer: 'Cancelled.',
          claims: [],
          operations,
          ledger: NO_TOTALS,
          warnings: ['usage.estimated: 5', ...operations.map(({ id }) => `operation.unproved: ${id}`)],
        }),
      },
    );
    return store.runs.result(ref);
  };

  const said = (
    operation: OperationId,
    state: NonNullable<Resolving['word']>['state'],
    id = 'resolution-1',
  ): Resolving => ({
    operation,
    by: { kind: 'person', subject: 'bob' },
    word: { id, state, why: 'the desk says so' },
  });

  describe('resolutions', () => {
    test('what is found out is the next version; the terminal and the version before stay for ever', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      await store.operations.settle(ref, id, { state: 'UNKNOWN' });
      const first = await endWith(ref, id);
      const ended = await store.runs.get(ref);
      expect(ended?.terminal).toBe('CANCEL_UNKNOWN');
      expect(await store.runs.resolve(ref, { operation: id, by: { kind: 'lookUp' } })).toEqual({
        kind: 'unchanged',
        result: first,
      });

      await store.operations.settle(ref, id, { state: 'SUCCEEDED' });
      const outcomes = await inParallel(6, (index) =>
        (index % 2 === 0 ? store : other).runs.resolve(ref, { operation: id, by: { kind: 'lookUp' } }),
      );

      expect(outcomes.filter(({ kind }) => kind === 'resolved')).toHaveLength(1);
      const second = await store.runs.result(ref);
      expect(second).toMatchObject({
        version: 2,
        terminal: 'CANCEL_UNKNOWN',
        operations: [{ id, state: 'SUCCEEDED' }],
        warnings: ['usage.estimated: 5'],
        resolutions: [{ operation: id, from: 'UNKNOWN', to: 'SUCCEEDED', by: { kind: 'lookUp' } }],
      });
      expect(second?.answer).toMatch(/^Cancelled\.\n[^]*assign_ticket: UNKNOWN → SUCCEEDED, by a look-up/);
      expect(await store.runs.result(ref, 2)).toEqual(second);
      expect(await store.runs.result(ref, 1)).toEqual(first);
      expect(await store.runs.result(ref, 3)).toBeUndefined();
      expect(await store.runs.get(ref)).toEqual(ended);
      const notes = await store.journal.list(ref, { after: 0, limit: 99 });
      expect(notes.at(-1)).toMatchObject({ eventId: 'resolution:2', body: { kind: 'resolution', version: 2 } });
    });

    test('of two operations each brings a version of its own, and the last one holds both', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const ids = [
        await dispatchedOperation(store, ref, { ordinal: 1 }),
        await dispatchedOperation(store, ref, { ordinal: 2 }),
      ];
      await endWith(ref, ...ids);
      await inParallel(2, async (index) => {
        const id = ids[index] ?? ids[0];
        if (id === undefined) throw new Error('no operation');
        await store.operations.settle(ref, id, { state: 'FAILED' });
        await (index === 0 ? store : other).runs.resolve(ref, { operation: id, by: { kind: 'poll' } });
      });
      const result = await store.runs.result(ref);
      expect(result).toMatchObject({ version: 3, operations: [{ state: 'FAILED' }, { state: 'FAILED' }] });
      expect(result?.resolutions?.map(({ operation }) => operation).sort()).toEqual([...ids].sort());
      expect(result?.answer.match(/Found out since/g)).toHaveLength(1);
    });

    test.each([
      ['UNKNOWN', 'SUCCEEDED', 'SUCCEEDED'],
      ['UNKNOWN', 'NOT_EXECUTED', 'CANCELLED'],
      ['UNRESOLVED', 'FAILED', 'FAILED'],
      ['UNRESOLVED', 'NOT_EXECUTED', 'CANCELLED'],
      ['ACCEPTED', 'NOT_EXECUTED', 'CANCELLED'],
      ['RUNNING', 'SUCCEEDED', 'SUCCEEDED'],
      ['DISPATCHED', 'NOT_EXECUTED', 'CANCELLED'],
    ] as const)('a person says of one that is %s: %s', async (state, word, becomes) => {
      const { store, advance } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      if (state === 'UNRESOLVED') await store.operations.settle(ref, id, { state: 'UNKNOWN' });
      if (state !== 'DISPATCHED') await store.operations.settle(ref, id, { state });
      await endWith(ref, id);
      advance(DISPATCH_OVER_MS);

      const outcome = await store.runs.resolve(ref, said(id, word));

      expect(await store.operations.get(ref, id)).toMatchObject({ state: becomes, openGenerations: [] });
      expect(outcome).toMatchObject({
        kind: 'resolved',
        result: {
          version: 2,
          operations: [{ state: becomes }],
          resolutions: [
            {
              id: 'resolution-1',
              from: state,
              to: word,
              by: { kind: 'person', subject: 'bob' },
              why: 'the desk says so',
            },
          ],
        },
      });
      const again = await store.runs.resolve(ref, said(id, word));
      expect(again).toEqual(outcome);
      expect(await store.runs.resolve(ref, said(id, word, 'resolution-2'))).toEqual({
        kind: 'settled',
        state: becomes,
      });
    });

    test('of several words at once one is taken', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      await store.operations.settle(ref, id, { state: 'UNKNOWN' });
      await endWith(ref, id);
      const outcomes = await inParallel(6, (index) =>
        (index % 2 === 0 ? store : other).runs.resolve(
          ref,
          said(id, index % 2 === 0 ? 'SUCCEEDED' : 'FAILED', `r${String(index)}`),
        ),
      );
      expect(outcomes.filter(({ kind }) => kind === 'resolved')).toHaveLength(1);
      expect(await store.runs.result(ref)).toMatchObject({ version: 2 });
    });

    test('nothing is resolved before the end, nor while the sender may still be sending', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      expect(await store.runs.resolve(ref, said(id, 'SUCCEEDED'))).toEqual({ kind: 'runNotEnded' });
      await endWith(ref, id);
      expect(await store.runs.resolve(ref, said(id, 'NOT_EXECUTED'))).toEqual({ kind: 'inFlight' });
      expect(await store.operations.get(ref, id)).toMatchObject({ state: 'DISPATCHED' });
    });
  });

  describe('ends from outside', () => {
    const closing = {
      reason: 'engine.terminated',
      eventId: 'closed:1',
      body: { kind: 'closed', status: 'TERMINATED' },
    };

    test('a run that the engine has closed fails with that reason, and leaves nothing open but what is unproved', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      await store.attempts.open({ ref, events: [stepEvent(1, 1)] }, { ...newAttempt(1, 1), limits: LIMITS });
      const created = await createdOperation(store, ref, { ordinal: 1 });
      const sent = await dispatchedOperation(store, ref, { ordinal: 2 });
      const { row: wait } = await store.waits.open({ ref, events: [] }, newWait(ref, 1));
      await store.runs.requestCancel(ref);
      expect(await store.runs.listUnended([ref.run])).toEqual([ref]);

      const outcomes = await inParallel(4, (index) =>
        (index % 2 === 0 ? store : other).runs.closeFromOutside(ref, closing),
      );

      expect(new Set(outcomes.map((outcome) => JSON.stringify(outcome)))).toEqual(
        new Set([JSON.stringify({ terminal: 'FAILED', reason: 'engine.terminated' })]),
      );
      expect(await store.runs.listUnended([ref.run])).toEqual([]);
      expect(await store.runs.get(ref)).toMatchObject({ state: 'FAILED', reason: 'engine.terminated', seq: 2 });
      expect(await store.operations.get(ref, created)).toMatchObject({ state: 'CANCELLED' });
      expect((await store.waits.read(ref, wait.id))?.row).toMatchObject({ state: 'VOID' });
      expect(await store.attempts.list(ref)).toMatchObject([{ state: 'LOST', usage: { isEstimate: true } }]);
      expect((await store.ledger.entries(ref)).filter(({ isOpen }) => isOpen)).toEqual([]);
      expect(await store.runs.result(ref)).toMatchObject({
        version: 1,
        terminal: 'FAILED',
        reason: 'engine.terminated',
        operations: [{ id: sent, state: 'DISPATCHED' }],
      });
      const lines = await store.journal.list(ref, { after: 0, limit: 9 });
      expect(lines.map(({ seq, eventId }) => seq ?? eventId)).toEqual([1, 'closed:1', 2]);
      const wakes = (await store.wakes.take({ limit: 1_000 })).filter((each) => each.ref.run === ref.run);
      expect(wakes.map(({ kind, subject }) => [kind, subject])).toEqual([['reconcile', sent]]);
      // Its attempt ends after all: what it has really cost takes the place of the estimate.
      await store.attempts.end(
        { ref, step: 1, attempt: 1 },
        { state: 'FAILED', outcome: { kind: 'attemptFailed' }, usage: usage(7) },
      );
      expect(await store.ledger.totals(ref)).toMatchObject({ inputTokens: 7, estimatedTokens: 0 });
    });

    test('one that has its terminal keeps it', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      await endWith(ref);
      const before = await store.journal.list(ref, { after: 0, limit: 9 });
      expect(await store.runs.closeFromOutside(ref, closing)).toEqual({ terminal: 'CANCELLED', reason: 'cancelled' });
      expect(await store.journal.list(ref, { after: 0, limit: 9 })).toEqual(before);
      await store.journal.carry({ ref, events: [event(1, { to: 'FINALIZING', event: 'cancelRequested' })] });
    });
  });
};
