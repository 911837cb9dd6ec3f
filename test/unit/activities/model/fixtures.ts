import { MessageBuilder, type ReceivedMessage } from '../../../../activities/model/message-builder';
import type { ModelRequest } from '../../../../activities/model/model-request';
import { parseStreamEvent } from '../../../../activities/model/stream-events';
import type { ModelRoute, Prices } from '../../../../definition/agent';

/** Dollars per million tokens = millionths of a dollar per token. */
export const PRICES: Prices = {
  version: '2026-01',
  inputPerMillion: 3,
  outputPerMillion: 15,
  cacheReadPerMillion: 0.3,
  cacheWritePerMillion: 3.75,
};

export const ROUTE: ModelRoute = {
  provider: 'anthropic',
  model: 'claude-sonnet-5',
  maxOutputTokens: 1_000,
  maxContextBytes: 100_000,
  idleTimeoutMs: 5_000,
  prices: PRICES,
};

export const modelRequest = (changes: Partial<ModelRequest> = {}): ModelRequest => ({
  model: ROUTE.model,
  system: 'Answer.',
  messages: [{ role: 'user', content: 'Read ticket T100.' }],
  tools: [],
  maxOutputTokens: ROUTE.maxOutputTokens,
  route: ROUTE,
  limits: { maxTokens: 1_000_000, maxCostMicros: 10_000_000, attemptTimeoutMs: 10_000 },
  estimateInputTokens: 400,
  ...changes,
});

export const start = (usage: object = {}) => ({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude-sonnet-5', content: [], usage },
});
export const blockStart = (index: number, block: object) => ({
  type: 'content_block_start',
  index,
  content_block: block,
});
export const blockDelta = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta });
export const blockStop = (index: number) => ({ type: 'content_block_stop', index });
export const messageDelta = (stopReason: string | null, usage: object = {}) => ({
  type: 'message_delta',
  delta: { stop_reason: stopReason, stop_sequence: null },
  usage,
});
export const STOP = { type: 'message_stop' };

export const TEXT = { type: 'text', text: '', citations: null };
export const toolUse = (id: string, name: string) => ({ type: 'tool_use', id, name, input: {} });

/** A block with its content in these pieces. */
export const toolUseEvents = (index: number, id: string, ...pieces: readonly string[]) => [
  blockStart(index, toolUse(id, 'read_ticket')),
  ...pieces.map((piece) => blockDelta(index, { type: 'input_json_delta', partial_json: piece })),
  blockStop(index),
];
export const textEvents = (index: number, ...pieces: readonly string[]) => [
  blockStart(index, TEXT),
  ...pieces.map((piece) => blockDelta(index, { type: 'text_delta', text: piece })),
  blockStop(index),
];

export const receive = (...events: readonly object[]): ReceivedMessage => {
  const builder = new MessageBuilder();
  for (const value of events) {
    const event = parseStreamEvent(value);
    if (event !== undefined) builder.add(event);
  }
  return builder.message;
};
