import { ApiError, invalidRequest } from '../api-error';
import type { NativeRequest } from '../native-request';
import { promptTokens } from '../tokens';
import type { RequestLimits } from './limits';

/** Model, output limit and prompt size; returns the prompt's tokens, since counting them twice would be waste. */
export function checkSize(request: NativeRequest, limits: RequestLimits): number {
  const { model, max_tokens: maxTokens, thinking } = request;
  if (limits.models !== undefined && !limits.models.includes(model)) throw new ApiError(404, `model: ${model}`);
  if (maxTokens > limits.maxOutputTokens) {
    throw invalidRequest(
      `max_tokens: ${maxTokens} > ${limits.maxOutputTokens}, which is the maximum allowed number of output tokens for ${model}`,
    );
  }
  if (thinking?.type === 'enabled' && thinking.budget_tokens >= maxTokens) {
    throw invalidRequest('`max_tokens` must be greater than `thinking.budget_tokens`.');
  }
  const tokens = promptTokens({ system: request.system, tools: request.tools, messages: request.messages });
  if (tokens > limits.contextTokens) {
    throw invalidRequest(`prompt is too long: ${tokens} tokens > ${limits.contextTokens} maximum`);
  }
  return tokens;
}
