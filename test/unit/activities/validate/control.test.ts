import { describe, expect, test } from '@jest/globals';
import type { AgentDefinition } from '../../../../definition/agent';
import type { FinishLookUps } from '../../../../activities/validate/look-ups';
import { evidenceIdOf } from '../../../../workflows/contract/ids';
import type { Json } from '../../../../workflows/contract/json';
import type { Gap, OperationSummary } from '../../../../workflows/contract/records';
import {
  candidateOf,
  describeOutcome,
  fact,
  finishing,
  judged,
  operationId,
  outcomeOf,
  proposing,
  saying,
  TICKET_FACTS,
  type Setting,
} from './fixtures';

/** Done when the ticket's team is the one asked for, and the answer asserts it. */
const conditions: AgentDefinition['conditions'] = [
  {
    name: 'reassigned',
    check: ({ facts, answer }) => {
      const isDone = facts.find('ticket:T100', 'team')?.value === 'network';
      const isTold =
        answer === undefined || answer.claims.some(({ asserts = [] }) => asserts.some(({ field }) => field === 'team'));
      return isDone && isTold
        ? { kind: 'met' }
        : { kind: 'gap', gap: { kind: 'fact', lacks: 'T100 is not with network', needs: ['ticket:T100.team'] } };
    },
  },
];
const undone: Setting = { agent: { conditions } };
const reassigned: Setting = {
  agent: { conditions },
  facts: [...TICKET_FACTS, fact('ticket:T100', 'team', 'network', { version: 'v2', evidence: evidenceIdOf(2, 2) })],
};

const claim = {
  text: 'T100 is with network.',
  evidence: ['E2.2'],
  asserts: [{ object: 'ticket:T100', field: 'team', value: 'network' as Json }],
};
const finish = (input: object) =>
  proposing(['finish', { outcome: 'done', answer: 'T100 is with network.', claims: [claim], ...input }]);
const cites = (...evidence: readonly string[]) => finishing({ evidence });

describe('finish(done)', () => {
  test('is accepted where facts, evidence and conditions agree', () => {
    expect(outcomeOf(reassigned, finish({}), cites('E2.2'))).toMatchObject({
      kind: 'finish',
      answer: { outcome: 'done', claims: [claim] },
    });
  });

  test('without the deed it goes back with the gap', () => {
    expect(outcomeOf(undone, finish({ claims: [] }), cites())).toMatchObject({
      kind: 'rejected',
      finding: { code: 'finish.condition_unmet', gaps: [{ name: 'reassigned', lacks: 'T100 is not with network' }] },
    });
  });

  test('plain text never finishes what has to be asserted', () => {
    expect(describeOutcome(outcomeOf(reassigned, saying('T100 is with network.'), cites()))).toBe(
      'rejected finish.condition_unmet',
    );
  });

  test('an operation whose outcome is unknown keeps it open', () => {
    const operations: readonly OperationSummary[] = [
      {
        id: operationId(2, 1),
        tool: 'reassign_ticket',
        effect: 'write',
        state: 'UNKNOWN',
        generation: 1,
        step: 2,
        ordinal: 1,
      },
    ];

    expect(outcomeOf(reassigned, finish({}), finishing({ evidence: ['E2.2'], operations }))).toMatchObject({
      finding: { code: 'finish.condition_unmet', gaps: [{ kind: 'unknown' }] },
    });
  });

  test.each<[string, object, readonly string[], string, string]>([
    [
      'evidence that does not exist',
      { claims: [{ ...claim, evidence: ['E9.9'] }] },
      ['E2.2'],
      'finish.evidence_unknown',
      'claims[0].evidence',
    ],
    [
      'evidence that was made up beside real one',
      { claims: [{ ...claim, evidence: ['E2.2', 'E9.9'] }] },
      ['E2.2'],
      'finish.evidence_unknown',
      'claims[0].evidence',
    ],
    [
      'a claim without evidence',
      { claims: [{ ...claim, evidence: [] }] },
      [],
      'candidate.invalid_arguments',
      'claims[0].evidence',
    ],
    [
      'an assertion of another value',
      { claims: [{ ...claim, asserts: [{ object: 'ticket:T100', field: 'team', value: 'legal' }] }] },
      ['E2.2'],
      'finish.assertion_wrong',
      'claims[0].asserts[0].value',
    ],
    [
      'an assertion that no fact speaks of',
      { claims: [{ ...claim, asserts: [{ object: 'ticket:T100', field: 'state', value: 'closed' }] }] },
      ['E2.2'],
      'finish.assertion_unconfirmed',
      'claims[0].asserts[0]',
    ],
    ['an unknown outcome', { outcome: 'maybe' }, ['E2.2'], 'candidate.invalid_arguments', 'outcome'],
    ['an API key in the answer', { answer: `use sk-${'a'.repeat(24)}` }, ['E2.2'], 'finish.sensitive', 'answer'],
    [
      'a private key in a claim',
      { claims: [{ ...claim, text: '-----BEGIN RSA PRIVATE KEY-----' }] },
      ['E2.2'],
      'finish.sensitive',
      'claims[0].text',
    ],
  ])('%s goes back by name', (_title, input, evidence, code, field) => {
    expect(outcomeOf(reassigned, finish(input), cites(...evidence))).toMatchObject({
      kind: 'rejected',
      finding: { code, field },
    });
  });

  test('an assertion of what was true before is wrong, with the version now', () => {
    const outcome = outcomeOf(
      reassigned,
      finish({ claims: [{ ...claim, asserts: [{ object: 'ticket:T100', field: 'team', value: 'database' }] }] }),
      cites('E2.2'),
    );

    expect(outcome).toMatchObject({ finding: { value: 'database', expected: '"network" at version v2, by E2.2' } });
  });

  test('an assertion is compared as JSON, whatever the order of keys', () => {
    const facts = [...(reassigned.facts ?? []), fact('ticket:T100', 'owner', { a: 1, b: [2] })];
    const asserts = [...claim.asserts, { object: 'ticket:T100', field: 'owner', value: { b: [2], a: 1 } }];

    expect(
      describeOutcome(outcomeOf({ ...reassigned, facts }, finish({ claims: [{ ...claim, asserts }] }), cites('E2.2'))),
    ).toBe('finish');
  });

  test('what the agent calls sensitive is found each time, and not repeated', () => {
    const sensitive = [/secret-\d+/g];
    for (let time = 0; time < 2; time += 1) {
      const outcome = outcomeOf(
        { ...reassigned, agent: { conditions, sensitive } },
        finish({ answer: 'it is secret-42' }),
        cites('E2.2'),
      );

      expect(describeOutcome(outcome)).toBe('rejected finish.sensitive');
      expect(JSON.stringify(outcome)).not.toContain('secret-42');
    }
  });

  test("the agent's own validators have the last word before the conditions", () => {
    const validators = [
      {
        name: 'short',
        version: '3',
        check: ({ answer }: { answer: string }) => (answer.length > 10 ? 'too long' : undefined),
      },
    ];
    const { outcome, decisions } = judged(
      { ...reassigned, agent: { conditions, validators } },
      finish({}),
      cites('E2.2'),
    );

    expect(outcome).toMatchObject({ kind: 'rejected', finding: { code: 'finish.own.short', message: 'too long' } });
    expect(decisions.at(-1)).toMatchObject({ validator: 'own.short', version: '3', verdict: 'fail' });
  });

  test('a validator that throws does not let it pass', () => {
    const validators = [
      {
        name: 'broken',
        version: '1',
        check: () => {
          throw new Error('boom');
        },
      },
    ];

    expect(
      describeOutcome(outcomeOf({ ...reassigned, agent: { conditions, validators } }, finish({}), cites('E2.2'))),
    ).toBe('rejected finish.own.broken');
  });
});

