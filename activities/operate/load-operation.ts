/** One operation with what it takes to carry it out: its run, its canonical arguments, and its tool as it was pinned. */
import type { DefinitionSnapshot } from '../../definition/snapshot';
import type { LookUpContext, Tool, ToolContext } from '../../definition/tool';
import { RowMissing } from '../../store/errors';
import type { OperationRow, RunRow } from '../../store/rows';
import { evidenceIdOf, operationIdOf, type EvidenceId } from '../../workflows/contract/ids';
import type { Json } from '../../workflows/contract/json';
import type { RunRef } from '../../workflows/contract/records';
import { RunMissing, RunNotOpen } from '../context/errors';
import { loadDefinition } from '../context/load-run-view';
import type { ActivityDeps } from '../deps';
import { canonicalText, toStorableJson } from './storable-json';

export interface LoadedOperation {
  readonly ref: RunRef;
  readonly run: RunRow;
  readonly snapshot: DefinitionSnapshot;
  readonly row: OperationRow;
  /** The canonical arguments: what was approved, hashed and sent. */
  readonly input: Json;
  readonly evidence: EvidenceId;
  /** Undefined where this worker lacks the tool that the run was pinned to, or has it with other schemas. */
  readonly pinned: PinnedTool | undefined;
}

export interface PinnedTool {
  readonly tool: Tool;
  /** The arguments as the tool's own schema types them, for instance with dates. */
  readonly input: unknown;
}

export interface CallCoordinates {
  readonly ref: RunRef;
  readonly step: number;
  readonly ordinal: number;
}

/** Throws RowMissing, RunMissing, RunNotOpen, and whatever the store throws. */
export const loadOperation = async (
  deps: ActivityDeps,
  { ref, step, ordinal }: CallCoordinates,
): Promise<LoadedOperation> => {
  const { store } = deps;
  const id = operationIdOf(ref.run, step, ordinal);
  const [run, row] = await Promise.all([store.runs.get(ref), store.operations.get(ref, id)]);
  if (run === undefined) throw new RunMissing(ref);
  if (run.definition === undefined) throw new RunNotOpen(ref);
  if (row === undefined) throw new RowMissing(id);
  const [snapshot, input] = await Promise.all([
    loadDefinition(deps, ref, run.definition),
    store.artifacts.getJson(ref.tenant, row.arguments).then(parseJson),
  ]);
  const tool = findPinnedTool(deps, { run, snapshot, name: row.tool });
  const pinned = tool === undefined ? undefined : await pinInput(tool, input);
  return { ref, run, snapshot, row, input, evidence: evidenceIdOf(step, ordinal), pinned };
};

const parseJson = (value: unknown): Json => value as Json;

interface Named {
  readonly run: RunRow;
  readonly snapshot: DefinitionSnapshot;
  readonly name: string;
}

export const findPinnedTool = (
  { registry }: Pick<ActivityDeps, 'registry'>,
  { run, snapshot, name }: Named,
): Tool | undefined => {
  const pinned = snapshot.tools.find((tool) => tool.name === name);
  const here = registry.find(run.agent)?.tools.get(name);
  return pinned !== undefined && here?.hash === pinned.hash ? here.tool : undefined;
};

/** Undefined where the schema makes something else of the arguments than what is stored: then it is not the pinned one. */
const pinInput = async (tool: Tool, input: Json): Promise<PinnedTool | undefined> => {
  const parsed = await tool.inputSchema.safeParseAsync(input);
  const isSame = parsed.success && canonicalText(toStorableJson(parsed.data)) === canonicalText(input);
  return isSame ? { tool, input: parsed.data } : undefined;
};

/** What a tool is told of its caller, for a call that may last until `signal` aborts. */
export const toolContextOf = (
  { callbackBaseUrl }: Pick<ActivityDeps, 'callbackBaseUrl'>,
  { ref, run, row }: Pick<LoadedOperation, 'ref' | 'run' | 'row'>,
  signal: AbortSignal,
): ToolContext => ({
  tenant: ref.tenant,
  run: ref.run,
  operation: row.id,
  principal: run.principal,
  idempotencyKey: row.id,
  signal,
  ...(row.expectedVersion === undefined ? {} : { expectedVersion: row.expectedVersion }),
  ...(callbackBaseUrl === undefined ? {} : { callbackUrl: callbackUrlOf(callbackBaseUrl, row) }),
});

const callbackUrlOf = (base: string, { id }: OperationRow): string => `${base.replace(/\/+$/, '')}/v1/callbacks/${id}`;

export const lookUpContextOf = (
  deps: Pick<ActivityDeps, 'callbackBaseUrl'>,
  operation: Pick<LoadedOperation, 'ref' | 'run' | 'row'>,
  signal: AbortSignal,
): LookUpContext => ({
  ...toolContextOf(deps, operation, signal),
  ...(operation.row.job === undefined ? {} : { job: operation.row.job }),
});
