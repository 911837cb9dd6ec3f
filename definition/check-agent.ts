/** What is wrong with an agent besides its tools. */
import { WAIT_KINDS } from '../workflows/machine/states';
import type { AgentDefinition, ModelRoute } from './agent';
import { isInheritedName } from './check-tool';
import { DEFAULT_LIMITS } from './default-limits';
import type { DefinitionFault } from './definition-error';
import { createFaultList, isNaturalNumber, isPositive, type FaultList } from './fault-list';
import type { PolicyText } from './policy-text';
import { isRuntimeTool } from './runtime-tools';

const AGENT_NAME = /^[a-zA-Z][a-zA-Z0-9._-]{0,62}$/;
const VERSION = /^[\x21-\x7e]{1,64}$/;

export const checkAgent = (definition: AgentDefinition, policy: PolicyText): readonly DefinitionFault[] => {
  const list = createFaultList({ agent: definition.name });
  checkFace(list, definition);
  checkNames(list, definition);
  checkPolicy(list, definition, policy);
  checkModel(list, definition.model);
  checkLimits(list, definition);
  checkWaits(list, definition);
  return list.faults;
};

const checkFace = (
  { check }: FaultList,
  { name, version, instructions, conditions, sensitive = [] }: AgentDefinition,
): void => {
  check(AGENT_NAME.test(name) && !isInheritedName(name), () => ({
    code: 'agent.name',
    field: 'name',
    got: name,
    expected: 'a letter, then up to 62 letters, digits, dots, dashes or underscores',
  }));
  check(VERSION.test(version), () => ({
    code: 'agent.version',
    field: 'version',
    got: version,
    expected: '1 to 64 visible characters',
  }));
  check(instructions.trim().length > 0, () => ({
    code: 'agent.instructions',
    field: 'instructions',
    got: instructions,
    expected: 'some text',
  }));
  check(conditions.length > 0, () => ({
    code: 'agent.conditions',
    field: 'conditions',
    got: 'none',
    expected: 'at least one: without a condition any text would end the task as done',
  }));
  check(
    sensitive.every((pattern) => pattern instanceof RegExp),
    () => ({
      code: 'agent.sensitive',
      field: 'sensitive',
      got: sensitive,
      expected: 'regular expressions',
    }),
  );
};

const NAME = /^[a-zA-Z][a-zA-Z0-9_.-]{0,99}$/;

const checkNames = (list: FaultList, { tools, conditions, validators = [] }: AgentDefinition): void => {
  checkUnique(list, 'tools', tools);
  checkUnique(list, 'conditions', conditions);
  checkUnique(list, 'validators', validators);
  for (const [field, named] of [
    ['conditions', conditions],
    ['validators', validators],
  ] as const) {
    for (const { name } of named) {
      list.check(NAME.test(name) && !isInheritedName(name), () => ({
        code: 'agent.part_name',
        field,
        got: name,
        expected: 'a letter, then up to 99 letters, digits, dots, dashes or underscores',
      }));
    }
  }
  for (const { name, version } of validators) {
    list.check(VERSION.test(version), () => ({
      code: 'agent.validator_version',
      field: `validators.${name}.version`,
      got: version,
      expected: '1 to 64 visible characters',
    }));
  }
};

/** Names that differ in case alone would be taken for one another. */
const checkUnique = ({ check }: FaultList, field: string, named: readonly { readonly name: string }[]): void => {
  const names = named.map(({ name }) => name.toLowerCase());
  for (const twice of new Set(names.filter((name, index) => names.indexOf(name) !== index))) {
    check(false, () => ({
      code: 'agent.duplicate',
      field,
      got: `${twice} twice`,
      expected: 'names that differ, not only in case',
    }));
  }
};

const checkPolicy = ({ check }: FaultList, { tools }: AgentDefinition, policy: PolicyText): void => {
  for (const fault of policy.faults) {
    check(false, () => ({
      code: 'agent.policy',
      field: 'policy',
      got: fault,
      expected: 'a policy set that Cedar parses and that can match',
    }));
  }
  check(policy.faults.length > 0 || Object.keys(policy.policies).length > 0, () => ({
    code: 'agent.policy',
    field: 'policy',
    got: 'no policy',
    expected: 'at least one permit: what nothing permits is denied',
  }));
  for (const { type, id } of policy.entities) {
    const isKnown = type !== 'Tool' || id === '*' || isRuntimeTool(id) || tools.some(({ name }) => name === id);
    check(isKnown, () => ({
      code: 'agent.policy_tool',
      field: 'policy',
      got: `Tool::${JSON.stringify(id)}`,
      expected: `one of the agent's tools: ${tools.map(({ name }) => name).join(', ')}`,
    }));
  }
};

