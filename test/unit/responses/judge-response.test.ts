/** The one function that judges a response, as a table: what it is, where it comes from, what it is told. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { RESPONSE_SCHEMAS } from '../../../activities/waits/response-shapes';
import type { AgentDefinition } from '../../../definition/agent';
import { compileAgents } from '../../../definition/compile-agent';
import { judgeResponse, MAX_RESPONSE_BYTES, type PreparedResponse } from '../../../responses/judge-response';
import type { PreparedEdit } from '../../../responses/prepare-edit';
import { RESPONSE_REFUSALS } from '../../../responses/refusals';
import { makeToken } from '../../../responses/token';
import type { OperationRow, ResponseCase, RunRow, WaitRow } from '../../../store/rows';
import { operationIdOf } from '../../../workflows/contract/ids';
import { defineTool } from '../../../definition/tool';
import { hashFrom, newOperation, newRef, newRun, newWait } from '../../support/store-contract/fixtures';

const POLICY = `
@id("all") permit (principal, action, resource);
@id("not-your-own") forbid (principal, action == Action::"respond", resource is Wait)
when { context.requester == principal.subject };
@id("no-legal") forbid (principal, action == Action::"execute", resource is Tool) when { context.args.team == "legal" };
@id("juniors") forbid (principal in Role::"junior", action == Action::"execute", resource is Tool);
`;

const assign = defineTool({
  name: 'assign_ticket',
  description: 'Assigns a ticket.',
  effect: 'write',
  risk: 'medium',
  inputSchema: z.strictObject({ team: z.string() }),
  outputSchema: z.object({}),
  idempotency: 'key',
  keyRetentionMs: 1_000,
  target: () => ({ object: 'ticket:T1' }),
  facts: () => [],
  execute: () => Promise.resolve({ kind: 'done', output: {} }),
});

const definition: AgentDefinition = {
  name: 'tickets',
  version: '1',
  instructions: 'Assign tickets.',
  tools: [assign],
  policy: POLICY,
  model: {
    provider: 'anthropic',
    model: 'any',
    maxOutputTokens: 100,
    maxContextBytes: 10_000,
    idleTimeoutMs: 1_000,
    prices: { version: '1', inputPerMillion: 1, outputPerMillion: 1, cacheReadPerMillion: 1, cacheWritePerMillion: 1 },
  },
  conditions: [{ name: 'done', check: () => ({ kind: 'met' }) }],
};
const agent = compileAgents([definition]).find('tickets');

const KEY = Buffer.alloc(32, 1);
const NOW = 1_800_000_000_000;
const ref = newRef();
const operation: OperationRow = {
  ...newOperation(ref, 3),
  state: 'CREATED',
  generation: 0,
  lookUps: 0,
  polls: 0,
  openGenerations: [],
};
const run: RunRow = { ...newRun(ref), state: 'WAITING_USER', seq: 12, step: 3, planVersion: 1, createdAt: NOW };
const wait: WaitRow = {
  ...newWait(ref, 12, { operation: operation.id, responseSchema: RESPONSE_SCHEMAS.approval }),
  state: 'OPEN',
  openedAt: NOW,
  expiresAt: NOW + 60_000,
};

const about = (changes: Partial<ResponseCase> = {}): ResponseCase => ({
  wait,
  run,
  operation,
  repeated: [],
  receivedAt: NOW + 1,
  ...changes,
});
const response = (changes: Partial<PreparedResponse> = {}): PreparedResponse => ({
  principal: { subject: 'bob', roles: [] },
  body: { decision: 'approve' },
  bytes: 20,
  agent,
  tokenKey: KEY,
  token: makeToken(KEY, wait),
  stateVersion: 12,
  planVersion: 1,
  ...changes,
});

const edit = (team: string, changes: { readonly isRepeatable?: boolean } = {}): Partial<PreparedResponse> => {
  const prepared: PreparedEdit = {
    kind: 'ready',
    args: { team },
    edit: { tool: 'assign_ticket', arguments: hashFrom(team), argumentHash: hashFrom(team) },
    tool: {
      name: 'assign_ticket',
      effect: 'write',
      risk: 'medium',
      argumentSchema: {},
      isRepeatable: false,
      ...changes,
    },
  };
  return { body: { decision: 'approve', arguments: { team } }, edit: prepared };
};

const other = operationIdOf(ref.run, 1, 1);
const BROKEN: PreparedEdit = { kind: 'invalid', message: 'arguments.team: got 7, expected a text', field: 'team' };

// prettier-ignore
const REFUSED: readonly (readonly [string, string, Partial<PreparedResponse>, Partial<ResponseCase>])[] = [
  ['response.run_ended',          'the run has ended',               {}, { run: { ...run, terminal: 'FAILED' } }],
  ['response.run_ended',          '… whatever became of the wait',   {}, { run: { ...run, terminal: 'FAILED' }, wait: { ...wait, state: 'VOID' } }],
  ['response.plan_changed',       'a message changed the plan',      {}, { run: { ...run, planVersion: 2 }, wait: { ...wait, state: 'VOID' } }],
  ['response.plan_changed',       'another plan was shown',          { planVersion: 2 }, {}],
  ['response.wait_void',          'the run went on without it',      {}, { wait: { ...wait, state: 'VOID' } }],
  ['response.wait_void',          'a cancel was asked for',          {}, { run: { ...run, cancelRequestedAt: NOW } }],
  ['response.already_decided',    'it was answered',                 {}, { wait: { ...wait, state: 'CONSUMED', response: { decision: 'deny' } } }],
  ['response.already_decided',    '… also where it is late',         {}, { receivedAt: NOW + 90_000, wait: { ...wait, state: 'CONSUMED', response: { decision: 'deny' } } }],
  ['response.expired',            'one millisecond late',            {}, { receivedAt: NOW + 60_001 }],
  ['response.expired',            'at the very moment of expiry',    {}, { receivedAt: NOW + 60_000 }],
  ['response.expired',            'the run has read the expiry',     {}, { wait: { ...wait, state: 'EXPIRED' } }],
  ['response.state_changed',      'another state was shown',         { stateVersion: 11 }, {}],
  ['response.token_invalid',      'no token',                        { token: '' }, {}],
  ['response.token_invalid',      'token of another version',        { token: makeToken(KEY, { ...wait, seq: 11 }) }, {}],
  ['response.token_invalid',      'token under another key',         { token: makeToken(Buffer.alloc(32), wait) }, {}],
  ['response.too_large',          'one byte too many',               { bytes: MAX_RESPONSE_BYTES + 1 }, {}],
  ['response.invalid',            'no object',                       { body: false }, {}],
  ['response.invalid',            'nothing of it',                   { body: {} }, {}],
  ['response.invalid',            'a field that is not asked',       { body: { decision: 'deny', why: 'x' } }, {}],
  ['response.invalid',            'arguments where none are asked',  { body: { accept: true, arguments: {} } }, { wait: { ...wait, kind: 'acceptance', responseSchema: RESPONSE_SCHEMAS.acceptance } }],
  ['response.invalid',            'a schema that is none',           {}, { wait: { ...wait, responseSchema: { type: 'object' } } }],
  ['response.agent_unknown',      'no such agent here',              { agent: undefined }, {}],
  ['response.agent_unknown',      '… also for an edit',              { ...edit('frontend'), agent: undefined }, {}],
  ['response.not_permitted',      'their own run',                   { principal: { subject: 'ada', roles: [] } }, {}],
  ['response.edit_invalid',       'the schema refuses it',           { ...edit('frontend'), edit: BROKEN }, {}],
  ['response.edit_invalid',       'arguments with a denial',         { ...edit('frontend'), body: { decision: 'deny', arguments: {} } }, {}],
  ['response.edit_invalid',       'it was sent before',              edit('frontend'), { operation: { ...operation, state: 'NOT_EXECUTED' } }],
  ['response.edit_invalid',       'it would be done twice',          edit('frontend'), { repeated: [other] }],
  ['response.edit_not_permitted', 'nobody may',                      edit('legal'), {}],
  ['response.edit_not_permitted', 'the approver may not',            { ...edit('frontend'), principal: { subject: 'bob', roles: ['junior'] } }, {}],
  ['response.edit_not_permitted', 'whoever the run is for may not',  edit('frontend'), { run: { ...run, principal: { subject: 'ada', roles: ['junior'] } } }],
];

describe('refused', () => {
  test.each(REFUSED)('%s: %s', (code, _what, said, changes) => {
    const judgement = judgeResponse(response(said), about(changes));

    expect(judgement).toMatchObject({ kind: 'refused', code });
    expect(judgement).toHaveProperty('message', expect.stringMatching(/\S.{10}/));
  });

  test('every code that there is has its case; one is the store’s alone', () => {
    const covered = new Set(REFUSED.map(([code]) => code));

    expect(RESPONSE_REFUSALS.filter((code) => !covered.has(code))).toEqual(['response.id_taken']);
  });

  test('a wrong value is named with its field and what was expected, with nothing unseen in it', () => {
    const judgement = judgeResponse(response({ body: { decision: 'yes\u202e' } }), about());

    expect(judgement).toHaveProperty('message', 'decision: got "yes<U+202E>", expected one of approve, deny');
  });

  test('the policies that denied are in the journal', () => {
    const judgement = judgeResponse(response({ principal: { subject: 'ada', roles: [] } }), about());

    expect(judgement.evidence).toEqual({ policies: ['not-your-own'] });
  });
});

const asked = (kind: WaitRow['kind'], properties: object): Partial<ResponseCase> => ({
  wait: {
    ...wait,
    kind,
    responseSchema: { type: 'object', properties: { ...properties }, required: Object.keys(properties) },
  },
});

describe('accepted', () => {
  test('one millisecond before the expiry, by the time of arrival alone', () => {
    expect(judgeResponse(response(), about({ receivedAt: NOW + 59_999 })).kind).toBe('accepted');
  });

  test('without a key no token is asked for; versions that are not sent are not compared', () => {
    const bare: PreparedResponse = {
      principal: { subject: 'bob', roles: [] },
      body: { decision: 'approve' },
      bytes: 9,
      agent,
    };

    expect(judgeResponse(bare, about()).kind).toBe('accepted');
  });

  test('an approval names what it approves', () => {
    expect(judgeResponse(response(), about())).toMatchObject({
      response: { decision: 'approve', argumentHash: operation.argumentHash },
      facts: [{ object: `operation:${operation.id}`, field: 'approval', value: 'approve', evidence: 'W12.1' }],
      evidence: { policies: ['all'] },
    });
  });

  test('an edit keeps what was approved, in the form in which it is sent', () => {
    expect(judgeResponse(response(edit('frontend')), about())).toMatchObject({
      kind: 'accepted',
      response: { decision: 'approve', arguments: { team: 'frontend' }, argumentHash: hashFrom('frontend') },
      evidence: { editedTo: hashFrom('frontend') },
    });
    expect(judgeResponse(response(edit('frontend', { isRepeatable: true })), about({ repeated: [other] })).kind).toBe(
      'accepted',
    );
  });

  // prettier-ignore
  test.each([
    [{ flag: false }, { flag: { type: 'boolean' } }],
    [{ count: 0 },    { count: { type: 'integer' } }],
    [{ text: '' },    { text: { type: 'string' } }],
    [{ list: [] },    { list: { type: 'array', items: { type: 'string' } } }],
  ])('a falsy answer is an answer: %j', (body, properties) => {
    const facts = Object.entries(body).map(([field, value]: [string, unknown]) => ({ field, value }));

    expect(judgeResponse(response({ body }), about(asked('question', properties)))).toMatchObject({
      kind: 'accepted',
      response: body,
      facts: facts.map((fact) => ({ object: 'answer:W12.1', ...fact })),
    });
  });
});
