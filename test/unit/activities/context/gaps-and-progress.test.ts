import { expect, test } from '@jest/globals';
import { createFactsView } from '../../../../activities/context/facts-view';
import { findGaps } from '../../../../activities/context/find-gaps';
import { findClosed, measureProgress, type ProgressInput } from '../../../../activities/context/measure-progress';
import { chooseFacts } from '../../../../activities/context/shown-facts';
import type { CompletionView, Condition } from '../../../../definition/agent';
import type { CompiledAgent } from '../../../../definition/registry';
import type { OperationRow } from '../../../../store/rows';
import { evidenceIdOf, operationIdOf } from '../../../../workflows/contract/ids';
import type { Fact, Gap, OperationSummary } from '../../../../workflows/contract/records';
import { HASH, REF, RUN } from './histories';

const fact = (object: string, field: string, value: Fact['value'], step = 1): Fact => ({
  object,
  field,
  value,
  evidence: evidenceIdOf(step, 1),
});

test('of an object and field the newest fact counts, in its own place', () => {
  const view = createFactsView([
    fact('ticket:1', 'team', 'a'),
    fact('ticket:2', 'team', 'b'),
    fact('ticket:1', 'team', 'c', 2),
  ]);
  expect(view.find('ticket:1', 'team')?.value).toBe('c');
  expect(view.all.map(({ value }) => value)).toEqual(['b', 'c']);
});

test('names that look alike are told apart', () => {
  const view = createFactsView([fact('a:b","c', 'd', 1), fact('a:b', 'c","d', 2), fact('ab:1', 'x', 3)]);
  expect(view.find('a:b","c', 'd')?.value).toBe(1);
  expect(view.find('a:b', 'c","d')?.value).toBe(2);
  expect(view.ofKind('a', 'x')).toEqual([]);
  expect(view.find('__proto__', 'x')).toBeUndefined();
});

const agentWith = (...conditions: readonly Condition[]): CompiledAgent => parseAgent({ definition: { conditions } });
const parseAgent = (agent: unknown): CompiledAgent => agent as CompiledAgent;

const operation = (state: string, changes: Partial<OperationSummary> = {}): OperationSummary => ({
  id: operationIdOf(RUN, 1, 1),
  tool: 'charge',
  effect: 'write',
  state,
  generation: 1,
  step: 1,
  ordinal: 1,
  ...changes,
});

const viewOf = (operations: readonly OperationSummary[] = []): CompletionView => ({
  task: { goal: 'g', data: {} },
  facts: createFactsView([]),
  operations,
});

test('gaps are what conditions lack, in their order, and nothing where they are met', () => {
  const agent = agentWith(
    { name: 'one', check: () => ({ kind: 'gap', gap: { kind: 'fact', lacks: 'a team', needs: ['ticket:1.team'] } }) },
    { name: 'two', check: () => ({ kind: 'met' }) },
  );
  expect(findGaps(agent, viewOf())).toEqual([{ name: 'one', kind: 'fact', lacks: 'a team', needs: ['ticket:1.team'] }]);
});

test('a condition that throws is a gap, not an end', () => {
  const agent = agentWith({
    name: 'broken',
    check: () => {
      throw new TypeError('x'.repeat(500));
    },
  });
  const [gap] = findGaps(agent, viewOf());
  expect(gap).toMatchObject({ name: 'broken', kind: 'work' });
  expect(gap?.lacks.length).toBeLessThan(300);
});

test.each([
  ['DISPATCHED', 1],
  ['ACCEPTED', 1],
  ['RUNNING', 1],
  ['UNKNOWN', 1],
  ['UNRESOLVED', 1],
  ['CREATED', 0],
  ['NOT_EXECUTED', 0],
  ['SUCCEEDED', 0],
  ['FAILED', 0],
  ['CANCELLED', 0],
  ['REFUSED', 0],
])('a write that is %s leaves %i gaps; a read leaves none', (state, count) => {
  expect(findGaps(agentWith(), viewOf([operation(state)]))).toHaveLength(count);
  expect(findGaps(agentWith(), viewOf([operation(state, { effect: 'read' })]))).toEqual([]);
});

const row = (step: number, ordinal: number, changes: Partial<OperationRow> = {}): OperationRow => ({
  id: operationIdOf(RUN, step, ordinal),
  ref: REF,
  step,
  ordinal,
  call: 'toolu',
  tool: 'get_ticket',
  effect: 'read',
  arguments: HASH,
  argumentHash: 'a',
  planVersion: 1,
  state: 'SUCCEEDED',
  generation: 1,
  lookUps: 0,
  polls: 0,
  openGenerations: [],
  ...changes,
});