describe('finish(cannot)', () => {
  const cannot = proposing(['finish', { outcome: 'cannot', answer: 'It is not possible.', claims: [] }]);
  const operation = (changes: Partial<OperationSummary>): OperationSummary => ({
    id: operationId(2, 1),
    tool: 'reassign_ticket',
    effect: 'write',
    state: 'REFUSED',
    generation: 0,
    step: 2,
    ordinal: 1,
    target: 'ticket:T100',
    ...changes,
  });
  const blockedBy = (changes: Partial<FinishLookUps>, setting: Setting = undone): string =>
    describeOutcome(outcomeOf(setting, cannot, finishing(changes)));

  test.each<[string, Partial<OperationSummary>, string]>([
    ['a denied operation', { code: 'PERMISSION_DENIED' }, 'permission'],
    ['a refusal of the far side', { state: 'FAILED', code: 'PERMISSION_DENIED' }, 'permission'],
    ["a person's denial", { code: 'DENIED' }, 'denied'],
    ['an approval that nobody gave', { code: 'EXPIRED' }, 'expired'],
    [
      'an object that does not exist',
      { tool: 'read_ticket', effect: 'read', state: 'FAILED', code: 'NOT_FOUND' },
      'not_found',
    ],
    ['an outcome that nobody could tell', { state: 'UNRESOLVED' }, 'unresolved'],
    ['a far side that is away', { state: 'FAILED', code: 'UNAVAILABLE' }, 'unavailable'],
    ['a tool at fault', { state: 'FAILED', code: 'TOOL_FAULT' }, 'tool_fault'],
  ])('%s shows the block', (_title, changes, block) => {
    expect(blockedBy({ operations: [operation(changes)] })).toBe(`blocked ${block}`);
  });

  test.each<[string, Partial<FinishLookUps>, string]>([
    ['an expired question', { hasExpiredWait: true }, 'expired'],
    ['a withdrawn task', { isWithdrawn: true }, 'withdrawn'],
    ['a tool that the principal never gets', { hasForbiddenTool: true }, 'permission'],
  ])('%s shows it too', (_title, changes, block) => {
    expect(blockedBy(changes)).toBe(`blocked ${block}`);
  });

  test.each<[string, readonly OperationSummary[]]>([
    ['no record', []],
    ['a fault of its own', [operation({ code: 'INVALID_ARGUMENT' })]],
    ['a conflict', [operation({ state: 'FAILED', code: 'STATE_CONFLICT' })]],
    [
      'a block that was overcome',
      [operation({ code: 'DENIED' }), operation({ id: operationId(2, 2), ordinal: 2, state: 'SUCCEEDED' })],
    ],
    ['a block about another object', [operation({ code: 'PERMISSION_DENIED', target: 'ticket:T7' })]],
  ])('%s does not', (_title, operations) => {
    expect(blockedBy({ operations })).toBe('rejected finish.block_not_shown');
  });

  test('the latest block counts', () => {
    expect(
      blockedBy({
        operations: [
          operation({ code: 'PERMISSION_DENIED' }),
          operation({ id: operationId(2, 2), ordinal: 2, code: 'DENIED' }),
        ],
      }),
    ).toBe('blocked denied');
  });

  test('nothing blocks what is done', () => {
    expect(blockedBy({ operations: [operation({ code: 'DENIED' })] }, reassigned)).toBe(
      'rejected finish.block_not_shown',
    );
  });

  test('its claims are checked like any', () => {
    const candidate = proposing([
      'finish',
      { outcome: 'cannot', answer: 'No.', claims: [{ text: 'denied', evidence: ['E9.9'] }] },
    ]);

    expect(describeOutcome(outcomeOf(undone, candidate, finishing({ hasExpiredWait: true })))).toBe(
      'rejected finish.evidence_unknown',
    );
  });
});

