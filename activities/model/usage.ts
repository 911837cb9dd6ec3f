/**
 * What an attempt costs: reserved before it is asked, settled when it has ended.
 *
 *   1. Each figure is the last that the provider gave for its field, never a sum of several.
 *   2. A figure that never came is an estimate, rather too high than too low, and the entry says that it is one.
 *   3. Cost is in whole millionths of a dollar, each attempt rounded up once, over the sum of its four parts. Prices are
 *      read to six decimals of a dollar per million tokens and multiplied as integers: no binary fraction of a price
 *      ever adds up to a wrong micro.
 */
import type { Prices } from '../../definition/agent';
import type { Usage } from '../../store/rows';
import type { Figures, ReceivedMessage } from './message-builder';
import type { ModelRequest } from './model-request';

type Tokens = Pick<Usage, 'inputTokens' | 'outputTokens' | 'cacheReadTokens' | 'cacheWriteTokens'>;

const NO_TOKENS: Tokens = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/** An attempt that reached nobody, or that the provider refused, is not billed: this is known, not estimated. */
export const NO_USAGE: Usage = Object.freeze({ ...NO_TOKENS, costMicros: 0, isEstimate: false });

/** English prose has about four bytes to a token, JSON and code three. */
const BYTES_PER_OUTPUT_TOKEN = 3;

const PRICE_SCALE = 1_000_000;

/** Dollars per million tokens = micros per token; scaled once more so that it is an integer. */
const scaled = (price: number): bigint => BigInt(Math.round(price * PRICE_SCALE));

export const costMicrosOf = (tokens: Tokens, prices: Prices): number => {
  const sum =
    BigInt(tokens.inputTokens) * scaled(prices.inputPerMillion) +
    BigInt(tokens.outputTokens) * scaled(prices.outputPerMillion) +
    BigInt(tokens.cacheReadTokens) * scaled(prices.cacheReadPerMillion) +
    BigInt(tokens.cacheWriteTokens) * scaled(prices.cacheWritePerMillion);
  const scale = BigInt(PRICE_SCALE);
  return Number((sum + scale - 1n) / scale);
};

/** The provider has answered, or may have: figures where they came, estimates where they did not. */
export const settleUsage = (message: ReceivedMessage, request: ModelRequest): Usage => {
  const { figures } = message;
  const input = settleInput(figures, request.estimateInputTokens);
  const isKnown = figures.isOutputFinal && figures.outputTokens !== undefined;
  const tokens: Tokens = { ...input.tokens, outputTokens: settleOutput(message) };
  return {
    ...tokens,
    costMicros: costMicrosOf(tokens, request.route.prices),
    isEstimate: !isKnown || input.isEstimate,
  };
};

const settleInput = (figures: Figures, estimate: number) => ({
  tokens: {
    inputTokens: figures.inputTokens ?? estimate,
    cacheReadTokens: figures.cacheReadTokens ?? 0,
    cacheWriteTokens: figures.cacheWriteTokens ?? 0,
  },
  isEstimate: figures.inputTokens === undefined,
});

const settleOutput = ({ figures, contentBytes }: ReceivedMessage): number => {
  const counted = figures.outputTokens ?? 0;
  return figures.isOutputFinal ? counted : Math.max(counted, Math.ceil(contentBytes / BYTES_PER_OUTPUT_TOKEN));
};

/**
 * Before the request leaves: all of its input, at the dearest way to take it (it may be written to a cache), and as much
 * output as it may produce.
 */
export const reservationOf = (request: ModelRequest, maxOutputTokens: number): Usage => {
  const tokens: Tokens = { ...NO_TOKENS, inputTokens: request.estimateInputTokens, outputTokens: maxOutputTokens };
  return { ...tokens, costMicros: costMicrosOf(tokens, dearestInput(request.route.prices)), isEstimate: true };
};

const dearestInput = (prices: Prices): Prices => ({
  ...prices,
  inputPerMillion: Math.max(prices.inputPerMillion, prices.cacheWritePerMillion),
});

/** The most output of which input and output still cost no more than `costMicros`; below 0 where not even the input fits. */
export const outputTokensFor = (request: ModelRequest, costMicros: number): number => {
  const left = costMicros - reservationOf(request, 0).costMicros;
  const price = request.route.prices.outputPerMillion;
  return price === 0 && left >= 0 ? Number.MAX_SAFE_INTEGER : Math.floor(left / price);
};
