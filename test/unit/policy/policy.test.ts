import { describe, expect, test } from '@jest/globals';
import { createPolicy, PolicyUnusable, type PolicyRequest } from '../../../policy/create-policy';
import { executeRequest } from '../../../policy/execute-request';
import type { Json, JsonObject } from '../../../workflows/contract/json';
import { parseRunId, parseTenantId } from '../../../workflows/contract/ids';

const request = (context: JsonObject, changes: Partial<PolicyRequest> = {}): PolicyRequest => ({
  action: 'execute',
  principal: { subject: 'ada', roles: ['agent'] },
  tenant: 'acme',
  resource: { kind: 'tool', name: 'pay', effect: 'write', risk: 'high' },
  context,
  ...changes,
});

const decide = (policy: string, context: JsonObject, changes: Partial<PolicyRequest> = {}) =>
  createPolicy(policy).evaluate(request(context, changes));

const permitWhen = (condition: string): string =>
  `@id("only") permit(principal, action, resource) when { ${condition} };`;

describe('a decision', () => {
  const POLICY = `
    @id("agents-pay") permit(principal in Role::"agent", action == Action::"execute", resource == Tool::"pay");
    @id("not-much") forbid(principal, action, resource == Tool::"pay") when { context.args.amount > 100 };
    permit(principal, action == Action::"respond", resource is Wait) when { context.requester != principal.subject };`;

  test('names the policies that made it', () => {
    expect(decide(POLICY, { args: { amount: 5 } })).toEqual({
      decision: 'allow',
      policyIds: ['agents-pay'],
      errors: [],
    });
    expect(decide(POLICY, { args: { amount: 500 } })).toEqual({
      decision: 'deny',
      policyIds: ['not-much'],
      errors: [],
    });
  });

  test('is to deny where nothing permits', () => {
    const principal = { subject: 'ada', roles: ['guest'] };

    expect(decide(POLICY, { args: { amount: 5 } }, { principal })).toEqual({
      decision: 'deny',
      policyIds: [],
      errors: [],
    });
  });

  test('is to deny where a policy cannot be evaluated, though another permits', () => {
    const decision = decide(POLICY, { args: {} });

    expect(decision.decision).toBe('deny');
    expect(decision.errors).toEqual([expect.stringContaining('not-much: ')]);
  });

  test('tells one tenant from another, and risk from risk', () => {
    const policy = permitWhen('principal.tenant == "acme" && context.tenant == "acme" && resource.risk == "high"');

    expect(decide(policy, {}).decision).toBe('allow');
    expect(decide(policy, {}, { tenant: 'other' }).decision).toBe('deny');
    expect(decide(policy, {}, { resource: { kind: 'tool', name: 'pay', effect: 'write', risk: 'low' } }).decision).toBe(
      'deny',
    );
  });

  test('lets nobody answer their own request', () => {
    const wait = { action: 'respond', resource: { kind: 'wait', id: 'wait_1', waitKind: 'approval' } } as const;

    expect(decide(POLICY, { requester: 'ada' }, wait).decision).toBe('deny');
    expect(decide(POLICY, { requester: 'bob' }, wait)).toMatchObject({ decision: 'allow', policyIds: ['policy2'] });
  });

  test('is the same for the same text, which is parsed once', () => {
    expect(createPolicy(POLICY)).toBe(createPolicy(POLICY));
    expect(createPolicy(POLICY).version).not.toBe(createPolicy(`${POLICY} `).version);
  });

  test('is made by no policy that Cedar cannot use', () => {
    expect(() => createPolicy('permit(principal')).toThrow(PolicyUnusable);
    expect(() => createPolicy('permit(principal == ?principal, action, resource);')).toThrow(/template/);
  });
});