describe('ask_user', () => {
  const responseSchema = { type: 'object', properties: { ticket: { type: 'string' } }, required: ['ticket'] };
  const ask = (input: object = {}) => proposing(['ask_user', { question: 'Which ticket?', responseSchema, ...input }]);
  const choice: Gap = { name: 'ticket', kind: 'choice', lacks: 'the ticket' };
  const factGap: Gap = { name: 'team', kind: 'fact', lacks: 'the team on call' };

  test("is accepted while a choice is open, with the model's schema", () => {
    expect(outcomeOf({ gaps: [factGap, choice] }, ask())).toEqual({
      kind: 'question',
      question: { schemaVersion: 1, question: 'Which ticket?', responseSchema, askedBy: 'model' },
    });
  });

  test('where the candidates are known they are the answers', () => {
    const candidates = ['ticket:T1', 'ticket:T2'];

    expect(outcomeOf({ gaps: [{ ...choice, candidates }] }, ask())).toMatchObject({
      kind: 'question',
      question: {
        question: 'Which ticket?',
        askedBy: 'model',
        candidates,
        responseSchema: { properties: { choice: { enum: candidates } } },
      },
    });
  });

  test.each<[string, readonly Gap[]]>([
    ['nothing', []],
    ['a fact', [factGap]],
  ])('is refused where %s is open', (_title, gaps) => {
    expect(outcomeOf({ gaps }, ask())).toMatchObject({
      kind: 'rejected',
      finding: { code: 'question.no_choice_open', gaps },
    });
  });

  test.each<[string, object, string]>([
    [
      'a pattern',
      { responseSchema: { type: 'object', properties: { a: { type: 'string', pattern: 'x' } } } },
      'responseSchema.properties.a',
    ],
    ['no object', { responseSchema: { type: 'string' } }, 'responseSchema.type'],
    ['an empty question', { question: '' }, 'question'],
  ])('a schema with %s goes back by field', (_title, input, field) => {
    expect(outcomeOf({ gaps: [choice] }, ask(input))).toMatchObject({
      kind: 'rejected',
      finding: { code: 'candidate.invalid_arguments', field },
    });
  });
});

describe('analyse', () => {
  const gaps: readonly Gap[] = [
    { name: 'compare', kind: 'work', lacks: 'two teams are to be compared' },
    { name: 'team', kind: 'fact', lacks: 'the team on call' },
  ];

  test('is accepted for work', () => {
    expect(outcomeOf({ gaps }, proposing(['analyse', { gap: 'compare' }]))).toEqual({ kind: 'analyse' });
  });

  test.each([
    ['a missing fact', 'team', 'analyse.gap_is_no_work'],
    ['a gap that is not open', 'other', 'analyse.gap_unknown'],
  ])('is refused for %s, naming what it may be for', (_title, gap, code) => {
    expect(outcomeOf({ gaps }, proposing(['analyse', { gap }]))).toMatchObject({
      kind: 'rejected',
      finding: { code, field: 'gap', expected: 'one of compare', gaps },
    });
  });
});

test('arguments of a control action that are no JSON go back', () => {
  const candidate = candidateOf({ calls: [{ ordinal: 1, id: 'toolu_1', name: 'finish', invalidJson: '{' }] });

  expect(describeOutcome(outcomeOf({}, candidate))).toBe('rejected candidate.invalid_json');
});
