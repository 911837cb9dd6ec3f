import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RowMissing } from '../../../store/errors';
import type { DecisionRow } from '../../../store/rows';
import { evidenceIdOf } from '../../../workflows/contract/ids';
import type { StoreUnderTest } from './fixtures';
import {
  createdOperation,
  dispatchedOperation,
  fact,
  hashFrom,
  inParallel,
  judgedEvent,
  newRef,
  startedRun,
} from './fixtures';

export const describeRecords = (under: () => StoreUnderTest): void => {
  describeArtifacts(under);
  describeFacts(under);
  describeDecisions(under);
};

const describeArtifacts = (under: () => StoreUnderTest): void => {
  describe('artifacts', () => {
    test('bytes are addressed by their SHA-256 and come back as they were', async () => {
      const { store, other } = under();
      const { tenant } = newRef();
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ maxLength: 2_000 }), async (bytes) => {
          const hash = await store.artifacts.put(tenant, { bytes, mediaType: 'application/octet-stream' });
          expect(hash).toBe(createHash('sha256').update(bytes).digest('hex'));
          const stored = await other.artifacts.get(tenant, hash);
          expect(Buffer.from(stored?.bytes ?? []).equals(bytes)).toBe(true);
        }),
        { numRuns: 30 },
      );
    });

    test('the first media type stays, and parallel puts agree', async () => {
      const { store, other } = under();
      const { tenant } = newRef();
      const bytes = Buffer.from('\0<p>\ufeff');
      const hashes = await inParallel(8, (index) =>
        (index % 2 === 0 ? store : other).artifacts.put(tenant, { bytes, mediaType: 'text/html' }),
      );
      await store.artifacts.put(tenant, { bytes, mediaType: 'text/plain' });
      expect(new Set(hashes).size).toBe(1);
      expect(await store.artifacts.get(tenant, hashes[0] ?? hashFrom(''))).toMatchObject({ mediaType: 'text/html' });
    });

    test('five megabytes come back', async () => {
      const { store } = under();
      const { tenant } = newRef();
      const bytes = Buffer.alloc(5_000_000, '\ufeff');
      const hash = await store.artifacts.put(tenant, { bytes, mediaType: 'text/plain' });
      expect(Buffer.from((await store.artifacts.get(tenant, hash))?.bytes ?? []).equals(bytes)).toBe(true);
    });

    test('JSON is stored in its RFC 8785 form, well-formed, with nothing lost that JSON can say', async () => {
      const { store } = under();
      const { tenant } = newRef();
      const value = { b: ['a\0b', '9223372036854775807', 1e21, -0], a: { '\0': null, '\ud83d': 'x\ud83d' } };
      const hash = await store.artifacts.putJson(tenant, value);
      expect(hash).toBe(await store.artifacts.putJson(tenant, { a: value.a, b: value.b }));
      const stored = await store.artifacts.get(tenant, hash);
      expect(stored?.mediaType).toBe('application/json');
      const text = '{"a":{"\\u0000":null,"\ufffd":"x\ufffd"},"b":["a\\u0000b","9223372036854775807",1e+21,0]}';
      expect(Buffer.from(stored?.bytes ?? []).toString()).toBe(text);
      expect(await store.artifacts.getJson(tenant, hash)).toEqual(JSON.parse(text));
    });

    test('what is not there is undefined, or RowMissing where it is needed', async () => {
      const { store } = under();
      const { tenant } = newRef();
      expect(await store.artifacts.get(tenant, hashFrom('none'))).toBeUndefined();
      await expect(store.artifacts.getJson(tenant, hashFrom('none'))).rejects.toThrow(RowMissing);
    });
  });
};