describe('arguments in a policy', () => {
  test.each<[string, Json, string]>([
    ['a text', 'x', 'context.args.a == "x"'],
    ['a flag', false, 'context.args.a == false'],
    ['a whole number', -7, 'context.args.a < 0'],
    ['a fraction as a decimal', 5.5, 'context.args.a.lessThan(decimal("5.6"))'],
    ['a fraction with more places as text', 0.00001, 'context.args.a == "0.00001"'],
    ['a number beyond decimals as text', 1e21, 'context.args.a == "1e+21"'],
    ['a nested record', { b: { c: 1 } }, 'context.args.a.b.c == 1'],
    ['a list as a set', ['x', 'y', 'x'], 'context.args.a.contains("y") && context.args.a == ["y", "x"]'],
    ['a list of records', [{ b: 1 }, { b: 2 }], 'context.args.a.contains({ b: 2 })'],
    ['null as nothing', null, '!(context.args has a)'],
    ['a key with quotes', { 'a "b"': 1 }, 'context.args.a["a \\"b\\""] == 1'],
  ])('%s', (_title, value, condition) => {
    expect(decide(permitWhen(condition), { args: { a: value } })).toEqual({
      decision: 'allow',
      policyIds: ['only'],
      errors: [],
    });
  });

  const argumentSchema = {
    type: 'object',
    properties: {
      amount: { type: 'number' },
      lines: { type: 'array', items: { type: 'object', properties: { price: { type: 'number' } } } },
      count: { type: 'integer' },
    },
  };

  test.each([5, 5.5, 0, -3])('a field that the schema calls a number is always a decimal: %d', (amount) => {
    const policy = permitWhen('context.args.amount.lessThanOrEqual(decimal("5.5"))');

    expect(decide(policy, { args: { amount } }, { argumentSchema }).decision).toBe('allow');
  });

  test('also inside lists, and whole numbers stay whole', () => {
    const policy = permitWhen('context.args.lines.contains({ price: decimal("2.0") }) && context.args.count == 3');

    expect(decide(policy, { args: { lines: [{ price: 2 }], count: 3 } }, { argumentSchema }).decision).toBe('allow');
  });

  test.each<[string, JsonObject]>([
    ['an entity', { a: { __entity: { type: 'Role', id: 'admin' } } }],
    ['an extension', { a: { __extn: { fn: 'decimal', arg: '1.0' } } }],
    ['an expression', { a: { __expr: 'User::"root"' } }],
    ['one inside a list', { a: [{ b: { __entity: { type: 'User', id: 'root' } } }] }],
  ])('%s that a model wrote is never taken for one', (_title, args) => {
    const decision = decide('permit(principal, action, resource);', { args });

    expect(decision).toMatchObject({ decision: 'deny', policyIds: [] });
    expect(decision.errors).toEqual([expect.stringContaining('expected a name that Cedar takes for data')]);
  });
});

describe('whether a tool could ever be permitted', () => {
  const mayExecute = (policy: string, name: string, roles: readonly string[] = []): boolean =>
    createPolicy(policy).mayEverExecute({
      principal: { subject: 'ada', roles },
      tenant: 'acme',
      resource: { kind: 'tool', name, effect: 'write', risk: 'low' },
    });

  test.each<[string, string, boolean]>([
    ['permitted without condition', 'permit(principal, action, resource);', true],
    ['permitted for some arguments', permitWhen('context.args.amount > 10'), true],
    ['permitted for some targets', permitWhen('context has target && context.target == "ticket:T1"'), true],
    ['permitted without a target only', permitWhen('!(context has target)'), true],
    [
      'forbidden for some arguments',
      `permit(principal, action, resource); forbid(principal, action, resource) when { context.args.a == 1 };`,
      true,
    ],
    ['permitted for another tool', 'permit(principal, action, resource == Tool::"other");', false],
    ['permitted for another role', 'permit(principal in Role::"admin", action, resource);', false],
    ['permitted for another action', 'permit(principal, action == Action::"respond", resource);', false],
    [
      'forbidden for all',
      'permit(principal, action, resource); forbid(principal, action, resource == Tool::"pay");',
      false,
    ],
    ['permitted for another tenant', permitWhen('context.tenant == "other" && context.args.amount > 1'), false],
  ])('%s: %s', (_title, policy, expected) => {
    expect(mayExecute(policy, 'pay')).toBe(expected);
  });

  test('is remembered for each principal apart', () => {
    const policy = 'permit(principal in Role::"admin", action, resource);';

    expect([
      mayExecute(policy, 'pay', ['admin']),
      mayExecute(policy, 'pay'),
      mayExecute(policy, 'pay', ['admin']),
    ]).toEqual([true, false, true]);
  });
});

test('a call is put to the policy with its arguments, target, agent and run', () => {
  const subject = {
    ref: { tenant: parseTenantId('acme'), run: parseRunId('run_abcdef') },
    agent: 'tickets',
    principal: { subject: 'ada', roles: [] },
    call: {
      tool: { name: 'pay', effect: 'write', risk: 'low', argumentSchema: {} },
      args: { a: 1 },
      target: 'ticket:T1',
    },
  } as const;
  const policy = permitWhen(
    'context.agent == "tickets" && context.run == "run_abcdef" && context.target == "ticket:T1" && context.args.a == 1',
  );

  expect(createPolicy(policy).evaluate(executeRequest('execute', subject)).decision).toBe('allow');
});
