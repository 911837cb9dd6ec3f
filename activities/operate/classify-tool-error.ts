/**
 * What an error of a tool means, in one table. Codes and classes decide, never the text of a message.
 *
 *   1. A write's outcome is known only where the far side refused it, or where the request provably never left.
 *   2. Everything else that goes wrong after a write was begun leaves its outcome unknown, our own bugs included.
 *   3. What a tool says about itself (`isExecutedPossible`) overrides the table.
 */
import { ToolError } from '../../definition/tool-error';
import { isErrorCode, type ErrorCode } from '../../workflows/contract/errors';
import { CallTimedOut, OutputMismatch } from './call-errors';

export const ERROR_CLASSES = [
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'OBJECT_AMBIGUOUS',
  'PERMISSION_DENIED',
  'STATE_CONFLICT',
  'RATE_LIMITED',
  'UNAVAILABLE',
  'OUTCOME_UNKNOWN',
  'TOOL_FAULT',
  /** No connection came about: nothing was sent. */
  'refusedConnection',
  /** The connection broke, somewhere on the way there or back. */
  'brokenConnection',
  'timedOut',
  /** A reply came, and it is not what the tool declares. */
  'badOutput',
  /** Anything else that was thrown. */
  'fault',
] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

type ReadRule = readonly [code: ErrorCode, next: 'final' | 'again'];
type WriteRule = readonly [end: 'failed' | 'notExecuted' | 'unknown', code: ErrorCode];

// prettier-ignore
export const ERROR_TABLE = {
  //                   a read                                 a write, at this generation
  INVALID_ARGUMENT:  { read: ['INVALID_ARGUMENT',  'final'], write: ['failed',      'INVALID_ARGUMENT']  },
  NOT_FOUND:         { read: ['NOT_FOUND',         'final'], write: ['failed',      'NOT_FOUND']         },
  OBJECT_AMBIGUOUS:  { read: ['OBJECT_AMBIGUOUS',  'final'], write: ['failed',      'OBJECT_AMBIGUOUS']  },
  PERMISSION_DENIED: { read: ['PERMISSION_DENIED', 'final'], write: ['failed',      'PERMISSION_DENIED'] },
  STATE_CONFLICT:    { read: ['STATE_CONFLICT',    'final'], write: ['failed',      'STATE_CONFLICT']    },
  RATE_LIMITED:      { read: ['RATE_LIMITED',      'again'], write: ['notExecuted', 'RATE_LIMITED']      },
  UNAVAILABLE:       { read: ['UNAVAILABLE',       'again'], write: ['unknown',     'OUTCOME_UNKNOWN']   },
  OUTCOME_UNKNOWN:   { read: ['UNAVAILABLE',       'again'], write: ['unknown',     'OUTCOME_UNKNOWN']   },
  TOOL_FAULT:        { read: ['TOOL_FAULT',        'final'], write: ['unknown',     'TOOL_FAULT']        },
  refusedConnection: { read: ['UNAVAILABLE',       'again'], write: ['notExecuted', 'UNAVAILABLE']       },
  brokenConnection:  { read: ['UNAVAILABLE',       'again'], write: ['unknown',     'OUTCOME_UNKNOWN']   },
  timedOut:          { read: ['UNAVAILABLE',       'again'], write: ['unknown',     'OUTCOME_UNKNOWN']   },
  badOutput:         { read: ['TOOL_FAULT',        'final'], write: ['unknown',     'TOOL_FAULT']        },
  fault:             { read: ['TOOL_FAULT',        'final'], write: ['unknown',     'TOOL_FAULT']        },
} as const satisfies Record<ErrorClass, { readonly read: ReadRule; readonly write: WriteRule }>;

export interface ReadFault {
  readonly code: ErrorCode;
  readonly canRetry: boolean;
  readonly retryAfterMs?: number;
}

export type WriteFault =
  | { readonly kind: 'failed'; readonly code: ErrorCode }
  | { readonly kind: 'notExecuted'; readonly code: ErrorCode; readonly retryAfterMs?: number }
  | { readonly kind: 'unknown'; readonly code: ErrorCode; readonly retryAfterMs?: number };

export const classifyReadError = (error: unknown): ReadFault => {
  const [code, next] = ERROR_TABLE[classOf(error)].read;
  return { code, canRetry: next === 'again', ...retryAfterOf(error) };
};

