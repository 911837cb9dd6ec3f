/**
 * Reads a request back into what it says: the task, each turn with the ends of its calls, what people said, and the status.
 * The form is that of docs/model-protocol.md: JSON between two lines that name it.
 */
import { z } from 'zod';
import type { Json, JsonObject } from '../../../index';
import { ScriptError, toolResultText, type NativeBlock, type ScriptRequest } from '../../../testing';
import type { Call, Conversation, Response, Status, Turn } from './conversation';

const optional = z.exactOptional;
const jsonObject = z.record(z.string(), z.json());
const findingShape = z.object({ code: z.string(), message: z.string() });

const taskShape = z.object({ goal: z.string(), data: jsonObject });

const statusShape: z.ZodType<Status> = z.object({
  step: z.number(),
  gaps: z.array(z.object({ name: z.string(), kind: z.string(), lacks: z.string() })),
  facts: z.array(
    z.object({
      object: z.string(),
      field: z.string(),
      value: optional(z.json()),
      version: optional(z.string()),
      evidence: z.string(),
    }),
  ),
  finding: optional(findingShape),
  correction: optional(z.object({ rule: z.string(), what: z.string() })),
});

const endShape = z.object({
  evidence: optional(z.string()),
  code: optional(z.string()),
  message: optional(z.string()),
  result: optional(z.json()),
});

const responseShape = z.object({ wait: z.string(), response: optional(z.json()) });
const messageShape = z.object({ text: z.string() });

type Messages = ScriptRequest['messages'];

/** Throws ScriptError where the request has no task or no status: a model could not work with it either. */
export const parseConversation = ({ messages }: Pick<ScriptRequest, 'messages'>): Conversation => {
  const fences = messages.filter(({ role }) => role === 'user').flatMap(({ blocks }) => blocks.flatMap(fencesOf));
  const { goal, data } = require_(taskShape, fences.find(isNamed('task')));
  return {
    goal,
    data,
    status: require_(statusShape, fences.findLast(isNamed('status'))),
    turns: messages.flatMap((message, index) => (message.role === 'assistant' ? [toTurn(messages, index)] : [])),
    messages: fences.filter(isNamed('message')).flatMap(({ content }) => parseAs(messageShape, content)?.text ?? []),
    responses: fences.flatMap(responsesOf),
  };
};

interface Fence {
  readonly name: string;
  readonly content: unknown;
}

const FENCE = /<([a-z_]+)>\n(.*)\n<\/\1>/g;

const fencesOf = (block: NativeBlock): readonly Fence[] => {
  const text = block.type === 'text' ? block.text : block.type === 'tool_result' ? toolResultText(block) : '';
  return [...text.matchAll(FENCE)].map(([, name = '', json = '']) => ({ name, content: parseJson(json) }));
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const isNamed =
  (name: string) =>
  (fence: Fence): boolean =>
    fence.name === name;

const parseAs = <Shape extends z.ZodType>(shape: Shape, content: unknown): z.output<Shape> | undefined => {
  const parsed = shape.safeParse(content);
  return parsed.success ? parsed.data : undefined;
};

const require_ = <Shape extends z.ZodType>(shape: Shape, fence: Fence | undefined): z.output<Shape> => {
  const parsed = shape.safeParse(fence?.content);
  if (parsed.success) return parsed.data;
  throw new ScriptError(`the request has no usable <${fence?.name ?? 'task or status'}>: ${parsed.error.message}`);
};

const toTurn = (messages: Messages, index: number): Turn => {
  const uses = messages[index]?.blocks.filter((block) => block.type === 'tool_use') ?? [];
  const next = messages[index + 1]?.blocks ?? [];
  const calls = uses.map(({ id, name, input }): Call => {
    const result = next.find((block) => block.type === 'tool_result' && block.tool_use_id === id);
    return { tool: name, input: parseAs(jsonObject, input) ?? {}, ...endOf(result) };
  });
  const finding = next.flatMap(fencesOf).find(isNamed('finding'));
  const parsed = parseAs(findingShape, finding?.content);
  return { calls, ...(parsed === undefined ? {} : { finding: parsed }) };
};

const endOf = (block: NativeBlock | undefined): Omit<Call, 'tool' | 'input'> => {
  const [fence] = block === undefined ? [] : fencesOf(block);
  return parseAs(endShape, fence?.content) ?? {};
};

/** An answer stands in a block of its own, in the result of the question, or under `answer` or `response` of a call. */
const responsesOf = ({ name, content }: Fence): readonly Response[] => {
  if (name !== 'response' && name !== 'result') return [];
  const own = parseAs(responseShape, content);
  if (own !== undefined) return [own];
  const { answer, response }: JsonObject = parseAs(jsonObject, content) ?? {};
  return [answer, response].flatMap((each: Json | undefined) => parseAs(responseShape, each) ?? []);
};
