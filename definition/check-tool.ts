/** What is wrong with one tool. A tool that cannot keep the promise "at most once, or reconciled" says so here, not at 3 a.m. */
import type { DefinitionFault } from './definition-error';
import { createFaultList, isPositive, type FaultList } from './fault-list';
import { convertSchema, describeSchema } from './provider-schema';
import { isRuntimeTool } from './runtime-tools';
import type { Tool } from './tool';

const TOOL_NAME = /^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/;
const MAX_DESCRIPTION_LENGTH = 4_000;
const MAX_TIMEOUT_MS = 600_000;

/** Names that every object has by itself: a look-up by such a name could find what nobody put there. */
export const isInheritedName = (name: string): boolean => name in Object.prototype;

export const checkTool = (agent: string, tool: Tool): readonly DefinitionFault[] => {
  const list = createFaultList({ agent, tool: tool.name });
  checkFace(list, tool);
  checkSchema(list, tool);
  checkTimes(list, tool);
  if (tool.effect === 'read') checkRead(list, tool);
  else checkWrite(list, tool);
  return list.faults;
};

const checkFace = ({ check }: FaultList, { name, description, effect, risk }: Tool): void => {
  check(TOOL_NAME.test(name) && !isInheritedName(name), () => ({
    code: 'tool.name',
    field: 'name',
    got: name,
    expected: 'a letter, then up to 63 letters, digits, dashes or underscores, and no name that every object has',
  }));
  check(!isRuntimeTool(name), () => ({
    code: 'tool.name_reserved',
    field: 'name',
    got: name,
    expected: "a name that is not one of the runtime's own tools",
  }));
  check(description.length > 0 && description.length <= MAX_DESCRIPTION_LENGTH, () => ({
    code: 'tool.description',
    field: 'description',
    got: `${String(description.length)} characters`,
    expected: `1 to ${String(MAX_DESCRIPTION_LENGTH)} characters for the model to choose by`,
  }));
  check(['read', 'write'].includes(effect), () => ({
    code: 'tool.effect',
    field: 'effect',
    got: effect,
    expected: 'read or write',
  }));
  check(['low', 'medium', 'high'].includes(risk), () => ({
    code: 'tool.risk',
    field: 'risk',
    got: risk,
    expected: 'low, medium or high',
  }));
};

const checkSchema = ({ check }: FaultList, { inputSchema, outputSchema, volatileFields = [] }: Tool): void => {
  const conversion = convertSchema(inputSchema);
  if (conversion.kind === 'refused') {
    for (const { path, got, expected } of conversion.faults) {
      check(false, () => ({ code: 'tool.schema', field: `inputSchema${path.slice(1)}`, got, expected }));
    }
  }
  const { properties } = describeSchema(outputSchema);
  const known = typeof properties === 'object' ? Object.keys(properties ?? {}) : [];
  for (const field of volatileFields) {
    check(known.includes(field), () => ({
      code: 'tool.volatile_field',
      field: 'volatileFields',
      got: field,
      expected: `a field of the output: ${known.join(', ')}`,
    }));
  }
};

const TIMES = ['timeoutMs', 'settleWindowMs', 'keyRetentionMs', 'expectedDurationMs'] as const;

const checkTimes = ({ check }: FaultList, tool: Tool): void => {
  for (const field of TIMES) {
    const value = tool[field];
    const isRight = value === undefined || isPositive(value);
    check(isRight, () => ({
      code: 'tool.time',
      field,
      got: value,
      expected: 'a whole number of milliseconds above 0',
    }));
  }
  check((tool.timeoutMs ?? 0) <= MAX_TIMEOUT_MS, () => ({
    code: 'tool.time',
    field: 'timeoutMs',
    got: tool.timeoutMs,
    expected: `at most ${String(MAX_TIMEOUT_MS)} ms; work that takes longer is a job`,
  }));
  const { poll } = tool;
  if (poll === undefined) return;
  check(isPositive(poll.everyMs) && isPositive(poll.limitMs) && poll.limitMs >= poll.everyMs, () => ({
    code: 'tool.poll',
    field: 'poll',
    got: { everyMs: poll.everyMs, limitMs: poll.limitMs },
    expected: 'everyMs above 0 and limitMs at least as long',
  }));
};

const ONLY_OF_WRITES = [
  'idempotency',
  'reconcile',
  'lookupIsAuthoritative',
  'settleWindowMs',
  'maxLookUps',
  'keyRetentionMs',
  'poll',
  'cancel',
  'expectedDurationMs',
  'readCallback',
] as const;

const checkRead = ({ check }: FaultList, tool: Tool): void => {
  for (const field of ONLY_OF_WRITES) {
    check(
      [undefined, false, 'none'].some((nothing) => nothing === tool[field]),
      () => ({
        code: 'tool.read_only',
        field,
        got: tool[field],
        expected: 'nothing: a read has no outcome that could be unknown',
      }),
    );
  }
};

const checkWrite = ({ check }: FaultList, tool: Tool): void => {
  check(tool.target !== undefined, () => ({
    code: 'tool.target',
    field: 'target',
    got: 'nothing',
    expected:
      'a function from the input to the object that is written; it may return undefined where there is none yet',
  }));
  check(tool.facts !== undefined, () => ({
    code: 'tool.facts',
    field: 'facts',
    got: 'nothing',
    expected: 'a function from the output to what it confirms: without facts no condition can see that it was done',
  }));
  check(tool.idempotency === undefined || ['key', 'version', 'none'].includes(tool.idempotency), () => ({
    code: 'tool.idempotency',
    field: 'idempotency',
    got: tool.idempotency,
    expected: 'key, version or none',
  }));
  check(tool.lookupIsAuthoritative !== true || tool.reconcile !== undefined, () => ({
    code: 'tool.lookup_missing',
    field: 'lookupIsAuthoritative',
    got: 'true without reconcile',
    expected: 'a look-up whose "not found" can be relied on',
  }));
  check(tool.settleWindowMs === undefined || tool.reconcile !== undefined, () => ({
    code: 'tool.lookup_missing',
    field: 'settleWindowMs',
    got: `${String(tool.settleWindowMs)} without reconcile`,
    expected: 'a look-up that the window is for',
  }));
  check(tool.readCallback === undefined || tool.poll !== undefined || tool.reconcile !== undefined, () => ({
    code: 'tool.callback_alone',
    field: 'readCallback',
    got: 'a reader of callbacks without poll or reconcile',
    expected: 'a way to ask: a callback may never come, or may not say what became of the work',
  }));
  check(tool.maxLookUps === undefined || (isPositive(tool.maxLookUps) && tool.reconcile !== undefined), () => ({
    code: 'tool.look_ups',
    field: 'maxLookUps',
    got: tool.maxLookUps,
    expected: 'a whole number above 0, for a tool with reconcile',
  }));
  check(tool.keyRetentionMs === undefined || tool.idempotency === 'key', () => ({
    code: 'tool.key_retention',
    field: 'keyRetentionMs',
    got: `${String(tool.keyRetentionMs)} with idempotency ${tool.idempotency ?? 'none'}`,
    expected: "idempotency 'key'",
  }));
};
