/**
 * What to do about an operation whose outcome is unknown. Pure: everything it looks at comes in.
 *
 *   (a) look-up, and a repeated send is harmless (key or version): not found once everything is quiet → send again
 *   (b) a repeated send is harmless, no look-up: once everything is quiet → send again; that reply is the truth
 *   (c) look-up only: not found → a person, save where the look-up is authoritative: then it was not executed
 *   (d) neither → a person, once everything is quiet
 *
 * Invariants:
 *   1. Quiet is after the dispatch deadline of the latest send, the settle window, and any back-off. Nothing is sent before.
 *   2. Nothing is sent where neither a key, nor a version, nor an authoritative "not found" makes it harmless.
 *   3. Nothing is sent once the run is stopped for this operation (cancel, newer plan, end, policy): it is only looked up.
 *   4. Sends, look-ups and the far side's memory of keys are bounded; whatever is left over goes to a person.
 *   5. Our own tool's fault is never answered by another send, nor is what the far side accepted as a job, nor what it
 *      refused for good and can be asked about.
 */
import type { Tool } from '../../definition/tool';
import type { OperationRow } from '../../store/rows';
import type { ErrorCode } from '../../workflows/contract/errors';

/** What the tool declares that bears on it. */
export interface ToolTraits {
  readonly canLookUp: boolean;
  readonly isLookUpAuthoritative: boolean;
  readonly idempotency: 'key' | 'version' | 'none';
  readonly settleWindowMs: number;
  readonly keyRetentionMs: number;
  /** For each send; then a person. */
  readonly maxLookUps: number;
  readonly timeoutMs: number;
}

export type SentOperation = Pick<
  OperationRow,
  'generation' | 'lookUps' | 'firstDispatchedAt' | 'dispatchDeadlineAt' | 'notBeforeAt' | 'job' | 'code'
>;

/** What a look-up said, or that none was made. */
export type LookUpAnswer = 'found' | 'failed' | 'running' | 'cancelled' | 'notFound' | 'cannotTell';

export interface Inquiry {
  readonly traits: ToolTraits;
  readonly operation: SentOperation;
  /** By the database's clock. */
  readonly now: number;
  readonly isStopped: boolean;
  readonly answer?: LookUpAnswer;
  /** When the look-up was begun: what it does not find may have come since. */
  readonly askedAt?: number;
  /** The far side refused the latest send for good, while an earlier one is still open. */
  readonly refusal?: ErrorCode;
}

export const PERSON_REASONS = [
  'unknown.no_way_to_ask',
  'unknown.not_found_proves_nothing',
  'unknown.contradiction',
  'unknown.look_up_failed',
  'unknown.key_forgotten',
  'unknown.sends_spent',
  'unknown.tool_fault',
  'unknown.stopped',
  'unknown.job_lost',
  'unknown.refused_later',
  /** Asked before, for whatever reason. */
  'unknown.unresolved',
] as const;
export type PersonReason = (typeof PERSON_REASONS)[number];

export type UnknownNext =
  | { readonly kind: 'lookUp'; readonly afterMs: number }
  | { readonly kind: 'resend'; readonly afterMs: number }
  | {
      readonly kind: 'settled';
      readonly state: 'SUCCEEDED' | 'FAILED' | 'CANCELLED' | 'NOT_EXECUTED' | 'RUNNING';
      readonly code?: ErrorCode;
    }
  | { readonly kind: 'person'; readonly why: PersonReason };

export const MAX_GENERATIONS = 5;
/** Where the tool declares no other limit. */
export const MAX_LOOK_UPS = 8;
/** A lost receipt is mostly lost after the effect: the first look-up need not wait for the deadline. */
export const FIRST_LOOK_UP_MS = 250;
const LOOK_UP_BACK_OFF_MS = 1_000;
const LOOK_UP_BACK_OFF_MAX_MS = 60_000;
const DEFAULT_WRITE_TIMEOUT_MS = 10_000;
const DEFAULT_KEY_RETENTION_MS = 24 * 60 * 60_000;

export const traitsOf = (tool: Tool): ToolTraits => ({
  canLookUp: tool.reconcile !== undefined,
  isLookUpAuthoritative: tool.lookupIsAuthoritative === true,
  idempotency: tool.idempotency ?? 'none',
  settleWindowMs: tool.settleWindowMs ?? 0,
  keyRetentionMs: tool.keyRetentionMs ?? DEFAULT_KEY_RETENTION_MS,
  maxLookUps: tool.maxLookUps ?? MAX_LOOK_UPS,
  timeoutMs: tool.timeoutMs ?? DEFAULT_WRITE_TIMEOUT_MS,
});

