import type { IncomingHttpHeaders } from 'node:http';
import type { NativeRequest } from '../native-request';
import type { SentBlocks } from '../sent-blocks';
import { parseBody } from './body';
import { checkContent } from './content';
import { checkHeaders } from './headers';
import type { RequestLimits } from './limits';
import { checkPairing } from './pairing';
import { parseShape } from './shape';
import { checkSize } from './size';
import { checkThinkingBlocks } from './thinking-blocks';
import { checkTools } from './tools';

export interface ReceivedRequest {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface ValidRequest {
  readonly request: NativeRequest;
  readonly inputTokens: number;
}

/**
 * Holds a request to the provider's rules, in the provider's order: key and version, body, shape, tools, messages, size.
 * @throws ApiError with the provider's status, type and message
 */
export function validateRequest(received: ReceivedRequest, limits: RequestLimits, sent: SentBlocks): ValidRequest {
  checkHeaders(received.headers);
  const request = parseShape(parseBody(received.body, limits));
  checkTools(request);
  checkContent(request, limits.maxMessages);
  checkPairing(request.messages, limits.resultsInCallOrder);
  checkThinkingBlocks(request.messages, sent);
  return { request, inputTokens: checkSize(request, limits) };
}
