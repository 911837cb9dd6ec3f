import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { AgentDefinition } from '../../../definition/agent';
import { compileAgents } from '../../../definition/compile-agent';
import { DefinitionError } from '../../../definition/definition-error';
import type { Tool } from '../../../definition/tool';
import { agentWith, POLICY, readTicket, reassignTicket, toolWith } from './tools';

const faultsOf = (...definitions: readonly AgentDefinition[]): readonly string[] => {
  try {
    compileAgents(definitions);
    return [];
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error;
    return error.faults.map(({ code, tool, field }) =>
      [code, tool, field].filter((part) => part !== undefined).join(' '),
    );
  }
};

const withTool = (changes: Partial<Tool>, base?: Tool): AgentDefinition =>
  agentWith({ tools: [toolWith(changes, base)], policy: 'permit(principal, action, resource);' });

/** As from JavaScript, where nobody has checked the types. */
const untyped = (changes: object): Partial<AgentDefinition> => changes;

describe('an agent without faults', () => {
  test('is found by its name, with its tools and defaults', () => {
    const registry = compileAgents([
      agentWith({ loops: { noProgress: 9 }, budgets: { maxSteps: 5 }, limits: { maxRepairs: 0 } }),
    ]);
    const agent = registry.find('tickets');

    expect([...(agent?.tools.keys() ?? [])]).toEqual(['read_ticket', 'reassign_ticket']);
    expect(agent?.snapshot.limits).toMatchObject({
      maxSteps: 5,
      maxRepairs: 0,
      maxAnalyses: 2,
      deadlineMs: 86_400_000,
      onExpiry: { approval: 'end', question: 'end' },
      loops: { noProgress: 9, repeatedCall: 3, onLoop: 'fail' },
    });
    expect(registry.find('constructor')).toBeUndefined();
  });

  test('is a snapshot that survives JSON as it is', () => {
    const snapshot = compileAgents([agentWith()]).find('tickets')?.snapshot;

    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
    expect(snapshot?.policyVersion).toMatch(/^cedar:[0-9a-f]{16}$/);
  });

  test('takes the settings of its waits, the others by default', () => {
    const waits = { approval: { expiresInMs: 1_000, onExpiry: 'tell-model' } } as const;
    const snapshot = compileAgents([agentWith({ waits })]).find('tickets')?.snapshot;

    expect(snapshot?.waits).toMatchObject({ ...waits, question: { expiresInMs: 604_800_000, onExpiry: 'end' } });
    expect(snapshot?.limits.onExpiry).toMatchObject({ approval: 'tell-model', question: 'end' });
  });
});

describe('the hash of a tool', () => {
  const hashOf = (tool: Tool): string | undefined =>
    compileAgents([agentWith({ tools: [tool], policy: 'permit(principal, action, resource);' })])
      .find('tickets')
      ?.tools.get(tool.name)?.hash;

  test.each<[string, Partial<Tool>]>([
    ['its input', { inputSchema: z.object({ ticket: z.string() }) }],
    ['its output', { outputSchema: z.object({ team: z.string() }) }],
    ['its idempotency', { idempotency: 'version', keyRetentionMs: undefined } as unknown as Partial<Tool>],
    ['its look-up', { lookupIsAuthoritative: false }],
    ['its repeatability', { repeatable: true }],
  ])('changes with %s', (_title, changes) => {
    expect(hashOf(toolWith(changes))).not.toBe(hashOf(reassignTicket));
  });

  test.each<[string, Partial<Tool>]>([
    ['its description', { description: 'Other words.' }],
    ['its time-out', { timeoutMs: 77 }],
    ['its code', { execute: () => Promise.reject(new Error()) }],
  ])('does not change with %s', (_title, changes) => {
    expect(hashOf(toolWith(changes))).toBe(hashOf(reassignTicket));
  });
});

