import { describe, expect, test } from '@jest/globals';
import { createFactsView } from '../../../../activities/context/facts-view';
import { CONDITIONS } from '../../../../examples/tickets/conditions';
import { findTaskTicket } from '../../../../examples/tickets/task-ticket';
import type { Answer, CompletionView, Fact, JsonObject, OperationSummary } from '../../../../index';
import { operationIdOf, parseRunId } from '../../../../workflows/contract/ids';
import { factsOf, GOAL } from './conversation-fixture';

const parseFacts = (facts: unknown): readonly Fact[] => facts as readonly Fact[];
const parseEvidence = (id: string): Fact['evidence'] => id as Fact['evidence'];

const viewOf = (
  facts: JsonObject,
  more: Partial<CompletionView> & { readonly evidence?: string } = {},
): CompletionView => ({
  task: { goal: GOAL, data: {} },
  operations: [],
  ...more,
  facts: createFactsView(parseFacts(factsOf(facts, more.evidence))),
});

const check = (name: string, view: CompletionView) => {
  const condition = CONDITIONS.find((each) => each.name === name);
  if (condition === undefined) throw new Error(`there is no condition ${name}`);
  return condition.check(view);
};

const MET = { kind: 'met' };
const gap = (kind: string, more = {}) => ({ kind: 'gap', gap: expect.objectContaining({ kind, ...more }) });

describe('which ticket the task is about', () => {
  test.each<[string, JsonObject, JsonObject, string | undefined]>([
    ['Read ticket T100.', {}, {}, 'T100'],
    ['Read ticket T100, then T100 again.', {}, {}, 'T100'],
    ['Read it.', { ticket: 'T7' }, {}, 'T7'],
    ['Like T1, but for T2.', {}, {}, undefined],
    ['Read AT100 or T100x.', {}, {}, undefined],
    ['Read it.', {}, { 'response:W9.ticket': 'T5' }, 'T5'],
    ['Read it.', {}, { 'response:W9.response': { choice: 'ticket:T6' } }, 'T6'],
    ['Read it.', {}, { 'response:W9.response': { ticket: 5 } }, undefined],
  ])('%s with %j and the answer %j', (goal, data, answers, expected) => {
    const found = findTaskTicket({ ...viewOf(answers, { evidence: 'W9.0' }), task: { goal, data } });

    expect(found.kind === 'named' ? found.ticket : undefined).toBe(expected);
  });

  test('is nothing that a tool returned', () => {
    const view = viewOf({ 'note:1.text': 'T999' }, { task: { goal: 'Read it.', data: {} } });

    expect(check('ticket-named', view)).toEqual(gap('choice'));
  });

  test('lists those that the goal names', () => {
    const view = viewOf({}, { task: { goal: 'T1 or T2?', data: {} } });

    expect(check('ticket-named', view)).toEqual(gap('choice', { candidates: ['ticket:T1', 'ticket:T2'] }));
  });
});

const TICKET = {
  'ticket:T100.service': 'checkout',
  'ticket:T100.team': 'frontend',
  'ticket:T100.version': 3,
  'revision:T100@3.team': 'frontend',
};
const ONE_RULE = { ...TICKET, 'service:checkout.rules': ['R-7'], 'rule:R-7.team': 'oncall' };
const MOVED = { ...ONE_RULE, 'ticket:T100.team': 'oncall', 'ticket:T100.version': 4, 'revision:T100@4.team': 'oncall' };
const TWO_RULES = { ...ONE_RULE, 'service:checkout.rules': ['R-7', 'R-8'], 'rule:R-8.team': 'billing' };

describe('the right team', () => {
  test.each<[string, JsonObject, object]>([
    [
      'needs the ticket',
      {},
      gap('fact', { needs: ['ticket:T100.service', 'ticket:T100.team', 'ticket:T100.version'] }),
    ],
    ['needs the rules of its service', TICKET, gap('fact', { needs: ['service:checkout.rules'] })],
    ['is not that of a ticket which no rule is for', { ...TICKET, 'service:checkout.rules': [] }, gap('choice')],
    ['is missing while the ticket is elsewhere', ONE_RULE, gap('fact', { needs: ['ticket:T100.team'] })],
    [
      'has to be thought about where two rules fit',
      TWO_RULES,
      gap('work', { candidates: ['team:oncall', 'team:billing'] }),
    ],
    ['is the one that the rule names', MOVED, MET],
    ['is one of those that the rules name', { ...TWO_RULES, 'ticket:T100.team': 'billing' }, MET],
    ['is not the one that the rule named before', { ...MOVED, 'rule:R-7.team': 'search' }, gap('fact')],
  ])('%s', (_title, facts, expected) => {
    expect(check('right-team', viewOf(facts))).toEqual(expected);
  });

  test('is the one that a person named, where no rule does', () => {
    const facts = parseFacts([
      ...parseFacts(factsOf({ ...TICKET, 'service:checkout.rules': [] })),
      { object: 'response:W9', field: 'response', value: { team: 'frontend' }, evidence: 'W9.0' },
    ]);

    expect(check('right-team', { ...viewOf({}), facts: createFactsView(facts) })).toEqual(MET);
  });
});

describe('the explanation', () => {
  const asserts = [
    { object: 'rule:R-7', field: 'team', value: 'oncall' },
    { object: 'ticket:T100', field: 'team', value: 'oncall' },
    { object: 'ticket:T100', field: 'version', value: 4 },
    { object: 'revision:T100@3', field: 'team', value: 'frontend' },
  ];
  const answerWith = (given: readonly (typeof asserts)[number][]): Answer => ({
    schemaVersion: 1,
    outcome: 'done',
    answer: 'Done.',
    claims: [{ text: 'It is so.', evidence: [parseEvidence('E1.1')], asserts: given }],
  });
  const moved: OperationSummary = {
    id: operationIdOf(parseRunId('run_conditions'), 3, 1),
    tool: 'reassign_ticket',
    effect: 'write',
    state: 'SUCCEEDED',
    generation: 1,
    step: 3,
    ordinal: 1,
    target: 'ticket:T100',
  };

  test('names rule, team and version now, and the team before', () => {
    const view = viewOf(MOVED, { operations: [moved], answer: answerWith(asserts) });

    expect(check('explained', view)).toEqual(MET);
  });

  test.each(asserts.map((each) => [`${each.object}.${each.field}`, each] as const))('lacks %s', (name, missing) => {
    const answer = answerWith(asserts.filter((each) => each !== missing));

    expect(check('explained', viewOf(MOVED, { operations: [moved], answer }))).toEqual(gap('work', { needs: [name] }));
  });

  test('is missing before there is an answer, and says what it has to state', () => {
    const needs = ['rule:R-7.team', 'ticket:T100.team', 'ticket:T100.version', 'revision:T100@3.team'];

    expect(check('explained', viewOf(MOVED, { operations: [moved] }))).toEqual(gap('work', { needs }));
  });

  test('needs no team before where this run has moved nothing', () => {
    const answer = answerWith(asserts.slice(0, 3));

    expect(check('explained', viewOf(MOVED, { answer }))).toEqual(MET);
    expect(check('explained', viewOf(MOVED, { answer, operations: [{ ...moved, state: 'FAILED' }] }))).toEqual(MET);
  });

  test('counts for nothing while the ticket is with another team', () => {
    expect(check('explained', viewOf(ONE_RULE, { answer: answerWith(asserts) }))).toEqual(gap('fact'));
  });
});
