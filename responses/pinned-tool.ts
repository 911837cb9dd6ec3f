/** A tool as the run was pinned to it, where this process has the same one. */
import { z } from 'zod';
import type { CompiledAgent, CompiledTool } from '../definition/registry';
import type { RunRow } from '../store/rows';
import type { Store } from '../store/store';
import type { Json, JsonObject } from '../workflows/contract/json';

export interface PinnedToolData {
  readonly compiled: CompiledTool;
  readonly snapshot: ToolData;
}

interface ToolData {
  readonly name: string;
  readonly hash: string;
  readonly risk: string;
  /** JSON Schema of the arguments, as the model was shown it. */
  readonly inputSchema: JsonObject;
}

const json: z.ZodType<Json> = z.json();
const TOOLS: z.ZodType<{ readonly tools: readonly ToolData[] }> = z.object({
  tools: z.array(
    z.object({ name: z.string(), hash: z.string(), risk: z.string(), inputSchema: z.record(z.string(), json) }),
  ),
});

export interface Named {
  readonly run: Pick<RunRow, 'ref' | 'definition'>;
  readonly name: string;
}

/** Undefined where the run has not opened, or its definition lacks the tool. */
export const readToolData = async (
  store: Pick<Store, 'artifacts'>,
  { run, name }: Named,
): Promise<ToolData | undefined> => {
  if (run.definition === undefined) return undefined;
  const { tools } = TOOLS.parse(await store.artifacts.getJson(run.ref.tenant, run.definition));
  return tools.find((tool) => tool.name === name);
};

/** Undefined where this process lacks the tool, or has it with other schemas or another declaration. */
export const findPinnedTool = async (
  store: Pick<Store, 'artifacts'>,
  { agent, ...named }: Named & { readonly agent: CompiledAgent },
): Promise<PinnedToolData | undefined> => {
  const snapshot = await readToolData(store, named);
  const compiled = agent.tools.get(named.name);
  return snapshot !== undefined && compiled?.hash === snapshot.hash ? { compiled, snapshot } : undefined;
};