describe('faults of a tool', () => {
  test.each<[string, Partial<Tool>, string]>([
    ['a name with a blank', { name: 'read ticket' }, 'tool.name read ticket name'],
    ['a name that every object has', { name: 'constructor' }, 'tool.name constructor name'],
    ['__proto__', { name: '__proto__' }, 'tool.name __proto__ name'],
    ["the runtime's name", { name: 'finish' }, 'tool.name_reserved finish name'],
    ['no description', { description: '' }, 'tool.description reassign_ticket description'],
    [
      'a schema that cannot be sent',
      { inputSchema: z.object({ a: z.date() }) },
      'tool.schema reassign_ticket inputSchema.a',
    ],
    ['a root union', { inputSchema: z.union([z.object({}), z.string()]) }, 'tool.schema reassign_ticket inputSchema'],
    ['no target', { target: undefined } as unknown as Partial<Tool>, 'tool.target reassign_ticket target'],
    ['no facts', { facts: undefined } as unknown as Partial<Tool>, 'tool.facts reassign_ticket facts'],
    [
      'a look-up to rely on that is not there',
      { reconcile: undefined, settleWindowMs: undefined } as unknown as Partial<Tool>,
      'tool.lookup_missing reassign_ticket lookupIsAuthoritative',
    ],
    [
      'a settle window without look-up',
      { reconcile: undefined, lookupIsAuthoritative: false } as unknown as Partial<Tool>,
      'tool.lookup_missing reassign_ticket settleWindowMs',
    ],
    [
      'a reader of callbacks and no way to ask',
      {
        readCallback: () => ({ kind: 'cannotTell', why: 'never' }),
        poll: undefined,
        reconcile: undefined,
        lookupIsAuthoritative: false,
        settleWindowMs: undefined,
      } as unknown as Partial<Tool>,
      'tool.callback_alone reassign_ticket readCallback',
    ],
    ['no look-ups at all', { maxLookUps: 0 }, 'tool.look_ups reassign_ticket maxLookUps'],
    ['a key retention without key', { idempotency: 'none' }, 'tool.key_retention reassign_ticket keyRetentionMs'],
    ['a negative time-out', { timeoutMs: -1 }, 'tool.time reassign_ticket timeoutMs'],
    ['a time-out of an hour', { timeoutMs: 3_600_000 }, 'tool.time reassign_ticket timeoutMs'],
    ['a time in fractions', { settleWindowMs: 0.5 }, 'tool.time reassign_ticket settleWindowMs'],
    [
      'a poll that never comes',
      { poll: { everyMs: 10, limitMs: 5, check: () => Promise.resolve({ kind: 'notFound' }) } },
      'tool.poll reassign_ticket poll',
    ],
    [
      'a volatile field that is none',
      { volatileFields: ['readAt'] },
      'tool.volatile_field reassign_ticket volatileFields',
    ],
    [
      'an unknown idempotency',
      { idempotency: 'maybe', keyRetentionMs: undefined } as unknown as Partial<Tool>,
      'tool.idempotency reassign_ticket idempotency',
    ],
  ])('%s', (_title, changes, expected) => {
    expect(faultsOf(withTool(changes))).toEqual([expected]);
  });

  test('a read with what only writes have', () => {
    const reconcile = () => Promise.resolve({ kind: 'notFound' as const });

    expect(faultsOf(withTool({ idempotency: 'key', reconcile }, readTicket))).toEqual([
      'tool.read_only read_ticket idempotency',
      'tool.read_only read_ticket reconcile',
    ]);
  });
});

