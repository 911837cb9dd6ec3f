/** What the SDK throws → how the exchange ended, by class and code. */
import { APIConnectionError, APIConnectionTimeoutError, APIError } from '@anthropic-ai/sdk';
import type { AttemptEnd } from './classify-end';
import { readRetryAfterMs } from './retry-after';

/** Instead of an answer. Undefined for what is no failure of the exchange: our own bug. */
export const toEndBeforeAnswer = (error: unknown, nowMs: number): AttemptEnd | undefined => {
  if (error instanceof APIConnectionTimeoutError) return { kind: 'timedOut' };
  if (error instanceof APIConnectionError) return { kind: 'unreachable', isSent: !isUnsent(error) };
  return error instanceof APIError ? toErrorEnd(error, { isMidStream: false, nowMs }) : undefined;
};

/** In the middle of an answer: an error event of the provider, or the connection's own end. */
export const toEndMidStream = (error: unknown, nowMs: number): AttemptEnd =>
  error instanceof APIError && !(error instanceof APIConnectionError)
    ? toErrorEnd(error, { isMidStream: true, nowMs })
    : { kind: error instanceof SyntaxError ? 'malformed' : 'cut' };

/** An `APIError`: what its type promises of a body is what a well-behaved provider sends. */
interface UncheckedError {
  readonly status: unknown;
  readonly headers: Pick<Headers, 'get'> | undefined;
  readonly type: unknown;
  readonly errorCode: unknown;
  readonly apiMessage: unknown;
}

const toErrorEnd = (
  { status, headers, type, errorCode, apiMessage }: UncheckedError,
  { isMidStream, nowMs }: { readonly isMidStream: boolean; readonly nowMs: number },
): AttemptEnd => ({
  kind: 'error',
  isMidStream,
  status: typeof status === 'number' ? status : undefined,
  type: textOf(type),
  errorCode: textOf(errorCode),
  message: textOf(apiMessage),
  // The headers of a stream were written before its error was known.
  retryAfterMs: isMidStream ? undefined : readRetryAfterMs(headers, nowMs),
});

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** No connection was ever made, so nobody can have answered, or billed. */
const UNSENT_CODES: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

const MAX_CAUSES = 10;

/** By shape: an error of Node's own network code need not be an `Error` of the realm that looks at it. */
const isUnsent = (error: Error): boolean => {
  let cause: unknown = error;
  for (let depth = 0; depth < MAX_CAUSES && typeof cause === 'object' && cause !== null; depth += 1) {
    if ('code' in cause && UNSENT_CODES.has(cause.code)) return true;
    cause = 'cause' in cause ? cause.cause : undefined;
  }
  return false;
};
