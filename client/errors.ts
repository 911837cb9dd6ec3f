/** What the client throws. The code is stable; the message names field, value and expectation. */

export const CLIENT_ERROR_CODES = [
  'run.not_found',
  'run.body_differs',
  'run.ended',
  'wait.not_found',
  'artifact.not_found',
  'wait.not_found',
  'message.kind_unknown',
  'message.wait_not_open',
  'message.id_taken',
  'input.invalid',
  'engine.unavailable',
] as const;
export type ClientErrorCode = (typeof CLIENT_ERROR_CODES)[number];

export class HoldfastError extends Error {
  override readonly name = 'HoldfastError';
  constructor(
    readonly code: ClientErrorCode,
    message: string,
    readonly details: { readonly field?: string; readonly cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
  }
}
