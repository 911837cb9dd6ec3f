/**
 * A tool: one thing that an agent may do in the world, and everything that the runtime has to know to do it at most once.
 * zod in, types out. DESIGN.md 6 and 11.
 */
import type { z } from 'zod';
import type { OperationId, RunId, TenantId } from '../workflows/contract/ids';
import type { Json } from '../workflows/contract/json';

export type Risk = 'low' | 'medium' | 'high';

/** A fact as a tool declares it; the runtime adds the evidence. */
export interface DeclaredFact {
  readonly object: string;
  readonly field: string;
  readonly value: Json;
  readonly version?: string;
}

/** The object that a call is about, as `<kind>:<id>`, and the version that the call rests on, where it has one. */
export interface Target {
  readonly object: string;
  readonly expectedVersion?: string;
}

export interface ToolContext {
  readonly tenant: TenantId;
  readonly run: RunId;
  readonly operation: OperationId;
  readonly principal: { readonly subject: string; readonly roles: readonly string[] };
  /** The same for every send of this operation; never shown to the model. */
  readonly idempotencyKey: string;
  /** Aborted at the dispatch deadline and on cancel: pass it to every request. */
  readonly signal: AbortSignal;
  /** The version of the target that was read before, from facts; absent where none is known. */
  readonly expectedVersion?: string;
  /** Where the far side may report a job's progress, where the deployment has a receiver. */
  readonly callbackUrl?: string;
}

/** The body as it arrived, beside what the tool made of it. */
export interface Receipt<Output> {
  readonly output: Output;
  readonly raw?: Uint8Array | string;
}

/** A write that the far side accepted but has not finished. */
export interface Accepted {
  readonly job: string;
  readonly raw?: Uint8Array | string;
}

export type ExecuteResult<Output> =
  ({ readonly kind: 'done' } & Receipt<Output>) | ({ readonly kind: 'accepted' } & Accepted);

/** What became of *this* operation, asked by its key or its job; an object that looks as wished proves nothing. */
export type LookUpResult<Output> =
  | ({ readonly kind: 'found' } & Receipt<Output>)
  | {
      readonly kind: 'failed';
      readonly code: 'INVALID_ARGUMENT' | 'NOT_FOUND' | 'STATE_CONFLICT' | 'PERMISSION_DENIED' | 'UNAVAILABLE';
      readonly message: string;
    }
  | { readonly kind: 'running'; readonly job: string }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'notFound' }
  | { readonly kind: 'cannotTell'; readonly why: string };

export interface LookUpContext extends ToolContext {
  readonly job?: string;
}

/** A verified callback, byte for byte as it arrived. */
export interface CallbackBody {
  readonly bytes: Uint8Array;
  /** As UTF-8. */
  readonly text: string;
  /** Undefined where it is no JSON. */
  readonly json: unknown;
}

/** Whose callback it is said to be, by the address that it came to. */
export type CallbackContext = Pick<LookUpContext, 'tenant' | 'run' | 'operation' | 'idempotencyKey' | 'job'>;

/**
 * What a callback says about *this* operation. `cannotTell`, and `notFound`: the far side is asked at once. An acknowledgement
 * is `running`: only what says that the work is done is `found`. `job` is the one that it names, if any; a callback that
 * names another than the operation's changes nothing. `other`: it is not about this operation; a signature covers the body,
 * not the address it was sent to, so compare the key or whatever else the body names.
 */
export type CallbackReading<Output> =
  (LookUpResult<Output> & { readonly job?: string }) | { readonly kind: 'other'; readonly why: string };

export interface ToolDefinition<Input extends z.ZodType, Output extends z.ZodType> {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Input;
  readonly outputSchema: Output;
  readonly effect: 'read' | 'write';
  readonly risk: Risk;
  /** Reads: may be asked again and again without counting as a loop. Writes: the same arguments twice may be meant. */
  readonly repeatable?: boolean;
  /** What makes a second send harmless: the far side dedupes by key, or refuses a stale version, or nothing does. */
  readonly idempotency?: 'key' | 'version' | 'none';
  /** The object that a write changes, or that a read is about beyond those that its arguments name by `ref`. */
  readonly target?: (input: z.output<Input>) => Target | undefined;
  /** Errors are ToolError; anything else is our tool's own fault, and after a write was sent its outcome is unknown. */
  readonly execute: (input: z.output<Input>, context: ToolContext) => Promise<ExecuteResult<z.input<Output>>>;
  readonly reconcile?: (input: z.output<Input>, context: LookUpContext) => Promise<LookUpResult<z.input<Output>>>;
  /** `notFound` proves that it was not executed, once the dispatch deadline and the settle window are over. */
  readonly lookupIsAuthoritative?: boolean;
  /** How long after the dispatch deadline an effect may still become visible to a look-up. */
  readonly settleWindowMs?: number;
  /** How often the far side is asked about one send whose outcome is unknown, less and less often; then a person is. 8. */
  readonly maxLookUps?: number;
  /** How long the far side remembers a key; 24 h where absent. */
  readonly keyRetentionMs?: number;
  /** Default 10 s for writes, 1 s for reads; a read of at most 1 s runs without an activity of its own. */
  readonly timeoutMs?: number;
  readonly poll?: {
    readonly everyMs: number;
    readonly limitMs: number;
    readonly check: (input: z.output<Input>, context: LookUpContext) => Promise<LookUpResult<z.input<Output>>>;
  };
  readonly expectedDurationMs?: number;
  /** Reads a callback, and asks nobody. Without it, or where it throws, a callback only makes the runtime ask at once. */
  readonly readCallback?: (
    body: CallbackBody,
    input: z.output<Input>,
    context: CallbackContext,
  ) => CallbackReading<z.input<Output>>;
  readonly cancel?: (input: z.output<Input>, context: LookUpContext) => Promise<void>;
  readonly facts?: (output: z.output<Output>, input: z.output<Input>) => readonly DeclaredFact[];
  /** Output fields (top level) that change without meaning: left out of loop and novelty comparison. */
  readonly volatileFields?: readonly string[];
  /** What the model is shown of a result that is too large; the default is head, tail, key lines and counts. */
  readonly digest?: (output: z.output<Output>) => string;
}

/** A tool with its types forgotten: what the runtime handles. Inputs were parsed by `inputSchema` before. */
export type Tool = ToolDefinition<z.ZodType, z.ZodType>;

/** Keeps the types together while a tool is written; whatever is wrong is named when the worker starts. */
export const defineTool = <Input extends z.ZodType, Output extends z.ZodType>(
  definition: ToolDefinition<Input, Output>,
): Tool => definition;
