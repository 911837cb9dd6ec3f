/** The one error that a tool throws on purpose. */
import type { ErrorCode } from '../workflows/contract/errors';
import type { Json } from '../workflows/contract/json';

export interface ToolErrorDetails {
  /** What is known to be true all the same, for instance the object's current version. */
  readonly confirmed?: Json;
  /** RATE_LIMITED, UNAVAILABLE: not before. */
  readonly retryAfterMs?: number;
  /** OBJECT_AMBIGUOUS: the objects that match, as `<kind>:<id>` with a label. */
  readonly matches?: readonly { readonly object: string; readonly label: string }[];
  /** The request provably never left, or was refused before anything was done: `false` where that is not known. */
  readonly isExecutedPossible?: boolean;
  readonly raw?: string;
  readonly cause?: unknown;
}

export class ToolError extends Error {
  override readonly name = 'ToolError';
  constructor(
    readonly code: Extract<
      ErrorCode,
      | 'INVALID_ARGUMENT'
      | 'NOT_FOUND'
      | 'OBJECT_AMBIGUOUS'
      | 'PERMISSION_DENIED'
      | 'STATE_CONFLICT'
      | 'RATE_LIMITED'
      | 'UNAVAILABLE'
      | 'OUTCOME_UNKNOWN'
      | 'TOOL_FAULT'
    >,
    message: string,
    readonly details: ToolErrorDetails = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
  }
}
