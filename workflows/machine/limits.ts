import type { WaitKind } from './states';

/** Thresholds of an agent's pinned definition, as data: they travel into the workflow when a run opens. */

export interface LoopLimits {
  /** Steps in which the same call gave the same result before the rule fires. */
  readonly repeatedCall: number;
  /** Consecutive steps that ended in the same error code. */
  readonly repeatedError: number;
  /** Consecutive steps without progress: no new evidence, nothing settled, no gap closed, no choice narrowed. */
  readonly noProgress: number;
  /** Times that a plan alternates between the same two before the rule fires (A B A B = 2). */
  readonly alternatingPlan: number;
  /** What follows when a rule fires again after its correction step. */
  readonly onLoop: 'fail' | 'handoff';
}

export interface Limits {
  readonly maxSteps: number;
  readonly maxTokens: number;
  readonly maxCostMicros: number;
  readonly maxToolCalls: number;
  /** Wall clock from the run's opening, waiting for people included. */
  readonly deadlineMs: number;
  /** Candidates in a row that were sent back for repair. */
  readonly maxRepairs: number;
  /** Attempts of one step that the provider may fail (cut, idle, overloaded, rate-limited, 5xx). */
  readonly maxProviderFailures: number;
  /** Attempts of one step that were lost with their worker. */
  readonly maxLostAttempts: number;
  /** Attempts of one step cut at the output limit; each gets twice the room of the one before. */
  readonly maxTruncations: number;
  /** `pause_turn` continuations in a row. */
  readonly maxPauses: number;
  /** `analyse` steps in a row. */
  readonly maxAnalyses: number;
  readonly backOffBaseMs: number;
  readonly backOffMaxMs: number;
  /** A provider's `retry-after` above this ends the run instead of being waited for. */
  readonly maxRetryAfterMs: number;
  /** How long calls still in flight may go on once the run is ending. */
  readonly cancelGraceMs: number;
  readonly attemptTimeoutMs: number;
  readonly onRefusal: 'fail' | 'handoff';
  /** `end`: the run ends as EXPIRED; `tell-model`: the call's result says that nobody answered. */
  readonly onExpiry: Readonly<Record<WaitKind, 'end' | 'tell-model'>>;
  readonly loops: LoopLimits;
}