const progress = (changes: Partial<ProgressInput>) =>
  measureProgress({
    step: 2,
    ended: [1],
    operations: [],
    gapsBefore: [],
    gapsAfter: [],
    hasResponse: false,
    ...changes,
  });

const NONE = { hasNewEvidence: false, hasSettled: false, hasClosedGap: false, hasNarrowed: false };
const choice = (...candidates: readonly string[]): Gap => ({
  name: 'which',
  kind: 'choice',
  lacks: 'which',
  candidates,
});
const gap: Gap = { name: 'team', kind: 'fact', lacks: 'team' };

test.each<readonly [string, Partial<ProgressInput>, Partial<typeof NONE>]>([
  ['nothing', {}, {}],
  ['a result never seen', { operations: [row(2, 1, { resultHash: 'new' })] }, { hasNewEvidence: true }],
  ['a result seen before', { operations: [row(1, 1, { resultHash: 'x' }), row(2, 1, { resultHash: 'x' })] }, {}],
  ['a result of a call that has not ended', { operations: [row(2, 2, { resultHash: 'new' })] }, {}],
  ['a result of another step', { operations: [row(1, 1, { resultHash: 'new' })] }, {}],
  [
    'a recorded result shown again',
    { operations: [row(2, 1, { resultHash: 'new', equivalent: operationIdOf(RUN, 1, 1) })] },
    {},
  ],
  ['a write that succeeded', { operations: [row(2, 1, { effect: 'write' })] }, { hasSettled: true }],
  ['a write that failed', { operations: [row(2, 1, { effect: 'write', state: 'FAILED' })] }, { hasSettled: true }],
  ['a write that was refused', { operations: [row(2, 1, { effect: 'write', state: 'REFUSED', generation: 0 })] }, {}],
  ['a write that is unknown', { operations: [row(2, 1, { effect: 'write', state: 'UNKNOWN' })] }, {}],
  ['a closed gap', { gapsBefore: [gap] }, { hasClosedGap: true }],
  ['a new gap', { gapsAfter: [gap] }, {}],
  ['fewer candidates', { gapsBefore: [choice('a', 'b')], gapsAfter: [choice('a')] }, { hasNarrowed: true }],
  [
    'candidates at last',
    { gapsBefore: [{ name: 'which', kind: 'choice', lacks: '' }], gapsAfter: [choice('a')] },
    { hasNarrowed: true },
  ],
  ['more candidates', { gapsBefore: [choice('a')], gapsAfter: [choice('a', 'b')] }, {}],
  ['a response', { hasResponse: true }, { hasNewEvidence: true }],
])('%s', (_title, input, expected) => {
  expect(progress(input)).toEqual({ ...NONE, ...expected });
});

test('a gap is closed when it is no longer named; one that lacks something else is the same gap', () => {
  const [first, second]: readonly [Gap, Gap] = [gap, { ...gap, name: 'rule' }];

  expect(findClosed([first, second], [{ ...first, lacks: 'something else' }])).toEqual(['rule']);
  expect(findClosed([], [first])).toEqual([]);
});

test('what the gaps need comes first, then the newest; values that are too large are named by their size', () => {
  const facts = [
    fact('ticket:1', 'team', 'a'),
    fact('ticket:1', 'body', 'x'.repeat(5_000)),
    fact('rule:1', 'team', 'b'),
  ];
  const shown = chooseFacts(facts, [{ ...gap, needs: ['ticket:1.team'] }]);
  expect(shown.map(({ object, field }) => `${object}.${field}`)).toEqual([
    'ticket:1.team',
    'rule:1.team',
    'ticket:1.body',
  ]);
  expect(shown[2]).toEqual({ object: 'ticket:1', field: 'body', valueBytes: 5_002, evidence: 'E1.1' });
});

test('however many facts there are, a bounded part is shown, with what is needed in it', () => {
  const facts = Array.from({ length: 5_000 }, (_, index) => fact(`ticket:${String(index)}`, 'body', 'x'.repeat(900)));
  const shown = chooseFacts(facts, [{ ...gap, needs: ['ticket:3.body'] }]);
  expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThan(9_000);
  expect(shown[0]?.object).toBe('ticket:3');
  expect(shown[1]?.object).toBe('ticket:4999');
});
