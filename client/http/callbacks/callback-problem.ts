/** What a sender of callbacks is told when one is not taken: RFC 9457 problems with stable codes, never a word of the body. */
import { TOLERANCE_S } from './verify-webhook';

interface Refusal {
  readonly status: 400 | 401 | 404 | 405 | 413 | 415 | 429 | 500 | 503;
  readonly title: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const MAX_BODY_BYTES = 1024 * 1024;

/** RFC 9110 asks for a challenge with each 401; there is no registered scheme for signed bodies. */
const CHALLENGE = { 'WWW-Authenticate': 'Standard-Webhooks' };

export const CALLBACK_REFUSALS = {
  'callback.method': { status: 405, title: 'callbacks are POSTed', headers: { Allow: 'POST' } },
  'callback.media_type': {
    status: 415,
    title: 'expected Content-Type application/json in UTF-8, and no Content-Encoding',
    headers: { Accept: 'application/json', 'Accept-Encoding': 'identity' },
  },
  'callback.too_large': {
    status: 413,
    title: `expected a body of at most ${String(MAX_BODY_BYTES)} bytes`,
    headers: { Connection: 'close' },
  },
  'callback.body_empty': { status: 400, title: 'expected a body' },
  'callback.body_cut': {
    status: 400,
    title: 'the body ended before it was complete',
    headers: { Connection: 'close' },
  },
  'callback.signature_missing': {
    status: 401,
    title: 'expected webhook-id, webhook-timestamp and webhook-signature',
    headers: CHALLENGE,
  },
  'callback.signature_invalid': { status: 401, title: 'no signature of the body is valid', headers: CHALLENGE },
  'callback.expired': {
    status: 401,
    title: `signed more than ${String(TOLERANCE_S)} seconds from now`,
    headers: CHALLENGE,
  },
  'callback.operation_unknown': { status: 404, title: 'there is no such operation' },
  'rate.limited': { status: 429, title: 'too many callbacks' },
  'callback.unavailable': {
    status: 503,
    title: 'it could not be stored; it has not been taken',
    headers: { 'Retry-After': '5' },
  },
  'callback.internal': { status: 500, title: 'it could not be taken' },
} as const satisfies Readonly<Record<string, Refusal>>;
export type CallbackProblemCode = keyof typeof CALLBACK_REFUSALS;

/** `retryAfter` in seconds, where it is known better than by the code. */
export const toProblem = (code: CallbackProblemCode, retryAfter?: number): Response => {
  const { status, title, headers: usual = {} }: Refusal = CALLBACK_REFUSALS[code];
  const headers = { ...usual, ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }) };
  const body = JSON.stringify({ type: `urn:holdfast:problem:${code}`, title, status, code });
  return new Response(body, { status, headers: { ...headers, 'Content-Type': 'application/problem+json' } });
};
