import type { Answer, AnswerBlock, UsageFigures } from './answer';
import { bytesOfText } from './tokens';

/** One event of the stream, with what the server needs to know of it besides its bytes. */
export interface ServerEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Bytes of the model's output that it carries: what the book counts. */
  readonly outputBytes: number;
  /** Index of the content block that it belongs to. */
  readonly block?: number;
}

const TEXT_CHUNK = 24;
const JSON_CHUNK = 12;

/** The whole stream of an answer in the provider's order, without pings. */
export function toEvents(answer: Answer): readonly ServerEvent[] {
  return [
    event('message_start', { message: { ...messageShell(answer), content: [], usage: usageAtStart(answer) } }),
    ...answer.blocks.flatMap((block, index) => blockEvents(block, index, answer.chunkSize)),
    ...messageDeltas(answer),
    event('message_stop', {}),
  ];
}

/** The same answer as one JSON body. Arguments that are no JSON stay a string: there is no honest object for them. */
export function toMessageBody(answer: Answer): Readonly<Record<string, unknown>> {
  return {
    ...messageShell(answer),
    content: answer.blocks.map(wholeBlock),
    stop_reason: answer.stopReason,
    stop_sequence: answer.stopSequence,
    stop_details: answer.stopDetails,
    usage: answer.usageVariant === 'none' ? {} : fullUsage(answer.usage),
  };
}

export const PING: ServerEvent = { name: 'ping', data: { type: 'ping' }, outputBytes: 0 };

function event(name: string, fields: Readonly<Record<string, unknown>>, outputBytes = 0): ServerEvent {
  return { name, data: { type: name, ...fields }, outputBytes };
}

function messageShell(answer: Answer) {
  return {
    id: answer.id,
    type: 'message',
    role: 'assistant',
    model: answer.model,
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
  };
}

function blockEvents(block: AnswerBlock, index: number, chunkSize: number | undefined): readonly ServerEvent[] {
  const isRedacted = block.type === 'redacted_thinking';
  const start = event(
    'content_block_start',
    { index, content_block: emptyBlock(block) },
    isRedacted ? bytesOfText(block.text) : 0,
  );
  const deltas = isRedacted ? [] : blockDeltas(block, chunkSize).map((delta) => deltaEvent(index, delta));
  return [start, ...deltas, event('content_block_stop', { index })].map((each) => ({ ...each, block: index }));
}

interface Delta {
  readonly delta: Readonly<Record<string, unknown>>;
  readonly outputBytes: number;
}

function deltaEvent(index: number, { delta, outputBytes }: Delta): ServerEvent {
  return event('content_block_delta', { index, delta }, outputBytes);
}

function blockDeltas(block: AnswerBlock, chunkSize: number | undefined): readonly Delta[] {
  const deltas = (type: string, field: string, size: number): readonly Delta[] =>
    chunks(block.text, chunkSize ?? size).map((chunk) => ({
      delta: { type, [field]: chunk },
      outputBytes: bytesOfText(chunk),
    }));
  switch (block.type) {
    case 'text':
      return deltas('text_delta', 'text', TEXT_CHUNK);
    case 'thinking':
      return [
        ...deltas('thinking_delta', 'thinking', TEXT_CHUNK),
        { delta: { type: 'signature_delta', signature: block.signature }, outputBytes: 0 },
      ];
    case 'redacted_thinking':
      return [];
    case 'tool_use':
    case 'server_tool_use':
      return [
        { delta: { type: 'input_json_delta', partial_json: '' }, outputBytes: 0 },
        ...deltas('input_json_delta', 'partial_json', JSON_CHUNK),
      ];
  }
}

/** Pieces of so many code points; no surrogate pair is ever split. */
function chunks(text: string, size: number): readonly string[] {
  const characters = Array.from(text);
  const count = Math.ceil(characters.length / size);
  return Array.from({ length: count }, (_, index) => characters.slice(index * size, (index + 1) * size).join(''));
}

function emptyBlock(block: AnswerBlock): Readonly<Record<string, unknown>> {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: '', citations: null };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: block.text };
    case 'tool_use':
    case 'server_tool_use':
      return { type: block.type, id: block.id, name: block.name, input: {}, caller: { type: 'direct' } };
  }
}

function wholeBlock(block: AnswerBlock): Readonly<Record<string, unknown>> {
  const empty = emptyBlock(block);
  switch (block.type) {
    case 'text':
      return { ...empty, text: block.text };
    case 'thinking':
      return { ...empty, thinking: block.text, signature: block.signature };
    case 'redacted_thinking':
      return empty;
    case 'tool_use':
    case 'server_tool_use':
      return { ...empty, input: parsedOrText(block.text) };
  }
}

function parsedOrText(json: string): unknown {
  try {
    const value: unknown = JSON.parse(json);
    return value;
  } catch {
    return json;
  }
}

function messageDeltas(answer: Answer): readonly ServerEvent[] {
  const last = event('message_delta', {
    delta: {
      stop_reason: answer.stopReason,
      stop_sequence: answer.stopSequence,
      stop_details: answer.stopDetails,
      container: null,
    },
    usage: usageAtEnd(answer),
  });
  if (answer.usageVariant !== 'output-grows') return [last];
  const half = Math.ceil(answer.usage.outputTokens / 2);
  const first = event('message_delta', {
    delta: { stop_reason: null, stop_sequence: null, stop_details: null, container: null },
    usage: { ...usageAtEnd(answer), output_tokens: half },
  });
  return [first, last];
}

function fullUsage(usage: UsageFigures): Readonly<Record<string, unknown>> {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_creation_input_tokens: usage.cacheCreationTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheCreationTokens,
      ephemeral_1h_input_tokens: 0,
    },
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: 'standard',
    speed: null,
    inference_geo: null,
  };
}

/** The provider counts one output token before the first has come. */
function usageAtStart(answer: Answer): Readonly<Record<string, unknown>> {
  const usage = { ...answer.usage, outputTokens: 1 };
  switch (answer.usageVariant) {
    case 'none':
      return {};
    case 'cache-in-delta':
      return {
        ...fullUsage(usage),
        cache_creation_input_tokens: null,
        cache_read_input_tokens: null,
        cache_creation: null,
      };
    case 'cache-larger-in-delta':
      return fullUsage({
        ...usage,
        cacheReadTokens: Math.floor(usage.cacheReadTokens / 2),
        cacheCreationTokens: Math.floor(usage.cacheCreationTokens / 2),
      });
    default:
      return fullUsage(usage);
  }
}

/** Cumulative figures of the whole message; what is absent here was final at the start. */
function usageAtEnd(answer: Answer): Readonly<Record<string, unknown>> {
  const { usage } = answer;
  if (answer.usageVariant === 'none') return {};
  if (answer.usageVariant === 'cache-in-start') return { output_tokens: usage.outputTokens };
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_creation_input_tokens: usage.cacheCreationTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    output_tokens_details: null,
    server_tool_use: null,
  };
}
