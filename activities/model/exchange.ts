/**
 * One request to the provider and its stream, once: no retry of the SDK, none of ours. It always ends, and says how.
 *
 *   1. The SDK's raw event stream is read, not its message helper: that one gives up a whole message at the first malformed
 *      argument. The price is that a stream which just ends raises nothing, so only `message_stop` makes a message.
 *   2. Only events count as progress. The SDK swallows pings, so a stream of pings alone is silent.
 *   3. The answer's own end decides: once it has come, no abort and no broken connection changes it.
 */
import Anthropic from '@anthropic-ai/sdk';
import type { ModelAccess } from '../deps';
import type { AttemptEnd } from './classify-end';
import { MessageBuilder, type ReceivedMessage } from './message-builder';
import type { ModelRequest } from './model-request';
import { toEndBeforeAnswer, toEndMidStream } from './provider-error';
import { LONGEST_TIMER_MS, StopWatch, type StopReason } from './stop-watch';
import { MalformedStream, parseStreamEvent, type StreamEvent } from './stream-events';

export interface ExchangeInput {
  readonly request: ModelRequest;
  readonly maxOutputTokens: number;
  readonly interruption: AbortSignal;
  /** Each piece of text as it comes. */
  readonly onText: (text: string) => void;
}

export interface Exchange {
  readonly end: AttemptEnd | { readonly kind: 'interrupted'; readonly isSent: boolean };
  /** As far as it came. */
  readonly message: ReceivedMessage;
  /** The provider's, for its support. */
  readonly requestId?: string;
}

export type AskProvider = (input: ExchangeInput) => Promise<Exchange>;

const PROVIDER_URL = 'https://api.anthropic.com';
/** How long the connection may stay open after the message's end before it is given up instead of reused. */
const LINGER_MS = 500;

export const createProvider = ({ apiKey, baseUrl }: ModelAccess): AskProvider => {
  // Address, retries and logs are said here, so that no variable of the environment and no default decides them.
  const client = new Anthropic({ apiKey, baseURL: baseUrl ?? PROVIDER_URL, maxRetries: 0, logLevel: 'off' });
  return async (input) => {
    const { route, limits } = input.request;
    const watch = new StopWatch({
      idleTimeoutMs: route.idleTimeoutMs,
      limitMs: limits.attemptTimeoutMs,
      interruption: input.interruption,
    });
    try {
      if (watch.reason !== undefined)
        return { end: toStopped(watch.reason, false), message: new MessageBuilder().message };
      return await exchange(client, input, watch);
    } finally {
      watch.end();
    }
  };
};

const exchange = async (client: Anthropic, input: ExchangeInput, watch: StopWatch): Promise<Exchange> => {
  const builder = new MessageBuilder();
  const opened = await open(client, input, watch);
  if (opened.kind === 'ended') return { ...opened.exchange, message: builder.message };
  const { events, requestId } = opened;
  const end = await receive({ events, builder, watch, onText: input.onText });
  return { end, message: builder.message, ...requestId };
};

type Opened =
  | { readonly kind: 'open'; readonly events: AsyncIterator<unknown>; readonly requestId: Pick<Exchange, 'requestId'> }
  | { readonly kind: 'ended'; readonly exchange: Omit<Exchange, 'message'> };

const open = async (client: Anthropic, input: ExchangeInput, watch: StopWatch): Promise<Opened> => {
  try {
    // The SDK's own time-out ends with the headers; the watch covers all of the exchange.
    const { data, request_id } = await client.messages
      .create(toParams(input), { signal: watch.signal, timeout: LONGEST_TIMER_MS })
      .withResponse();
    return { kind: 'open', events: data[Symbol.asyncIterator](), requestId: toRequestId(request_id) };
  } catch (error) {
    const end = watch.reason === undefined ? toEndBeforeAnswer(error, Date.now()) : toStopped(watch.reason, true);
    if (end === undefined) throw error;
    return {
      kind: 'ended',
      exchange: { end, ...(error instanceof Anthropic.APIError ? toRequestId(error.requestID) : {}) },
    };
  }
};

const toRequestId = (id: string | null | undefined): Pick<Exchange, 'requestId'> =>
  typeof id === 'string' ? { requestId: id } : {};

const toParams = ({ request, maxOutputTokens }: ExchangeInput): Anthropic.MessageCreateParamsStreaming => ({
  model: request.model,
  max_tokens: maxOutputTokens,
  messages: request.messages,
  stream: true,
  ...(request.system.length === 0 ? {} : { system: request.system }),
  ...(request.tools.length === 0 ? {} : { tools: request.tools }),
  ...(request.thinking === undefined ? {} : { thinking: request.thinking }),
});

const toStopped = (reason: StopReason, isSent: boolean): Exchange['end'] =>
  reason === 'interrupted' ? { kind: reason, isSent } : { kind: reason };

interface Receiving {
  readonly events: AsyncIterator<unknown>;
  readonly builder: MessageBuilder;
  readonly watch: StopWatch;
  readonly onText: (text: string) => void;
}

const receive = async ({ events, builder, watch, onText }: Receiving): Promise<Exchange['end']> => {
  for (;;) {
    const next = await nextEvent(events);
    if (next.kind === 'over') return toEnd(next.end, builder.message, watch.reason);
    if (builder.hasEnded()) continue;
    try {
      const event = parseStreamEvent(next.value);
      if (event === undefined) continue;
      builder.add(event);
      tellText(event, onText);
    } catch (error) {
      if (!(error instanceof MalformedStream)) throw error;
      return { kind: 'malformed' };
    }
    watch.progress(builder.hasEnded() ? LINGER_MS : undefined);
  }
};

/** A message that has ended comes first, then our own reason to stop, then what the connection said. */
const toEnd = (over: AttemptEnd, message: ReceivedMessage, reason: StopReason | undefined): Exchange['end'] => {
  const { hasEnded, stopReason } = message;
  if (hasEnded && stopReason !== undefined) return { kind: 'message', stopReason };
  return reason === undefined ? over : toStopped(reason, true);
};

type NextEvent =
  { readonly kind: 'event'; readonly value: unknown } | { readonly kind: 'over'; readonly end: AttemptEnd };

const nextEvent = async (events: AsyncIterator<unknown>): Promise<NextEvent> => {
  try {
    const next = await events.next();
    return next.done === true ? { kind: 'over', end: { kind: 'cut' } } : { kind: 'event', value: next.value };
  } catch (error) {
    return { kind: 'over', end: toEndMidStream(error, Date.now()) };
  }
};

const tellText = (event: StreamEvent, onText: (text: string) => void): void => {
  if (event.type === 'content_block_delta' && event.delta.type === 'text_delta') onText(event.delta.text);
};
