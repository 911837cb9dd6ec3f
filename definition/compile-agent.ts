/** Agents as a worker uses them: checked, with their defaults, and as the data that runs are pinned to. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonObject } from '../workflows/contract/json';
import type { Limits } from '../workflows/machine/limits';
import type { WaitKind } from '../workflows/machine/states';
import type { AgentDefinition, WaitSettings } from './agent';
import { checkAgent } from './check-agent';
import { checkTool } from './check-tool';
import { DEFAULT_LIMITS, DEFAULT_WAITS } from './default-limits';
import { DefinitionError, type DefinitionFault } from './definition-error';
import { parsePolicyText, type PolicyText } from './policy-text';
import { convertSchema, describeSchema } from './provider-schema';
import type { AgentRegistry, CompiledAgent, CompiledTool } from './registry';
import type { DefinitionSnapshot, ToolSnapshot } from './snapshot';
import type { Tool } from './tool';

/**
 * The agents of a process, checked: a worker runs them, and a service that embeds the client asks their policies who may answer
 * a wait, resolve or exceed limits (`agents` of `createDirectParts`). It has to be given the same definitions as the workers: an
 * agent that it lacks is `response.agent_unknown`. Throws DefinitionError with everything that is wrong with any of them.
 */
export const compileAgents = (definitions: readonly AgentDefinition[]): AgentRegistry => {
  const sources = parsePolicies(definitions);
  const faults = [...findDuplicateAgents(definitions), ...sources.flatMap(findFaults)];
  if (faults.length > 0) throw new DefinitionError(faults);
  const agents = new Map(sources.map((source) => [source.definition.name, compileAgent(source)]));
  return { agents, find: (name) => agents.get(name) };
};

interface AgentSource {
  readonly definition: AgentDefinition;
  readonly policy: PolicyText;
}

/** Each text once: agents mostly share one, and parsing is what takes longest of all that is done here. */
const parsePolicies = (definitions: readonly AgentDefinition[]): readonly AgentSource[] => {
  const parsed = new Map<string, PolicyText>();
  return definitions.map((definition) => {
    const policy = parsed.get(definition.policy) ?? parsePolicyText(definition.policy);
    parsed.set(definition.policy, policy);
    return { definition, policy };
  });
};

const findFaults = ({ definition, policy }: AgentSource): readonly DefinitionFault[] => [
  ...checkAgent(definition, policy),
  ...definition.tools.flatMap((tool) => checkTool(definition.name, tool)),
];

const findDuplicateAgents = (definitions: readonly AgentDefinition[]): readonly DefinitionFault[] => {
  const names = definitions.map(({ name }) => name.toLowerCase());
  const twice = definitions.filter(({ name }, index) => names.indexOf(name.toLowerCase()) !== index);
  return twice.map(({ name }) => ({
    code: 'agent.duplicate',
    agent: name,
    field: 'name',
    got: `${name} twice`,
    expected: 'agents whose names differ, not only in case',
  }));
};

const compileAgent = ({ definition, policy }: AgentSource): CompiledAgent => {
  const tools = definition.tools.map(compileTool);
  return {
    definition,
    snapshot: takeSnapshot({ definition, policy }, tools),
    tools: new Map(tools.map((compiled) => [compiled.tool.name, compiled])),
  };
};

interface CompiledToolWithSchema extends CompiledTool {
  readonly shownSchema: JsonObject;
}

const compileTool = (tool: Tool): CompiledToolWithSchema => {
  const conversion = convertSchema(tool.inputSchema);
  // checkTool has named it before; a definition with faults is never compiled.
  const shownSchema = conversion.kind === 'converted' ? conversion.schema : {};
  return { tool, inputSchema: tool.inputSchema, shownSchema, hash: hashTool(tool, shownSchema) };
};

/** What a pinned run relies on. A change of words or of time limits hands no run off. */
const hashTool = (tool: Tool, inputSchema: JsonObject): string =>
  hashOf({
    name: tool.name,
    inputSchema,
    outputSchema: describeSchema(tool.outputSchema),
    effect: tool.effect,
    repeatable: tool.repeatable ?? false,
    idempotency: tool.idempotency ?? 'none',
    hasLookUp: tool.reconcile !== undefined,
    lookupIsAuthoritative: tool.lookupIsAuthoritative ?? false,
    isJob: tool.poll !== undefined,
  });

const hashOf = (value: JsonObject): string =>
  createHash('sha256')
    .update(canonicalize(value) ?? '')
    .digest('hex');

const takeSnapshot = (
  { definition, policy }: AgentSource,
  tools: readonly CompiledToolWithSchema[],
): DefinitionSnapshot => {
  const waits = waitsOf(definition);
  return {
    schemaVersion: 1,
    agent: definition.name,
    version: definition.version,
    instructions: definition.instructions,
    tools: tools.map(snapshotTool),
    policyVersion: policy.version,
    validators: (definition.validators ?? []).map(({ name, version }) => ({ name, version })),
    conditions: definition.conditions.map(({ name }) => name),
    model: definition.model,
    limits: limitsOf(definition, waits),
    waits,
  };
};

const snapshotTool = ({ tool, hash, shownSchema }: CompiledToolWithSchema): ToolSnapshot => ({
  name: tool.name,
  description: tool.description,
  effect: tool.effect,
  risk: tool.risk,
  inputSchema: shownSchema,
  hash,
});

const byWaitKind = <Value>(valueOf: (kind: WaitKind) => Value): Readonly<Record<WaitKind, Value>> => ({
  question: valueOf('question'),
  approval: valueOf('approval'),
  acceptance: valueOf('acceptance'),
  reconciliation: valueOf('reconciliation'),
  handoff: valueOf('handoff'),
});

const waitsOf = ({ waits = {} }: AgentDefinition): Readonly<Record<WaitKind, WaitSettings>> =>
  byWaitKind((kind) => waits[kind] ?? DEFAULT_WAITS[kind]);

const limitsOf = (
  { budgets = {}, limits = {}, loops = {}, onRefusal = DEFAULT_LIMITS.onRefusal }: AgentDefinition,
  waits: Readonly<Record<WaitKind, WaitSettings>>,
): Limits => ({
  ...DEFAULT_LIMITS,
  ...limits,
  ...budgets,
  onRefusal,
  onExpiry: byWaitKind((kind) => waits[kind].onExpiry),
  loops: { ...DEFAULT_LIMITS.loops, ...loops },
});