describe('faults of an agent', () => {
  test.each<[string, Partial<AgentDefinition>, readonly string[]]>([
    ['a bad name', { name: 'my agent' }, ['agent.name name']],
    ['a name that every object has', { name: 'toString' }, ['agent.name name']],
    ['no version', { version: '' }, ['agent.version version']],
    ['no instructions', { instructions: ' ' }, ['agent.instructions instructions']],
    ['no conditions', { conditions: [] }, ['agent.conditions conditions']],
    [
      'two conditions of one name',
      {
        conditions: [
          { name: 'a', check: () => ({ kind: 'met' }) },
          { name: 'A', check: () => ({ kind: 'met' }) },
        ],
      },
      ['agent.duplicate conditions'],
    ],
    [
      'two tools of one name',
      { tools: [readTicket, reassignTicket, toolWith({ name: 'Read_Ticket' }, readTicket)] },
      ['agent.duplicate tools'],
    ],
    ['policy that does not parse', { policy: 'permit(principal, action' }, ['agent.policy policy']],
    [
      'an action that does not exist',
      { policy: `${POLICY} permit(principal, action == Action::"exectue", resource);` },
      ['agent.policy policy'],
    ],
    [
      'a tool that does not exist',
      { policy: `${POLICY} permit(principal, action, resource == Tool::"close");` },
      ['agent.policy_tool policy'],
    ],
    [
      'a type that does not exist',
      { policy: `${POLICY} permit(principal in Group::"x", action, resource);` },
      ['agent.policy policy'],
    ],
    [
      'a type test that never holds',
      { policy: `${POLICY} permit(principal is Person, action, resource);` },
      ['agent.policy policy'],
    ],
    [
      'two policies of one id',
      { policy: `@id("a") permit(principal, action, resource); @id("a") forbid(principal, action, resource);` },
      ['agent.policy policy'],
    ],
    ['an empty policy', { policy: '' }, ['agent.policy policy']],
    ['a negative budget', { budgets: { maxTokens: -5 } }, ['agent.limit budgets.maxTokens']],
    ['a budget of no steps', { budgets: { maxSteps: 0 } }, ['agent.limit budgets.maxSteps']],
    ['a limit that is misspelt', untyped({ limits: { maxRepair: 1 } }), ['agent.limit_unknown limits.maxRepair']],
    ['a loop limit in fractions', { loops: { noProgress: 2.5 } }, ['agent.limit loops.noProgress']],
    ['an unknown end of loops', untyped({ loops: { onLoop: 'shrug' } }), ['agent.limit loops.onLoop']],
    ['an unknown wait', untyped({ waits: { pause: { expiresInMs: 1, onExpiry: 'end' } } }), ['agent.wait waits.pause']],
    [
      'a wait that is over at once',
      { waits: { approval: { expiresInMs: 0, onExpiry: 'end' } } },
      ['agent.wait waits.approval.expiresInMs'],
    ],
    [
      'an unknown expiry',
      untyped({ waits: { approval: { expiresInMs: 5, onExpiry: 'approve' } } }),
      ['agent.wait waits.approval.onExpiry'],
    ],
    [
      'a validator without version',
      { validators: [{ name: 'tone', version: '', check: () => undefined }] },
      ['agent.validator_version validators.tone.version'],
    ],
    [
      'a price below zero',
      { model: { ...agentWith().model, prices: { ...agentWith().model.prices, inputPerMillion: -1 } } },
      ['agent.model model.prices.inputPerMillion'],
    ],
    [
      'thinking without room',
      { model: { ...agentWith().model, thinking: { budgetTokens: 5_000 } } },
      ['agent.model model.thinking.budgetTokens'],
    ],
  ])('%s', (_title, changes, expected) => {
    expect(faultsOf(agentWith(changes))).toEqual(expected);
  });

  test('two agents of one name', () => {
    expect(faultsOf(agentWith(), agentWith())).toEqual(['agent.duplicate name']);
  });

  test('all of them are named at once, in the message too', () => {
    const definitions = [
      agentWith({ conditions: [], instructions: '' }),
      agentWith({ name: 'second', tools: [toolWith({ name: 'finish' })], policy: 'nonsense' }),
    ];
    const attempt = () => compileAgents(definitions);

    expect(faultsOf(...definitions)).toEqual([
      'agent.instructions instructions',
      'agent.conditions conditions',
      'agent.policy policy',
      'tool.name_reserved finish name',
    ]);
    expect(attempt).toThrow(
      /4 faults[^]*tickets: conditions: got none[^]*second, tool finish: name: got finish, expected/,
    );
  });
});
