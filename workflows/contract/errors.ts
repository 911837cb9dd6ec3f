/** The error codes that reach the model, and the typed error that a tool throws. DESIGN.md 5. */
import type { Json } from './json';

export const ERROR_CODES = [
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'OBJECT_AMBIGUOUS',
  'PERMISSION_DENIED',
  'STATE_CONFLICT',
  'RATE_LIMITED',
  'UNAVAILABLE',
  'OUTCOME_UNKNOWN',
  'TOOL_FAULT',
  /** Ends that the runtime gives to calls which were not executed. */
  'DENIED',
  'EXPIRED',
  'CANCELLED',
  'SUPERSEDED',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export const isErrorCode = (value: unknown): value is ErrorCode => typeof value === 'string' && codes.has(value);

const codes: ReadonlySet<string> = new Set(ERROR_CODES);

/** Every failure that the model is told of. `confirmed` is what is known to be true all the same. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly confirmed?: Json;
  readonly evidence: readonly string[];
  readonly recoveries: readonly string[];
}