export const nextForUnknown = (inquiry: Inquiry): UnknownNext => {
  const { answer } = inquiry;
  if (answer === undefined || answer === 'cannotTell') {
    return inquiry.traits.canLookUp ? nextLookUp(inquiry) : nextWithoutLookUp(inquiry);
  }
  switch (answer) {
    case 'found':
      return { kind: 'settled', state: 'SUCCEEDED' };
    case 'failed':
      return { kind: 'settled', state: 'FAILED' };
    case 'cancelled':
      return { kind: 'settled', state: 'CANCELLED' };
    case 'running':
      return { kind: 'settled', state: 'RUNNING' };
    case 'notFound':
      return nextForNotFound(inquiry);
  }
};

/** Milliseconds until no send of ours can take effect unseen any more, and no back-off is left. */
export const quietInMs = ({ traits, operation, now }: Pick<Inquiry, 'traits' | 'operation' | 'now'>): number =>
  Math.max((operation.dispatchDeadlineAt ?? now) + traits.settleWindowMs, operation.notBeforeAt ?? 0, now) - now;

const nextForNotFound = (inquiry: Inquiry): UnknownNext => {
  const { traits, operation, isStopped, refusal } = inquiry;
  // It was known there once, by its job: one of the two answers is wrong.
  if (operation.job !== undefined) return { kind: 'person', why: 'unknown.contradiction' };
  const wasQuiet = quietInMs({ ...inquiry, now: inquiry.askedAt ?? inquiry.now }) === 0;
  if (!wasQuiet) return nextLookUp(inquiry, Math.max(quietInMs(inquiry), 1));
  if (traits.isLookUpAuthoritative) return nextForProvedUnexecuted(inquiry);
  if (isStopped) return nextLookUp(inquiry);
  if (traits.idempotency === 'none') return { kind: 'person', why: 'unknown.not_found_proves_nothing' };
  return refusal === undefined ? nextSend(inquiry) : { kind: 'person', why: 'unknown.refused_later' };
};

/** Where a repeated send is harmless the operation stays open to what the far side may still know better than its look-up. */
const nextForProvedUnexecuted = (inquiry: Inquiry): UnknownNext => {
  const { traits, operation, isStopped, refusal } = inquiry;
  if (isStopped) return { kind: 'settled', state: 'CANCELLED', code: 'CANCELLED' };
  const failure = refusal ?? (operation.code === 'TOOL_FAULT' ? operation.code : undefined);
  if (failure !== undefined) return { kind: 'settled', state: 'FAILED', code: failure };
  const isLast = operation.generation >= MAX_GENERATIONS;
  return traits.idempotency === 'none' || isLast ? { kind: 'settled', state: 'NOT_EXECUTED' } : nextSend(inquiry);
};

/** After the back-off, or as soon as it is quiet where an answer before that would prove nothing. */
const nextLookUp = ({ traits, operation, now }: Inquiry, quietIn = 0): UnknownNext => {
  const { lookUps, generation, notBeforeAt = now } = operation;
  if (lookUps >= traits.maxLookUps * Math.max(1, generation)) return { kind: 'person', why: 'unknown.look_up_failed' };
  const backOff = lookUps === 0 ? FIRST_LOOK_UP_MS : LOOK_UP_BACK_OFF_MS * 2 ** (lookUps - 1);
  const afterMs = quietIn > 0 ? quietIn : Math.min(backOff, LOOK_UP_BACK_OFF_MAX_MS);
  return { kind: 'lookUp', afterMs: Math.max(afterMs, notBeforeAt - now) };
};

const nextWithoutLookUp = (inquiry: Inquiry): UnknownNext => {
  const next = findWithoutLookUp(inquiry);
  const quietIn = quietInMs(inquiry);
  // Its sender may still reply, or it may still take effect: whoever is asked now could only look too early.
  return next.kind === 'person' && quietIn > 0 ? { kind: 'lookUp', afterMs: quietIn } : next;
};

const findWithoutLookUp = (inquiry: Inquiry): UnknownNext => {
  const { traits, isStopped } = inquiry;
  if (traits.idempotency === 'none') return { kind: 'person', why: 'unknown.no_way_to_ask' };
  if (isStopped) return { kind: 'person', why: 'unknown.stopped' };
  return nextSend(inquiry);
};

const nextSend = (inquiry: Inquiry): UnknownNext => {
  const { traits, operation } = inquiry;
  if (operation.job !== undefined) return { kind: 'person', why: 'unknown.job_lost' };
  if (operation.code === 'TOOL_FAULT') return { kind: 'person', why: 'unknown.tool_fault' };
  if (operation.generation >= MAX_GENERATIONS) return { kind: 'person', why: 'unknown.sends_spent' };
  const afterMs = quietInMs(inquiry);
  if (traits.idempotency === 'key' && isKeyForgotten(inquiry, afterMs))
    return { kind: 'person', why: 'unknown.key_forgotten' };
  return { kind: 'resend', afterMs };
};

/** Whether the far side may have forgotten the key before a send that starts in `afterMs` has reached it. */
const isKeyForgotten = ({ traits, operation, now }: Inquiry, afterMs = 0): boolean =>
  operation.firstDispatchedAt === undefined ||
  now + afterMs + traits.timeoutMs >= operation.firstDispatchedAt + traits.keyRetentionMs;
