import { describe, expect, test } from '@jest/globals';
import { createPolicy, type PolicyRequest } from '../../../../policy/create-policy';
import { executeRequest } from '../../../../policy/execute-request';
import { createTicketTools } from '../../../../examples/tickets/tools';
import { POLICY_ADDITIONS, readPolicy, type PolicyAddition } from '../../../../examples/tickets/policy';
import { parseRunId, parseTenantId } from '../../../../workflows/contract/ids';
import type { Json } from '../../../../workflows/contract/json';

const TOOLS = createTicketTools({ deskUrl: 'http://127.0.0.1:9' });
const REF = { tenant: parseTenantId('acme'), run: parseRunId('run_walkthrough') };
const ALICE = { subject: 'alice', roles: [] };

const requestFor = (action: Parameters<typeof executeRequest>[0], name: string, args: Json): PolicyRequest => {
  const tool = TOOLS.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  const { effect, risk } = tool;
  const call = { tool: { name, effect, risk, argumentSchema: {} }, args, target: 'ticket:T100' };
  return executeRequest(action, { ref: REF, agent: 'tickets', principal: ALICE, call });
};

/** As the runtime asks: refused, with a person's approval, or unattended. */
const verdictOf = (additions: readonly PolicyAddition[], name: string, args: Json) => {
  const policy = createPolicy(readPolicy(additions));
  const execute = policy.evaluate(requestFor('execute', name, args));
  if (execute.decision === 'deny') return { verdict: 'refused', by: execute.policyIds, errors: execute.errors };
  const unattended = policy.evaluate(requestFor('executeUnattended', name, args));
  return unattended.decision === 'allow'
    ? { verdict: 'unattended', by: unattended.policyIds, errors: unattended.errors }
    : { verdict: 'approval', by: unattended.policyIds, errors: unattended.errors };
};

const REASSIGN = { ticket: 'T100', team: 'payments-oncall' };
const TO_LEGAL = { ticket: 'T103', team: 'legal' };
const CLOSE = { ticket: 'T100' };

describe('what an agent may do', () => {
  test.each<[string, readonly PolicyAddition[], string, Json, string, readonly string[]]>([
    ['reads are free', [], 'get_ticket', CLOSE, 'unattended', ['look']],
    ['a reassignment needs nobody', [], 'reassign_ticket', REASSIGN, 'unattended', ['reassign-and-comment']],
    ['closing needs a person', [], 'close_ticket', CLOSE, 'approval', []],
    ['approval: reads stay free', ['approval'], 'get_oncall_rules', {}, 'unattended', ['look']],
    ['approval: a reassignment waits', ['approval'], 'reassign_ticket', REASSIGN, 'approval', ['writes-need-approval']],
    [
      'guarded: on-call teams as before',
      ['guarded'],
      'reassign_ticket',
      REASSIGN,
      'unattended',
      ['reassign-and-comment'],
    ],
    ['guarded: nothing to legal', ['guarded'], 'reassign_ticket', TO_LEGAL, 'refused', ['never-to-legal']],
    ['guarded: nothing is closed', ['guarded'], 'close_ticket', CLOSE, 'refused', ['never-close']],
    [
      'both: refused whoever approves',
      ['approval', 'guarded'],
      'reassign_ticket',
      TO_LEGAL,
      'refused',
      ['never-to-legal'],
    ],
  ])('%s', (_title, additions, tool, args, verdict, by) => {
    expect(verdictOf(additions, tool, args)).toEqual({ verdict, by, errors: [] });
  });

  test('somebody may answer a wait, and a tool is no wait', () => {
    const policy = createPolicy(readPolicy());
    const wait: PolicyRequest = {
      action: 'respond',
      principal: ALICE,
      tenant: 'acme',
      resource: { kind: 'wait', id: 'wait_walkthrough_7_1', waitKind: 'approval' },
      context: {},
    };

    expect(policy.evaluate(wait).decision).toBe('allow');
    expect(policy.evaluate({ ...wait, action: 'execute' }).decision).toBe('deny');
  });

  test.each(POLICY_ADDITIONS)('%s adds to policy.cedar and is another version', (addition) => {
    expect(createPolicy(readPolicy([addition])).version).not.toBe(createPolicy(readPolicy()).version);
  });
});