export const classifyWriteError = (error: unknown): WriteFault => {
  const [end, code] = ERROR_TABLE[classOf(error)].write;
  const isPossible = asToolError(error)?.details.isExecutedPossible;
  const wait = retryAfterOf(error);
  if (isPossible === true && end !== 'unknown') return { kind: 'unknown', code: 'OUTCOME_UNKNOWN', ...wait };
  if (isPossible === false && end === 'unknown') {
    return code === 'TOOL_FAULT' ? { kind: 'failed', code } : { kind: 'notExecuted', code: 'UNAVAILABLE', ...wait };
  }
  return end === 'failed' ? { kind: end, code } : { kind: end, code, ...wait };
};

const retryAfterOf = (error: unknown): { readonly retryAfterMs?: number } => {
  const ms = asToolError(error)?.details.retryAfterMs;
  return ms !== undefined && Number.isFinite(ms) && ms > 0 ? { retryAfterMs: ms } : {};
};

/** Also where the agent's folder brought a copy of this package of its own. */
export const asToolError = (error: unknown): ToolError | undefined => {
  if (error instanceof ToolError) return error;
  const { name, code, details } = parseThrown(error);
  return name === 'ToolError' && isErrorCode(code) && typeof details === 'object' && details !== null
    ? parseToolError(error)
    : undefined;
};
const parseToolError = (error: unknown): ToolError => error as ToolError;

export const classOf = (error: unknown): ErrorClass => {
  if (error instanceof CallTimedOut) return 'timedOut';
  if (error instanceof OutputMismatch) return 'badOutput';
  const network = networkClassOf(error);
  const told = asToolError(error);
  if (told === undefined) return network ?? 'fault';
  // A tool that wraps what its client threw need not know which failures prove that nothing was sent.
  return told.code === 'UNAVAILABLE' && network === 'refusedConnection' ? network : told.code;
};

/** Failures to open a connection. Those of the second list say so only where the failing call was `connect`. */
const NEVER_CONNECTED = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EAI_FAIL',
  'EAI_NODATA',
  'EAI_NONAME',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);
const UNREACHABLE = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'ETIMEDOUT', 'EADDRNOTAVAIL']);
const BROKEN = new Set([
  ...UNREACHABLE,
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'EPROTO',
  'ENOTCONN',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_SOCKET_CONNECTION_TIMEOUT',
  'UND_ERR_ABORTED',
  'UND_ERR_BODY_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_RESPONSE',
  'UND_ERR_SOCKET',
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
]);
/** What `fetch` rejects with once its signal is aborted. */
const ABORTED = new Set(['AbortError', 'TimeoutError']);

type NetworkClass = Extract<ErrorClass, 'refusedConnection' | 'brokenConnection' | 'timedOut'>;

/**
 * The class of the first network failure in the chain of causes. Where several addresses were tried, nothing was sent only
 * if none of them was reached.
 */
const networkClassOf = (error: unknown): NetworkClass | undefined => {
  for (const { code, syscall, name, errors } of chainOf(error)) {
    if (Array.isArray(errors) && errors.length > 0) {
      return errors.every((each) => networkClassOf(each) === 'refusedConnection')
        ? 'refusedConnection'
        : 'brokenConnection';
    }
    if (typeof name === 'string' && ABORTED.has(name)) return 'timedOut';
    if (typeof code !== 'string') continue;
    if (NEVER_CONNECTED.has(code)) return 'refusedConnection';
    if (UNREACHABLE.has(code) && syscall === 'connect') return 'refusedConnection';
    if (BROKEN.has(code)) return 'brokenConnection';
  }
  return undefined;
};

const MAX_CAUSES = 10;

const chainOf = (error: unknown): readonly Thrown[] => {
  const chain: Thrown[] = [];
  let link = error;
  while (typeof link === 'object' && link !== null && chain.length < MAX_CAUSES) {
    const thrown = parseThrown(link);
    chain.push(thrown);
    link = thrown.cause;
  }
  return chain;
};

/** Read by its members: what Node throws may come from another realm than ours, where `instanceof` says no. */
interface Thrown {
  readonly name?: unknown;
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly cause?: unknown;
  readonly errors?: unknown;
  readonly details?: unknown;
}
const parseThrown = (error: unknown): Thrown => (typeof error === 'object' && error !== null ? error : {});