const describeFacts = (under: () => StoreUnderTest): void => {
  describe('facts', () => {
    test('count once their operation is named, or for who asks by name; the latest on a field counts', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const read = async (step: number, ordinal: number, team: string): Promise<void> => {
        const id = await createdOperation(store, ref, { step, ordinal, effect: 'read' });
        await store.operations.recordRead(ref, id, {
          state: 'SUCCEEDED',
          facts: [
            fact('ticket:T100', 'team', { value: team, evidence: evidenceIdOf(step, ordinal) }),
            fact(`ticket:T${String(step)}`, 'open', { value: null, evidence: evidenceIdOf(step, ordinal) }),
          ],
        });
      };
      await read(1, 1, 'billing');
      await read(2, 2, 'network');
      await read(2, 1, 'storage');
      await read(3, 1, 'legal');
      const list = async (step: number, alsoOf: readonly Awaited<ReturnType<typeof createdOperation>>[] = []) =>
        (await store.facts.list(ref, { step, alsoOf })).map(({ object, field, value }) => [object, field, value]);
      expect(await list(3)).toEqual([]);
      await store.journal.carry({ ref, events: [judgedEvent(1, 1), judgedEvent(2, 2)] });
      expect(await list(1)).toEqual([
        ['ticket:T100', 'team', 'billing'],
        ['ticket:T1', 'open', null],
      ]);
      const upToTwo = [
        ['ticket:T1', 'open', null],
        ['ticket:T100', 'team', 'network'],
        ['ticket:T2', 'open', null],
      ];
      expect(await list(2)).toEqual(upToTwo);
      expect(await list(3)).toEqual(upToTwo);
      const third = await store.operations.list(ref);
      expect(await list(3, [third[3]?.id ?? (await createdOperation(store, ref))])).toEqual([
        ['ticket:T1', 'open', null],
        ['ticket:T2', 'open', null],
        ['ticket:T100', 'team', 'legal'],
        ['ticket:T3', 'open', null],
      ]);
    });

    test('a write has the last word over the reads beside it, which may have seen the version before', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const write = await dispatchedOperation(store, ref, { ordinal: 1 });
      const read = await createdOperation(store, ref, { ordinal: 2, effect: 'read' });
      const later = await createdOperation(store, ref, { step: 2, ordinal: 1, effect: 'read' });
      const team = (version: string) => [fact('ticket:T100', 'team', { value: `at ${version}`, version })];
      await store.operations.settle(ref, write, { state: 'SUCCEEDED', facts: team('4') });
      await store.operations.recordRead(ref, read, { state: 'SUCCEEDED', facts: team('3') });
      const list = async (step: number) =>
        (await store.facts.list(ref, { step, alsoOf: [write, read, later] })).map(({ value }) => value);
      expect(await list(1)).toEqual(['at 4']);
      await store.operations.recordRead(ref, later, { state: 'SUCCEEDED', facts: team('5') });
      expect(await list(2)).toEqual(['at 5']);
    });

    test('later news about one operation comes after its earlier facts', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const id = await dispatchedOperation(store, ref);
      const version = 'W/"\0"';
      await store.operations.settle(ref, id, {
        state: 'ACCEPTED',
        facts: [fact('job:\ud83d', 'state', { value: { a: [1] } })],
      });
      await store.operations.settle(ref, id, {
        state: 'SUCCEEDED',
        facts: [fact('job:\ud83d', 'state', { value: 'x\0', version })],
      });
      expect(await store.facts.list(ref, { step: 1, alsoOf: [id] })).toEqual([
        { object: 'job:\ud83d', field: 'state', value: 'x\0', version, evidence: 'E1.1', operation: id, step: 1 },
      ]);
    });
  });
};

const describeDecisions = (under: () => StoreUnderTest): void => {
  const decision = (changes: Partial<DecisionRow> = {}): DecisionRow => ({
    step: 1,
    attempt: 1,
    ordinal: 1,
    validator: 'policy',
    validatorVersion: '1',
    phase: 'proposal',
    try: 1,
    inputHash: hashFrom('input'),
    verdict: 'pass',
    evidence: { policies: ['p\0'] },
    ...changes,
  });

  describe('decisions', () => {
    test('judging again gives what is stored, in the order asked for', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const first = await store.decisions.record(ref, [
        decision(),
        decision({ ordinal: 2, verdict: 'fail', code: 'x.y' }),
      ]);
      expect(first).toMatchObject([decision(), decision({ ordinal: 2, verdict: 'fail', code: 'x.y' })]);
      const again = await other.decisions.record(ref, [
        decision({ ordinal: 2, verdict: 'pass' }),
        decision({ verdict: 'ask', validatorVersion: '2' }),
      ]);
      expect(again).toEqual([first[1], first[0]]);
      expect(await store.decisions.list(ref)).toEqual(first);
      expect(await store.decisions.record(ref, [])).toEqual([]);
    });

    test('every part of the key makes a decision of its own', async () => {
      const { store } = under();
      const ref = await startedRun(store);
      const all = [
        decision(),
        decision({ step: 2 }),
        decision({ attempt: 2 }),
        decision({ ordinal: 2 }),
        decision({ validator: 'schema' }),
        decision({ phase: 'dispatch' }),
        decision({ phase: 'dispatch', try: 2 }),
        decision({ inputHash: hashFrom('other') }),
      ];
      const stored = await store.decisions.record(ref, all);
      expect(new Set(stored.map(({ id }) => id)).size).toBe(all.length);
      expect(await store.decisions.list(ref, 2)).toEqual([stored[1]]);
      expect(await store.decisions.list(ref)).toHaveLength(all.length);
    });

    test('parallel judges store one decision', async () => {
      const { store, other } = under();
      const ref = await startedRun(store);
      const verdicts = ['pass', 'fail', 'ask'] as const;
      const stored = await inParallel(9, (index) =>
        (index % 2 === 0 ? store : other).decisions.record(ref, [decision({ verdict: verdicts[index % 3] ?? 'pass' })]),
      );
      expect(new Set(stored.map((rows) => JSON.stringify(rows))).size).toBe(1);
    });
  });
};
