/** What goes wrong on the way from the model, and the ends that are no success. */
import { failed, playedBy, scenario, succeeded, T100_MOVED, type Scenario } from './scenario';

const MODEL: readonly Scenario[] = [
  scenario({
    name: 'cut-arguments',
    id: 'D1',
    title: 'the stream is cut in the middle of the arguments: no operation, the same context again',
    modelFaults: [{ fault: { kind: 'cut', at: { point: 'mid-block' } } }],
    expected: succeeded(T100_MOVED),
  }),
  scenario({
    name: 'truncated',
    id: 'D2',
    title: 'the output limit cuts a call: nothing of it is executed, a larger limit is tried',
    modelFaults: [{ fault: { kind: 'max-tokens' } }],
    expected: succeeded(T100_MOVED),
  }),
  scenario({
    name: 'overloaded',
    id: 'D3',
    title: 'the provider is overloaded, fails and limits: numbered attempts with back-off',
    modelFaults: [
      { fault: { kind: 'status', status: 529 } },
      { fault: { kind: 'error-mid-stream', at: { point: 'mid-block' } } },
      { fault: { kind: 'status', status: 500 }, textIncludes: '"evidence":"E1.1"' },
      { fault: { kind: 'status', status: 429, retryAfter: '1' }, textIncludes: '"evidence":"E3.1"' },
    ],
    expected: succeeded(T100_MOVED),
  }),
  scenario({
    name: 'refused',
    id: 'D4',
    title: 'the model refuses: the end, by that name',
    modelFaults: [{ fault: { kind: 'refusal' } }],
    expected: failed('model.refused'),
  }),
  scenario({
    name: 'malformed-arguments',
    id: 'D4',
    title: 'arguments that are no JSON: sent back with the finding, then mended',
    modelFaults: [{ fault: { kind: 'malformed-arguments' } }],
    expected: succeeded(T100_MOVED),
  }),
  scenario({
    name: 'empty-answer',
    id: 'D4',
    title: 'an answer without content: sent back with the finding',
    modelFaults: [{ fault: { kind: 'empty-content' } }],
    expected: succeeded(T100_MOVED),
  }),
  scenario({
    name: 'two-reads-one-write',
    id: 'D5',
    title: 'two reads and a write in one turn, one read fails: three results, each with its call',
    ...playedBy('two-reads-one-write'),
    deskFaults: [{ match: { route: 'teams' }, times: 'always', fault: { kind: 'status', status: 404 } }],
    expected: succeeded(T100_MOVED),
  }),
];

const ENDS: readonly Scenario[] = [
  scenario({
    name: 'steps-spent',
    id: 'E1',
    title: 'the budget of steps is spent before the write',
    limits: { maxSteps: 2 },
    expected: { terminal: 'BUDGET_EXHAUSTED', reason: 'budget.steps', effects: [] },
  }),
  scenario({
    name: 'tool-calls-spent',
    id: 'E1',
    title: 'the budget of tool calls is spent before the write',
    limits: { maxToolCalls: 2 },
    expected: { terminal: 'BUDGET_EXHAUSTED', reason: 'budget.toolCalls', effects: [] },
  }),
  scenario({
    name: 'tokens-spent',
    id: 'E1',
    title: 'the budget of tokens is too small for the first question',
    limits: { maxTokens: 500 },
    expected: { terminal: 'BUDGET_EXHAUSTED', reason: 'budget.tokens', effects: [] },
  }),
  scenario({
    name: 'cost-spent',
    id: 'E1',
    title: 'the budget of money is too small for the first question',
    limits: { maxCostMicros: 100 },
    expected: { terminal: 'BUDGET_EXHAUSTED', reason: 'budget.cost', effects: [] },
  }),
  scenario({
    name: 'deadline',
    id: 'E1',
    title: 'the deadline passes while the model is silent',
    limits: { deadlineMs: 2_000 },
    modelFaults: [{ fault: { kind: 'hang-before-headers' }, times: 'always' }],
    expected: { terminal: 'EXPIRED', reason: 'deadline', effects: [] },
  }),
  scenario({
    name: 'repeated-error',
    id: 'E8',
    title: 'the same error again and again: stopped by the loop rule',
    ...playedBy('repeats-error'),
    expected: failed('loop.repeatedError'),
  }),
  scenario({
    name: 'alternating-plan',
    id: 'E8',
    title: 'two plans in turn: stopped by the loop rule',
    agent: 'tickets-alternation',
    ...playedBy('alternates'),
    expected: failed('loop.alternatingPlan'),
  }),
  scenario({
    name: 'no-progress',
    id: 'E8',
    title: 'always another question, nothing learnt from any: stopped by the loop rule',
    agent: 'tickets-no-progress',
    ...playedBy('wanders'),
    expected: failed('loop.noProgress'),
  }),
];

export const MODEL_AND_ENDS: readonly Scenario[] = [...MODEL, ...ENDS];
