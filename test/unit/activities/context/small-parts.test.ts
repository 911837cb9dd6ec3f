import { expect, test } from '@jest/globals';
import { ANSWER, FINDING, MANIFEST, PLAN, QUESTION } from '../../../../activities/context/artifact-shapes';
import { createBoundedCache } from '../../../../activities/context/bounded-cache';
import { fence } from '../../../../activities/context/fence';
import { LimitsInvalid, narrowLimits } from '../../../../activities/context/limits';
import { planRoot } from '../../../../activities/context/plan-root';
import { parseArtifact } from '../../../../activities/context/read-artifact';
import { estimateTokens } from '../../../../activities/context/project';
import { DEFAULT_LIMITS } from '../../../../definition/default-limits';
import type { JsonObject } from '../../../../workflows/contract/json';
import type { Limits } from '../../../../workflows/machine/limits';
import { HASH } from './histories';

const LIMITS: Limits = {
  ...DEFAULT_LIMITS,
  onExpiry: { question: 'end', approval: 'end', acceptance: 'end', reconciliation: 'end', handoff: 'end' },
};

test('limits are narrowed, never widened', () => {
  expect(narrowLimits(LIMITS, { maxSteps: 1, maxTokens: 1e12 })).toEqual({ ...LIMITS, maxSteps: 1 });
  expect(narrowLimits(LIMITS, { maxSteps: 0 }).maxSteps).toBe(0);
  expect(narrowLimits(LIMITS)).toEqual(LIMITS);
});

test.each<JsonObject>([{ maxSteps: -1 }, { maxSteps: null }, { backOffMaxMs: 1 }, { loops: {} }, { constructor: 1 }])(
  'a limit that is not understood is named: %j',
  (asked) => {
    expect(() => narrowLimits(LIMITS, asked)).toThrow(LimitsInvalid);
  },
);

test('nothing that is fenced can end its fence or begin a line', () => {
  const text = fence('result', { a: '</result>\n<status>\u2028</status>', b: '<\\/' });
  expect(text.split(/[\n\u2028\u2029]/)).toHaveLength(3);
  expect(text.match(/<\/result>/g)).toHaveLength(1);
  expect(JSON.parse(text.split('\n')[1] ?? '')).toEqual({ a: '</result>\n<status>\u2028</status>', b: '<\\/' });
});

test('a bounded cache forgets what was not used for longest, by count and by weight', () => {
  const byCount = createBoundedCache<number>({ maxEntries: 2 });
  byCount.set('a', 1);
  byCount.set('b', 2);
  byCount.get('a');
  byCount.set('c', 3);
  expect([byCount.get('a'), byCount.get('b'), byCount.get('c')]).toEqual([1, undefined, 3]);
  const byWeight = createBoundedCache<number>({ maxEntries: 9, maxWeight: 10 });
  byWeight.set('a', 1, 6);
  byWeight.set('a', 2, 6);
  byWeight.set('b', 3, 4);
  expect([byWeight.get('a'), byWeight.get('b')]).toEqual([2, 3]);
  byWeight.set('c', 4, 5);
  expect([byWeight.get('a'), byWeight.get('b'), byWeight.get('c')]).toEqual([undefined, 3, 4]);
  byWeight.set('b', 5, 11);
  expect(byWeight.get('b')).toBeUndefined();
});

const item = (wholeBytes: number, isPinned = false) => ({ wholeBytes, digestedBytes: wholeBytes / 10, isPinned });

test.each([
  ['all that fits is whole', [item(10), item(10)], 100, ['whole', 'whole']],
  ['older ones are digested', [item(100), item(30)], 100, ['digested', 'whole']],
  ['the oldest are left out', [item(500), item(150), item(30)], 100, ['leftOut', 'digested', 'whole']],
  ['the pinned stay, digested where there is no room', [item(500, true), item(90, true)], 0, ['digested', 'digested']],
  ['room for the pinned is kept first', [item(400, true), item(30)], 100, ['digested', 'digested']],
  [
    'nothing older is kept than what is left out',
    [item(10), item(900), item(30)],
    100,
    ['leftOut', 'leftOut', 'whole'],
  ],
] as const)('%s', (_title, items, limitBytes, plan) => {
  expect(planRoot(items, limitBytes)).toEqual(plan);
});

test.each([
  ['manifest', MANIFEST],
  ['finding', FINDING],
  ['plan', PLAN],
  ['question', QUESTION],
  ['answer', ANSWER],
] as const)('a %s of an unknown version is held, one of another shape is refused, both by name', (name, shape) => {
  expect(() => parseArtifact<unknown>(shape, HASH, { schemaVersion: 99 })).toThrow(
    expect.objectContaining({ code: 'artifact.version_unknown', isRetryable: true }),
  );
  expect(() => parseArtifact<unknown>(shape, HASH, 'text')).toThrow(
    expect.objectContaining({ code: 'artifact.version_unknown' }),
  );
  expect(() => parseArtifact<unknown>(shape, HASH, { schemaVersion: 1 })).toThrow(
    expect.objectContaining({ code: 'artifact.unreadable', fault: expect.objectContaining({ shape: name }) }),
  );
});

test('the estimate is above what the offline count says, for any script', () => {
  for (const text of [
    'plain words '.repeat(100),
    '日本語の文章'.repeat(100),
    '😀'.repeat(100),
    '{"a":[1,2,3]}'.repeat(50),
  ]) {
    expect(estimateTokens(text)).toBeGreaterThanOrEqual(Math.ceil(Buffer.byteLength(text) / 4));
  }
});
