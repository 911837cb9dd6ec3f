/** The provider's error vocabulary: HTTP status and the `type` inside the error body, and nothing else decides. */
export const ERROR_TYPE_BY_STATUS: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** A request that the provider answers with an error instead of a message. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly errorType: string = errorTypeOf(status),
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

/** Body of every error answer, and with the same shape of the `error` event inside a stream. */
export interface ErrorBody {
  readonly type: 'error';
  readonly error: { readonly type: string; readonly message: string };
  readonly request_id: string;
}

export function errorTypeOf(status: number): string {
  return ERROR_TYPE_BY_STATUS[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}

export function errorBody(errorType: string, message: string, requestId: string): ErrorBody {
  return { type: 'error', error: { type: errorType, message }, request_id: requestId };
}

/** The commonest refusal: 400 `invalid_request_error`. */
export function invalidRequest(message: string): ApiError {
  return new ApiError(400, message);
}
