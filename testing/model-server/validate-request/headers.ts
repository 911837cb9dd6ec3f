import type { IncomingHttpHeaders } from 'node:http';
import { ApiError, invalidRequest } from '../api-error';

const VERSION_FORMAT = /^\d{4}-\d{2}-\d{2}$/;

/** A key in `x-api-key` or as bearer token (any value: nothing is secret offline), a version, a JSON body. */
export function checkHeaders(headers: IncomingHttpHeaders): void {
  const key = headers['x-api-key'];
  const bearer = /^Bearer\s+\S/i.test(headers.authorization ?? '');
  if ((typeof key !== 'string' || key === '') && !bearer) {
    throw new ApiError(401, 'x-api-key header is required');
  }
  const version = headers['anthropic-version'];
  if (typeof version !== 'string') throw invalidRequest('anthropic-version: header is required');
  if (!VERSION_FORMAT.test(version)) {
    throw invalidRequest(`anthropic-version: "${version}" is not a valid version`);
  }
  const contentType = headers['content-type'] ?? '';
  if (!/^application\/json\b/i.test(contentType)) {
    throw invalidRequest(`content-type: "${contentType}" is not supported, expected application/json`);
  }
}
