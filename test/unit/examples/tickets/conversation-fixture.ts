/** Requests as the runtime makes them: the task, each turn with its results, the status at the end; in the runtime's own fences. */
import { fence, type Fence } from '../../../../activities/context/fence';
import type { ScriptMessage, ScriptRequest, Turn } from '../../../../testing';
import type { Json, JsonObject } from '../../../../index';

export interface PastTurn {
  readonly calls: readonly (readonly [tool: string, input: JsonObject, end: JsonObject])[];
  /** What else came with the results. */
  readonly notes?: readonly (readonly [Fence, JsonObject])[];
}

export interface RequestParts {
  readonly goal?: string;
  readonly data?: JsonObject;
  readonly turns?: readonly PastTurn[];
  readonly status?: Partial<Record<'step' | 'gaps' | 'facts' | 'finding' | 'correction', Json>>;
}

export const GOAL = 'Read ticket T100, reassign it to the right team by the on-call rules, then explain what was done.';

export const requestOf = ({ goal = GOAL, data = {}, turns = [], status = {} }: RequestParts): ScriptRequest => {
  const first = textBlock('task', { goal, data, conditions: [] });
  const past = turns.flatMap(messagesOf);
  const step = turns.length + 1;
  const last = textBlock('status', { step, gaps: [], facts: [], openOperations: [], remaining: {}, ...status });
  return {
    number: 1,
    model: 'scripted',
    maxTokens: 4_096,
    system: '',
    tools: [],
    messages: withTail([{ role: 'user', blocks: [first] }, ...past], last),
    stream: true,
  };
};

type Block = ScriptMessage['blocks'][number];

const textBlock = (name: Fence, content: JsonObject): Block => ({ type: 'text', text: fence(name, content) });

const messagesOf = ({ calls, notes = [] }: PastTurn, turn: number): readonly ScriptMessage[] => {
  const idOf = (index: number): string => `toolu_${String(turn)}_${String(index)}`;
  return [
    {
      role: 'assistant',
      blocks: calls.map(([name, input], index) => ({ type: 'tool_use', id: idOf(index), name, input: { ...input } })),
    },
    {
      role: 'user',
      blocks: [
        ...calls.map(([, , end], index): Block => ({
          type: 'tool_result',
          tool_use_id: idOf(index),
          content: fence('result', end),
          is_error: 'code' in end,
        })),
        ...notes.map(([name, content]) => textBlock(name, content)),
      ],
    },
  ];
};

const withTail = (messages: readonly ScriptMessage[], tail: Block): readonly ScriptMessage[] =>
  messages.map((message, index) =>
    index === messages.length - 1 ? { ...message, blocks: [...message.blocks, tail] } : message,
  );

/** `ticket:T100.team` → its value, as facts of the status. */
export const factsOf = (facts: JsonObject, evidence = 'E1.1'): Json =>
  Object.entries(facts).map(([name, value]) => {
    const at = name.lastIndexOf('.');
    const object = name.slice(0, at);
    const version = /@(\d+)$/.exec(object)?.[1];
    return { object, field: name.slice(at + 1), value, evidence, ...(version === undefined ? {} : { version }) };
  });

/** What a turn proposes: `[tool, input]` each. */
export const callsIn = ({ blocks }: Turn): readonly (readonly [string, Readonly<Record<string, unknown>>])[] =>
  blocks.flatMap((block) => (block.type === 'tool_use' ? [[block.name, block.input ?? {}] as const] : []));
