/** The arguments that an approver sends in place of those that were shown, brought into the form in which they are sent. */
import type { z } from 'zod';
import type { CompiledAgent, CompiledTool } from '../definition/registry';
import { canonicalText, isJsonObject, sha256Of, toStorableJson } from '../definition/storable-json';
import type { Risk } from '../definition/tool';
import type { OperationEdit, OperationRow, RunRow } from '../store/rows';
import type { Store } from '../store/store';
import type { Json, JsonObject } from '../workflows/contract/json';
import { findPinnedTool, type PinnedToolData } from './pinned-tool';
import { showJson, showText } from './show-json';

export type PreparedEdit =
  | { readonly kind: 'invalid'; readonly message: string; readonly field?: string }
  | {
      readonly kind: 'ready';
      readonly edit: OperationEdit;
      /** Canonical: the schema's output. */
      readonly args: Json;
      readonly tool: {
        readonly name: string;
        readonly effect: 'read' | 'write';
        readonly risk: Risk;
        readonly argumentSchema: JsonObject;
        readonly isRepeatable: boolean;
      };
    };

export interface EditRequest {
  readonly run: RunRow;
  readonly operation: OperationRow;
  readonly agent: CompiledAgent;
  readonly given: Json;
}

type Deps = Pick<Store, 'artifacts' | 'facts'>;

/** Nothing is decided here, save that the arguments are none. */
export const prepareEdit = async (store: Deps, request: EditRequest): Promise<PreparedEdit> => {
  const { run, operation, agent, given } = request;
  const pinned = await findPinnedTool(store, { run, agent, name: operation.tool });
  if (pinned === undefined) return invalid(`tool: ${operation.tool} is not here as the run was pinned to it`);
  const parsed = await parseArguments(pinned.compiled, given);
  if (parsed.kind === 'invalid') return parsed;
  const target = targetOf(pinned.compiled, parsed.args);
  if (target.kind === 'invalid') return target;
  const version = await versionOf(store, request, { pinned, target });
  if (version.kind === 'invalid') return version;
  return {
    kind: 'ready',
    args: parsed.args,
    edit: {
      tool: operation.tool,
      arguments: await store.artifacts.putJson(run.ref.tenant, parsed.args),
      argumentHash: sha256Of(parsed.args),
      ...(target.object === undefined ? {} : { target: target.object }),
      ...(version.expectedVersion === undefined ? {} : { expectedVersion: version.expectedVersion }),
    },
    tool: toFace(pinned),
  };
};

type Invalid = Extract<PreparedEdit, { kind: 'invalid' }>;

const invalid = (message: string, field?: string): Invalid => ({
  kind: 'invalid',
  message,
  ...(field === undefined ? {} : { field }),
});

const toFace = ({ compiled: { tool }, snapshot }: PinnedToolData) => ({
  name: tool.name,
  effect: tool.effect,
  risk: tool.risk,
  argumentSchema: snapshot.inputSchema,
  isRepeatable: tool.repeatable === true,
});

const parseArguments = async (
  { inputSchema, tool }: CompiledTool,
  given: Json,
): Promise<Invalid | { readonly kind: 'parsed'; readonly args: JsonObject }> => {
  const parsed = await inputSchema.safeParseAsync(given);
  if (!parsed.success) return describe(given, parsed.error.issues[0]);
  const args = toStorableJson(parsed.data);
  const again = await inputSchema.safeParseAsync(args);
  const isStable = again.success && canonicalText(toStorableJson(again.data)) === canonicalText(args);
  if (!isStable || !isJsonObject(args)) return invalid(`the schema of ${tool.name} changes what it gave out itself`);
  return { kind: 'parsed', args };
};

const describe = (given: Json, issue: z.core.$ZodIssue | undefined): Invalid => {
  const path = issue?.path ?? [];
  const field = ['arguments', ...path.map(String)].join('.');
  const value = path.reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), given);
  const got = value === undefined ? 'nothing' : showJson(toStorableJson(value));
  return invalid(`${field}: got ${got}, ${issue?.message ?? 'expected others'}`, field);
};

const isRecord = (value: unknown): value is Record<PropertyKey, unknown> => typeof value === 'object' && value !== null;

interface FoundTarget {
  readonly kind: 'found';
  readonly object?: string;
  readonly expectedVersion?: string;
}

const targetOf = ({ tool }: CompiledTool, args: Json): Invalid | FoundTarget => {
  try {
    return { kind: 'found', ...tool.target?.(args) };
  } catch (error) {
    return invalid(`arguments: the target of ${tool.name} could not be told: ${messageOf(error)}`);
  }
};

const messageOf = (error: unknown): string => showText(error instanceof Error ? error.message : 'it threw');

interface Versioning {
  readonly pinned: PinnedToolData;
  readonly target: FoundTarget;
}

/** The same object at the version that was shown; another one at the version that the run knows. */
const versionOf = async (
  store: Deps,
  { run, operation }: EditRequest,
  { pinned, target }: Versioning,
): Promise<Invalid | { readonly kind: 'found'; readonly expectedVersion?: string }> => {
  const { object, expectedVersion } = target;
  if (expectedVersion !== undefined) return { kind: 'found', expectedVersion };
  if (object === operation.target) {
    const { expectedVersion: shown } = operation;
    return { kind: 'found', ...(shown === undefined ? {} : { expectedVersion: shown }) };
  }
  const facts = await store.facts.list(run.ref, { step: operation.step, alsoOf: [] });
  const known = facts.findLast((fact) => fact.object === object && fact.version !== undefined)?.version;
  if (known !== undefined) return { kind: 'found', expectedVersion: known };
  return pinned.compiled.tool.idempotency === 'version'
    ? invalid(`arguments: ${object ?? 'the object'} has not been read by this run, expected one whose version is known`)
    : { kind: 'found' };
};
