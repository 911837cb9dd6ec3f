/**
 * How an attempt ended → what the machine is told. One table for each thing that the provider says, from the particular to
 * the general: stop reason; error code; error type; HTTP status. Whatever stands in none of them is a safe stop.
 */
/** How an exchange with the provider ended. */
export type AttemptEnd =
  /** With a whole message. */
  | { readonly kind: 'message'; readonly stopReason: string }
  /** With an error of the provider: instead of an answer, or in the middle of it. */
  | ({ readonly kind: 'error'; readonly isMidStream: boolean } & ProviderError)
  /** No answer had begun. `isSent` is false where the request provably never left. */
  | { readonly kind: 'unreachable'; readonly isSent: boolean }
  /** The stream ended, in order or not, before the message had. */
  | { readonly kind: 'cut' }
  /** The stream's events make no message. */
  | { readonly kind: 'malformed' }
  /** No event for the route's idle time-out. */
  | { readonly kind: 'stalled' }
  /** The attempt's own limit is over. */
  | { readonly kind: 'timedOut' };

export interface ProviderError {
  readonly status?: number | undefined;
  /** `error.type` of the body. */
  readonly type?: string | undefined;
  /** `error.details.error_code` of the body. */
  readonly errorCode?: string | undefined;
  readonly message?: string | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** An outcome without what only the store knows. */
export type EndVerdict =
  | { readonly kind: 'candidateStored' | 'attemptTruncated' | 'attemptPaused' }
  | { readonly kind: 'contextTooLong' }
  | { readonly kind: 'attemptFailed'; readonly code: string; readonly retryAfterMs?: number }
  | { readonly kind: 'providerRejected' | 'modelRefused'; readonly code: string };

const failed = (name: string): EndVerdict => ({ kind: 'attemptFailed', code: `model.${name}` });
const rejected = (name: string): EndVerdict => ({ kind: 'providerRejected', code: `model.${name}` });
const TOO_LONG: EndVerdict = { kind: 'contextTooLong' };

const BY_STOP_REASON: ReadonlyMap<string, EndVerdict> = new Map<string, EndVerdict>([
  ['tool_use', { kind: 'candidateStored' }],
  ['end_turn', { kind: 'candidateStored' }],
  ['stop_sequence', { kind: 'candidateStored' }],
  ['max_tokens', { kind: 'attemptTruncated' }],
  ['pause_turn', { kind: 'attemptPaused' }],
  ['refusal', { kind: 'modelRefused', code: 'model.refused' }],
  ['model_context_window_exceeded', TOO_LONG],
]);

/** Limits of the account come as 429, but no back-off helps before somebody raises them. */
const BY_ERROR_CODE: ReadonlyMap<string, EndVerdict> = new Map<string, EndVerdict>([
  ['contract_spend_limit_reached', rejected('spend_limit')],
  ['enforced_spend_limit_reached', rejected('spend_limit')],
  ['linked_organization_spend_limit_reached', rejected('spend_limit')],
  ['request_body_too_large_after_decoding', TOO_LONG],
]);

const BY_ERROR_TYPE: ReadonlyMap<string, EndVerdict> = new Map<string, EndVerdict>([
  ['invalid_request_error', rejected('invalid_request')],
  ['authentication_error', rejected('unauthenticated')],
  ['billing_error', rejected('billing')],
  ['permission_error', rejected('permission_denied')],
  ['not_found_error', rejected('not_found')],
  ['request_too_large', TOO_LONG],
  ['rate_limit_error', failed('rate_limited')],
  ['overloaded_error', failed('overloaded')],
  ['api_error', failed('server_error')],
  ['timeout_error', failed('provider_timeout')],
  ['conflict_error', failed('conflict')],
]);

/** For answers without a type that is known: a proxy in between, or a type that is newer than this table. */
const BY_STATUS: ReadonlyMap<number, EndVerdict> = new Map<number, EndVerdict>([
  [400, rejected('invalid_request')],
  [401, rejected('unauthenticated')],
  [402, rejected('billing')],
  [403, rejected('permission_denied')],
  [404, rejected('not_found')],
  [408, failed('provider_timeout')],
  [409, failed('conflict')],
  [413, TOO_LONG],
  [422, rejected('invalid_request')],
  [429, failed('rate_limited')],
  [504, failed('provider_timeout')],
  [529, failed('overloaded')],
]);

export const classifyEnd = (end: AttemptEnd): EndVerdict => {
  switch (end.kind) {
    case 'message':
      return BY_STOP_REASON.get(end.stopReason) ?? rejected('unknown_stop_reason');
    case 'error':
      return withRetryAfter(classifyError(end), end.retryAfterMs);
    case 'unreachable':
      return failed('unreachable');
    case 'cut':
      return failed('stream_cut');
    case 'malformed':
      return failed('malformed_stream');
    case 'stalled':
      return failed('stalled');
    case 'timedOut':
      return failed('timed_out');
  }
};

const classifyError = (error: ProviderError): EndVerdict => {
  if (isTooLong(error)) return TOO_LONG;
  return (
    BY_ERROR_CODE.get(error.errorCode ?? '') ??
    BY_ERROR_TYPE.get(error.type ?? '') ??
    BY_STATUS.get(error.status ?? 0) ??
    byStatusClass(error.status)
  );
};

/** An error in a stream has no status; one of an unknown type there is the provider's trouble, not the request's. */
const byStatusClass = (status: number | undefined): EndVerdict =>
  status === undefined || status >= 500 ? failed('server_error') : rejected('unexpected_status');

/**
 * The one place that looks at a message's text. The provider tells a prompt beyond the model's window apart in no other
 * way: the same status 400 and type `invalid_request_error` as for a malformed request, and no error code. Taken for
 * malformed, the run would fail where a smaller context goes on; if the wording changes, that is what happens.
 */
const TOO_LONG_TEXT = /prompt is too long|exceed context limit/i;

const isTooLong = ({ status, type, message }: ProviderError): boolean =>
  type === 'invalid_request_error' &&
  (status === undefined || status === 400) &&
  message !== undefined &&
  TOO_LONG_TEXT.test(message);

const withRetryAfter = (verdict: EndVerdict, retryAfterMs: number | undefined): EndVerdict =>
  verdict.kind === 'attemptFailed' && retryAfterMs !== undefined ? { ...verdict, retryAfterMs } : verdict;

/** Whether everything that the model said is there: only then may it be judged, or said again. */
export const isWholeTurn = (verdict: EndVerdict): boolean =>
  verdict.kind === 'candidateStored' || verdict.kind === 'attemptPaused';

/** Whether the provider has answered, or may have: then there is something to pay. */
export const isBilled = (end: AttemptEnd): boolean => {
  switch (end.kind) {
    case 'error':
      return end.isMidStream;
    case 'unreachable':
      return end.isSent;
    default:
      return true;
  }
};
