import { ApiError, invalidRequest } from '../api-error';
import type { RequestLimits } from './limits';

const LONE_SURROGATE = /\p{Surrogate}/u;

/** Bytes → JSON value: size, UTF-8, syntax, and no lone surrogate in any string or key. */
export function parseBody(bytes: Buffer, limits: RequestLimits): unknown {
  if (bytes.length > limits.maxBodyBytes) {
    throw new ApiError(413, `Request exceeds the maximum size of ${limits.maxBodyBytes} bytes`);
  }
  const value = parseJson(decodeUtf8(bytes));
  const broken = findLoneSurrogate(value, []);
  if (broken !== undefined) {
    throw invalidRequest(`The request body is not valid JSON: no low surrogate in string: ${broken.join('.')}`);
  }
  return value;
}

function decodeUtf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidRequest('The request body is not valid JSON: invalid UTF-8');
  }
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause);
    throw invalidRequest(`The request body is not valid JSON: ${detail}`);
  }
}

function findLoneSurrogate(value: unknown, path: readonly string[]): readonly string[] | undefined {
  if (typeof value === 'string') return LONE_SURROGATE.test(value) ? path : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, child] of Object.entries(value)) {
    if (LONE_SURROGATE.test(key)) return [...path, '(key)'];
    const found = findLoneSurrogate(child, [...path, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}
