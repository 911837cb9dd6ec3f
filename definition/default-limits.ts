/** What an agent gets where it says nothing. docs/generated/limits.md is written from these. */
import type { Limits } from '../workflows/machine/limits';
import type { WaitKind } from '../workflows/machine/states';
import type { WaitSettings } from './agent';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;

export const DEFAULT_WAITS: Readonly<Record<WaitKind, WaitSettings>> = {
  question: { expiresInMs: 7 * DAY_MS, onExpiry: 'end' },
  approval: { expiresInMs: 7 * DAY_MS, onExpiry: 'end' },
  acceptance: { expiresInMs: 7 * DAY_MS, onExpiry: 'end' },
  // What may have happened has to be found out: it is given longer than a decision.
  reconciliation: { expiresInMs: 30 * DAY_MS, onExpiry: 'end' },
  handoff: { expiresInMs: 7 * DAY_MS, onExpiry: 'end' },
};

/** `onExpiry` comes from the waits. */
export const DEFAULT_LIMITS: Omit<Limits, 'onExpiry'> = {
  /** A task that needs more model calls than this is mostly one that goes in circles. */
  maxSteps: 30,
  /** Input, output and cache tokens together. */
  maxTokens: 1_000_000,
  /** Five dollars. */
  maxCostMicros: 5_000_000,
  /** Two calls for each step. */
  maxToolCalls: 60,
  /** Wall clock, waiting for people included: an agent whose approvals may take days has to say so. */
  deadlineMs: DAY_MS,
  maxRepairs: 3,
  maxProviderFailures: 4,
  maxLostAttempts: 3,
  /** Each has twice the room for output: three sizes in all. */
  maxTruncations: 2,
  maxPauses: 3,
  maxAnalyses: 2,
  /** 0.5 s, 1 s, 2 s, 4 s for the four provider failures, with jitter. */
  backOffBaseMs: SECOND_MS / 2,
  backOffMaxMs: 30 * SECOND_MS,
  /** A provider that asks for longer than this is not waited for. */
  maxRetryAfterMs: 2 * MINUTE_MS,
  cancelGraceMs: 30 * SECOND_MS,
  /** One model call from its first byte to its last. */
  attemptTimeoutMs: 5 * MINUTE_MS,
  onRefusal: 'fail',
  /** Three steps with the same call and result, or the same error; five without progress; A B A B A B. */
  loops: { repeatedCall: 3, repeatedError: 3, noProgress: 5, alternatingPlan: 3, onLoop: 'fail' },
};
