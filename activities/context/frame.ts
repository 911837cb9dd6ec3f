/** What every request of a run has in common: rules, tools and the task. Never dropped, never shortened. */
import type Anthropic from '@anthropic-ai/sdk';
import type { DefinitionSnapshot } from '../../definition/snapshot';
import { RUNTIME_TOOLS } from '../../definition/runtime-tools';
import type { RunRow, Task } from '../../store/rows';
import type { ArtifactHash } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';
import type { JsonObject } from '../../workflows/contract/json';
import type { Limits } from '../../workflows/machine/limits';
import { createBoundedCache } from './bounded-cache';
import { RunMissing } from './errors';
import { fence } from './fence';
import { limitsOf } from './limits';
import { loadDefinition, type RunViewDeps } from './load-run-view';
import { systemPromptOf } from './system-prompt';

export interface Frame {
  readonly snapshot: DefinitionSnapshot;
  readonly limits: Limits;
  readonly system: readonly Anthropic.TextBlockParam[];
  readonly tools: readonly Anthropic.Tool[];
  readonly task: Anthropic.TextBlockParam;
  /** Of system, tools and task as JSON. */
  readonly bytes: number;
}

export interface Frames {
  /** `row` saves a read where the caller has it. */
  frame(ref: RunRef, definition: ArtifactHash, row?: RunRow): Promise<Frame>;
}

const CACHED_FRAMES = 500;

/** Goal, data and narrowed limits of a run never change once it is open. */
export const createFrames = (deps: RunViewDeps): Frames => {
  const frames = createBoundedCache<Frame>({ maxEntries: CACHED_FRAMES });
  return {
    frame: async (ref, definition, known) => {
      const key = `${ref.tenant}/${ref.run}/${definition}`;
      const cached = frames.get(key);
      if (cached !== undefined) return cached;
      const [row, snapshot] = await Promise.all([
        known ?? deps.store.runs.get(ref),
        loadDefinition(deps, ref, definition),
      ]);
      if (row === undefined) throw new RunMissing(ref);
      const made = makeFrame(snapshot, row, await readBefore(deps, row));
      frames.set(key, made);
      return made;
    },
  };
};

export const makeFrame = (
  snapshot: DefinitionSnapshot,
  row: Pick<RunRow, 'task' | 'limits' | 'extension'>,
  before?: JsonObject,
): Frame => {
  const system: readonly Anthropic.TextBlockParam[] = [
    // Everything up to here is the same in every request: the provider may keep it.
    { type: 'text', text: systemPromptOf(snapshot.instructions), cache_control: { type: 'ephemeral' } },
  ];
  const tools = [...snapshot.tools, ...RUNTIME_TOOLS].map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: parseInputSchema(inputSchema),
  }));
  const task: Anthropic.TextBlockParam = { type: 'text', text: taskText(row.task, snapshot, before) };
  return {
    snapshot,
    limits: limitsOf(row, snapshot),
    system,
    tools,
    task,
    bytes: [system, tools, task].reduce((sum, part) => sum + Buffer.byteLength(JSON.stringify(part)), 0),
  };
};

/** Was checked to be one when the agent was compiled. */
const parseInputSchema = (schema: JsonObject): Anthropic.Tool.InputSchema =>
  schema as unknown as Anthropic.Tool.InputSchema;

const taskText = ({ goal, data }: Task, { conditions }: DefinitionSnapshot, before: JsonObject | undefined): string =>
  fence('task', { goal, data, conditions, ...(before === undefined ? {} : { before }) });

/**
 * What became of the run that this one reopens. That one has ended with every operation proved, so nothing of it changes any
 * more; its facts are in the status of each step.
 */
const readBefore = async ({ store }: RunViewDeps, row: RunRow): Promise<JsonObject | undefined> => {
  if (row.reopens === undefined) return undefined;
  const ref = { ...row.ref, run: row.reopens };
  const [old, result] = await Promise.all([store.runs.get(ref), store.runs.result(ref)]);
  if (old === undefined || result === undefined) return undefined;
  return {
    goal: old.task.goal,
    ended: result.terminal,
    reason: result.reason,
    answer: result.answer,
    lastStep: old.step,
    writes: result.operations
      .filter(({ effect }) => effect === 'write')
      .map(({ tool, target, state, evidence }) => ({
        tool,
        state,
        ...(target === undefined ? {} : { target }),
        ...(evidence === undefined ? {} : { evidence }),
      })),
  };
};
