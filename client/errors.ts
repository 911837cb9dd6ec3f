/** What the client throws. The code is stable; the message names field, value and expectation. */
import type { ResponseRefusal } from '../responses/refusals';

export const CLIENT_ERROR_CODES = [
  'start.agent_unknown',
  'run.not_found',
  'run.body_differs',
  'run.ended',
  'run.ending',
  'artifact.not_found',
  'wait.not_found',
  'message.kind_unknown',
  'message.wait_not_open',
  'message.id_taken',
  'input.invalid',
  'operation.not_found',
  'resolve.run_not_ended',
  'resolve.settled',
  'resolve.in_flight',
  'resolve.agent_unknown',
  'resolve.not_permitted',
  'reopen.run_not_ended',
  'reopen.operation_unknown',
  'reopen.reopened_already',
  'reopen.limits_not_permitted',
  'engine.unavailable',
] as const;
export type ClientErrorCode = (typeof CLIENT_ERROR_CODES)[number];

/** What only a service says, and so only the client that speaks to one throws. */
export const SERVICE_ERROR_CODES = [
  'request.invalid',
  'request.malformed',
  'request.media_type',
  'request.too_large',
  'request.timeout',
  'request.range',
  'route.not_found',
  'route.method',
  'cursor.invalid',
  'auth.missing',
  'auth.invalid',
  'auth.expired',
  'auth.forbidden',
  'rate.limited',
  'service.busy',
  'service.closing',
  'service.unreachable',
  'store.unavailable',
  'store.cursor_invalid',
  'store.key_too_long',
  'store.missing',
  'internal',
] as const;
export type ServiceErrorCode = (typeof SERVICE_ERROR_CODES)[number];

export type HoldfastErrorCode = ClientErrorCode | ServiceErrorCode | ResponseRefusal;

export class HoldfastError extends Error {
  override readonly name = 'HoldfastError';
  constructor(
    readonly code: HoldfastErrorCode,
    message: string,
    readonly details: { readonly field?: string; readonly cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
  }
}
