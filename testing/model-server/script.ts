import {
  blocksOf,
  type NativeBlock,
  type NativeMessage,
  type NativeRequest,
  type NativeTool,
  type NativeToolResult,
} from './native-request';
import type { Turn, TurnBlock } from './turn';

/** What a scripted model sees: the request, parsed, with every message's content as native blocks. */
export interface ScriptRequest {
  /** Requests since the start or the last reset, counted from 1, refused ones included. */
  readonly number: number;
  readonly model: string;
  readonly maxTokens: number;
  /** The system prompt's text, its blocks joined by blank lines. */
  readonly system: string;
  readonly tools: readonly NativeTool[];
  readonly messages: readonly ScriptMessage[];
  readonly stream: boolean;
}

export interface ScriptMessage {
  readonly role: 'user' | 'assistant';
  readonly blocks: readonly NativeBlock[];
}

/** A scripted model. What it throws is answered as 400 and kept in the server's `scriptFailures`. */
export type Script = (request: ScriptRequest) => Turn | Promise<Turn>;

export class ScriptError extends Error {
  override readonly name = 'ScriptError';
}

export function toScriptRequest(request: NativeRequest, number: number): ScriptRequest {
  const { system = '' } = request;
  return {
    number,
    model: request.model,
    maxTokens: request.max_tokens,
    system: typeof system === 'string' ? system : system.map((block) => block.text).join('\n\n'),
    tools: request.tools ?? [],
    messages: request.messages.map((message: NativeMessage) => ({ role: message.role, blocks: blocksOf(message) })),
    stream: request.stream ?? false,
  };
}

export function text(content: string): TurnBlock {
  return { type: 'text', text: content };
}

export function toolUse(name: string, input: Readonly<Record<string, unknown>>, id?: string): TurnBlock {
  return { type: 'tool_use', name, input: { ...input }, ...(id === undefined ? {} : { id }) };
}

/** A tool use with its arguments as raw text: malformed, cut, or with keys twice. */
export function rawToolUse(name: string, inputJson: string, id?: string): TurnBlock {
  return { type: 'tool_use', name, inputJson, ...(id === undefined ? {} : { id }) };
}

export function thinking(content: string, signature?: string): TurnBlock {
  return { type: 'thinking', thinking: content, ...(signature === undefined ? {} : { signature }) };
}

export function redactedThinking(data?: string): TurnBlock {
  return { type: 'redacted_thinking', ...(data === undefined ? {} : { data }) };
}

/** One turn of these blocks. */
export function turn(blocks: readonly TurnBlock[], rest: Omit<Turn, 'blocks'> = {}): Turn {
  return { ...rest, blocks: [...blocks] };
}

/**
 * The turns in the order of the requests, whoever asks. A turn whose delivery fails is spent; a request that a fault
 * refuses before the script is asked spends none. Asked once too often, it throws.
 */
export function sequence(turns: readonly (Turn | Script)[]): Script {
  let asked = 0;
  return (request) => {
    const next = turns[asked];
    asked += 1;
    if (next === undefined) {
      throw new ScriptError(`sequence: asked for turn ${asked}, but the script has ${turns.length}`);
    }
    return typeof next === 'function' ? next(request) : next;
  };
}

/**
 * The turns by position in the conversation: as many assistant turns as the request holds have been taken. It keeps no
 * state, so it serves many runs at once, gives a retry the same turn, and goes on after a restart of the server.
 */
export function byExchange(turns: readonly (Turn | Script)[]): Script {
  return (request) => {
    const position = request.messages.filter((message) => message.role === 'assistant').length;
    const next = turns[position];
    if (next === undefined) {
      throw new ScriptError(`byExchange: asked for turn ${position + 1}, but the script has ${turns.length}`);
    }
    return typeof next === 'function' ? next(request) : next;
  };
}

/** The results that answer the latest tool uses, in their order; empty when the last message holds none. */
export function lastToolResults(request: ScriptRequest): readonly NativeToolResult[] {
  const last = request.messages.at(-1);
  return last?.role === 'user' ? last.blocks.filter((block) => block.type === 'tool_result') : [];
}

export function toolResultText(result: NativeToolResult): string {
  const { content = '' } = result;
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** The text of the latest message that a user wrote, tool results left out. */
export function lastUserText(request: ScriptRequest): string {
  const last = request.messages
    .filter((message) => message.role === 'user' && message.blocks.some((block) => block.type === 'text'))
    .at(-1);
  return last?.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n') ?? '';
}

/** All tool uses so far, oldest first: what the conversation shows of what the model has done. */
export function toolUsesSoFar(request: ScriptRequest): readonly Extract<NativeBlock, { type: 'tool_use' }>[] {
  return request.messages.flatMap((message) => message.blocks.filter((block) => block.type === 'tool_use'));
}