const MIN_CONTEXT_BYTES = 4_096;
const MIN_THINKING_TOKENS = 1_024;
const PRICES = ['inputPerMillion', 'outputPerMillion', 'cacheReadPerMillion', 'cacheWritePerMillion'] as const;

const checkModel = (
  { check }: FaultList,
  { model, maxOutputTokens, maxContextBytes, idleTimeoutMs, prices, thinking }: ModelRoute,
): void => {
  const fault = (field: string, got: unknown, expected: string) => () => ({
    code: 'agent.model',
    field: `model.${field}`,
    got,
    expected,
  });
  check(model.length > 0, fault('model', model, "the provider's name of a model"));
  check(isPositive(maxOutputTokens), fault('maxOutputTokens', maxOutputTokens, 'a whole number above 0'));
  check(
    isNaturalNumber(maxContextBytes) && maxContextBytes >= MIN_CONTEXT_BYTES,
    fault('maxContextBytes', maxContextBytes, `at least ${String(MIN_CONTEXT_BYTES)}`),
  );
  check(isPositive(idleTimeoutMs), fault('idleTimeoutMs', idleTimeoutMs, 'a whole number of milliseconds above 0'));
  check(VERSION.test(prices.version), fault('prices.version', prices.version, '1 to 64 visible characters'));
  for (const price of PRICES) {
    check(
      Number.isFinite(prices[price]) && prices[price] >= 0,
      fault(`prices.${price}`, prices[price], 'dollars, 0 or more'),
    );
  }
  if (thinking === undefined) return;
  const { budgetTokens } = thinking;
  const isRight =
    isNaturalNumber(budgetTokens) && budgetTokens >= MIN_THINKING_TOKENS && budgetTokens < maxOutputTokens;
  check(
    isRight,
    fault(
      'thinking.budgetTokens',
      budgetTokens,
      `at least ${String(MIN_THINKING_TOKENS)} and less than maxOutputTokens`,
    ),
  );
};

/** Zero is a choice for these (no repair, no retry); the others could not run at all. */
const MAY_BE_ZERO: readonly string[] = [
  'maxRepairs',
  'maxProviderFailures',
  'maxLostAttempts',
  'maxTruncations',
  'maxPauses',
  'maxAnalyses',
  'maxRetryAfterMs',
  'backOffBaseMs',
  'maxToolCalls',
];
const REFUSALS: readonly unknown[] = ['fail', 'handoff'];

const checkLimits = (
  { check }: FaultList,
  { budgets = {}, limits = {}, loops = {}, onRefusal }: AgentDefinition,
): void => {
  for (const [group, given, known] of [
    ['budgets', budgets, DEFAULT_LIMITS],
    ['limits', limits, DEFAULT_LIMITS],
    ['loops', loops, DEFAULT_LIMITS.loops],
  ] as const) {
    for (const [name, value] of Object.entries(given)) {
      const field = `${group}.${name}`;
      check(Object.hasOwn(known, name), () => ({
        code: 'agent.limit_unknown',
        field,
        got: name,
        expected: `one of ${Object.keys(known).join(', ')}`,
      }));
      if (name === 'onLoop') continue;
      const isRight = MAY_BE_ZERO.includes(name) ? isNaturalNumber(value) : isPositive(value);
      check(isRight, () => ({
        code: 'agent.limit',
        field,
        got: value,
        expected: MAY_BE_ZERO.includes(name) ? 'a whole number, 0 or more' : 'a whole number above 0',
      }));
    }
  }
  check(onRefusal === undefined || REFUSALS.includes(onRefusal), () => ({
    code: 'agent.limit',
    field: 'onRefusal',
    got: onRefusal,
    expected: 'fail or handoff',
  }));
  check(loops.onLoop === undefined || REFUSALS.includes(loops.onLoop), () => ({
    code: 'agent.limit',
    field: 'loops.onLoop',
    got: loops.onLoop,
    expected: 'fail or handoff',
  }));
};

const checkWaits = ({ check }: FaultList, { waits = {} }: AgentDefinition): void => {
  for (const [kind, settings] of Object.entries(waits)) {
    const field = `waits.${kind}`;
    check(
      WAIT_KINDS.some((each) => each === kind),
      () => ({ code: 'agent.wait', field, got: kind, expected: `one of ${WAIT_KINDS.join(', ')}` }),
    );
    check(isPositive(settings.expiresInMs), () => ({
      code: 'agent.wait',
      field: `${field}.expiresInMs`,
      got: settings.expiresInMs,
      expected: 'a whole number of milliseconds above 0',
    }));
    check(['end', 'tell-model'].includes(settings.onExpiry), () => ({
      code: 'agent.wait',
      field: `${field}.onExpiry`,
      got: settings.onExpiry,
      expected: 'end or tell-model',
    }));
  }
};
