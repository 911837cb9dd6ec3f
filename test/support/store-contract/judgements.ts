/** What is stored together: a judgement, and artifacts with the row that names them. */
import { describe, expect, test } from '@jest/globals';
import type { DecisionRow } from '../../../store/rows';
import type { StoreUnderTest } from './fixtures';
import { createdOperation, hashFrom, inParallel, newAttempt, newOperation, startedRun, usage } from './fixtures';

const decision = (changes: Partial<DecisionRow> = {}): DecisionRow => ({
  step: 1,
  attempt: 1,
  ordinal: 0,
  validator: 'structure',
  validatorVersion: '1',
  phase: 'proposal',
  try: 1,
  inputHash: hashFrom('input'),
  verdict: 'pass',
  evidence: {},
  ...changes,
});

export const describeJudgements = (under: () => StoreUnderTest): void => {
  describe('judgements', () => {
    test('decisions, operations and artifacts are there together', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const args = store.artifacts.draftJson(ref.tenant, { ticket: 'a' });
      const page = store.artifacts.draft(ref.tenant, { bytes: Buffer.from('<p>'), mediaType: 'text/html' });
      expect(await other.artifacts.get(ref.tenant, args.hash)).toBeUndefined();
      const [two, one] = [newOperation(ref, 1, { ordinal: 2 }), newOperation(ref, 1, { arguments: args.hash })];
      const rows = await store.judgements.record(ref, {
        decisions: [decision(), decision({ ordinal: 1 })],
        operations: [two, one],
        // The same content twice is one artifact.
        artifacts: [args, page, args],
      });
      expect(rows).toMatchObject([
        { ...two, state: 'CREATED' },
        { ...one, state: 'CREATED' },
      ]);
      expect(await other.decisions.list(ref)).toMatchObject([decision(), decision({ ordinal: 1 })]);
      expect(await other.artifacts.getJson(ref.tenant, args.hash)).toEqual({ ticket: 'a' });
      expect(await other.artifacts.get(ref.tenant, page.hash)).toMatchObject({ mediaType: 'text/html' });
    });

    test('judging again, or otherwise, gives what is stored', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const first = { decisions: [decision()], operations: [newOperation(ref, 1)], artifacts: [] };
      const stored = await store.judgements.record(ref, first);
      const again = await other.judgements.record(ref, {
        decisions: [decision({ verdict: 'fail' })],
        operations: [newOperation(ref, 1, { tool: 'another' }), newOperation(ref, 1, { ordinal: 2 })],
        artifacts: [],
      });
      expect(again).toMatchObject([stored[0], { ordinal: 2 }]);
      expect(await store.decisions.list(ref)).toMatchObject([{ verdict: 'pass' }]);
    });

    test('one that ends in no call, and one of nothing at all', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const answer = store.artifacts.draftJson(ref.tenant, { answer: 'yes' });
      const ended = { decisions: [decision()], operations: [], artifacts: [answer] };
      expect(await store.judgements.record(ref, ended)).toEqual([]);
      expect(await store.artifacts.getJson(ref.tenant, answer.hash)).toEqual({ answer: 'yes' });
      expect(await store.judgements.record(ref, { decisions: [], operations: [], artifacts: [] })).toEqual([]);
      expect(await store.decisions.list(ref)).toHaveLength(1);
    });

    test('parallel judges store one judgement', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const names = ['a', 'b', 'c', 'd'];
      const drafts = names.map((name) => store.artifacts.draftJson(ref.tenant, { name }));
      const stored = await inParallel(12, (index) =>
        (index % 2 === 0 ? store : other).judgements.record(ref, {
          decisions: [decision(), decision({ ordinal: 1 })],
          operations: [newOperation(ref, 1, { tool: `tool_${String(index)}` }), newOperation(ref, 1, { ordinal: 2 })],
          artifacts: index % 3 === 0 ? [...drafts].reverse() : drafts,
        }),
      );
      expect(new Set(stored.map((rows) => JSON.stringify(rows))).size).toBe(1);
      expect(await store.operations.list(ref)).toEqual(stored[0]);
      expect(await store.decisions.list(ref)).toHaveLength(2);
    });
  });

  describe('artifacts with the row that names them', () => {
    test('a candidate is stored with the end of its attempt, also of one that is lost', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      for (const attempt of [1, 2]) {
        await store.attempts.open({ ref, events: [] }, newAttempt(1, attempt));
        if (attempt === 2) {
          const key = { step: 1, attempt, context: hashFrom('context 1'), estimate: usage(1) };
          await store.attempts.collect({ ref, events: [] }, key);
        }
        const candidate = store.artifacts.draftJson(ref.tenant, { attempt });
        await store.attempts.end(
          { ref, step: 1, attempt },
          {
            state: 'STORED',
            outcome: { kind: 'candidateStored' },
            candidate: candidate.hash,
            usage: usage(5),
            artifacts: [candidate],
          },
        );
        expect(await store.artifacts.getJson(ref.tenant, candidate.hash)).toEqual({ attempt });
      }
      expect(await store.attempts.list(ref)).toMatchObject([{ state: 'STORED' }, { state: 'LOST' }]);
    });

    test('a result is stored with the end of its read; the first one is named', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const id = await createdOperation(store, ref, { effect: 'read' });
      const ends = await inParallel(6, (index) => {
        const output = store.artifacts.draftJson(ref.tenant, { index });
        const result = { state: 'SUCCEEDED' as const, output: output.hash, artifacts: [output] };
        return (index % 2 === 0 ? store : other).operations.recordRead(ref, id, result);
      });
      const named = new Set(ends.map(({ output }) => output));
      expect(named.size).toBe(1);
      const [output = hashFrom('none')] = [...named];
      expect(await store.artifacts.getJson(ref.tenant, output)).toHaveProperty('index');
    });
  });
};
