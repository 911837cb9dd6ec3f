/**
 * A run led to where a test needs it, step by step and through real `decide` calls. A step makes an event that fits the run as
 * it is (its step, attempt, calls and waits), so that a test names only what it is about.
 */
import { decide, type Decided } from '../../../workflows/machine/decide';
import type { Effect, EffectKind } from '../../../workflows/machine/effects';
import type { EventOf, JudgedCall, OperationOutcome, RunEvent } from '../../../workflows/machine/events';
import type { WaitId } from '../../../workflows/machine/ids';
import { NO_TOTALS } from '../../../workflows/machine/ledger';
import type { Limits } from '../../../workflows/machine/limits';
import type { Run } from '../../../workflows/machine/run';
import type { Terminal } from '../../../workflows/machine/states';
import { fingerprint, hash, judgedCall, newRun } from './world';

export type Step = (run: Run) => RunEvent;

export class Path {
  private constructor(
    readonly run: Run,
    /** Of the last transition. */
    readonly effects: readonly Effect[],
    readonly transition?: Decided['transition'],
  ) {}

  static start(limits: Partial<Limits> = {}): Path {
    const { run, effects } = newRun(limits);
    return new Path(run, effects);
  }

  static at(run: Run): Path {
    return new Path(run, []);
  }

  meet(...steps: readonly Step[]): Path {
    return steps.reduce<Path>((path, step) => {
      const { run, effects, transition } = decide(path.run, step(path.run));
      return new Path(run, effects, transition);
    }, this);
  }

  get kinds(): readonly EffectKind[] {
    return this.effects.map(({ kind }) => kind);
  }

  effect<K extends EffectKind>(kind: K): Effect & { kind: K } {
    const found = this.effects.find((each): each is Effect & { kind: K } => each.kind === kind);
    if (found === undefined) throw new Error(`expected '${kind}' among [${this.kinds.join(', ')}]`);
    return found;
  }
}

/** Workflow time of a step, well before every deadline. */
export const AT = 1_000;

const attemptOf = (run: Run): { at: number; step: number; attempt: number } => ({
  at: AT,
  step: run.step,
  attempt: run.attempt?.number ?? 0,
});

const NO_PROGRESS = { hasNewEvidence: false, hasSettled: false, hasClosedGap: false, hasNarrowed: false };
export const PROGRESS = { ...NO_PROGRESS, hasNewEvidence: true };
export { NO_PROGRESS };

export const frozen =
  (change: Partial<EventOf<'contextFrozen'>> = {}): Step =>
  ({ step }) => ({
    kind: 'contextFrozen',
    at: AT,
    step,
    context: hash(`context${String(step)}`),
    totals: NO_TOTALS,
    definition: 'pinned',
    progress: PROGRESS,
    ...change,
  });

export const stored = (): Step => (run) => ({
  kind: 'candidateStored',
  ...attemptOf(run),
  candidate: hash('candidate'),
});
export const interrupted = (): Step => (run) => ({ kind: 'attemptInterrupted', ...attemptOf(run) });
export const lost =
  (change: Partial<EventOf<'attemptLost'>> = {}): Step =>
  (run) => ({ kind: 'attemptLost', ...attemptOf(run), ...change });
export const failed =
  (change: Partial<EventOf<'attemptFailed'>> = {}): Step =>
  (run) => ({ kind: 'attemptFailed', ...attemptOf(run), code: 'model.overloaded', jitter: 0.5, ...change });
export const backedOff = (): Step => (run) => ({ kind: 'backOffElapsed', ...attemptOf(run) });
export const truncated =
  (change: Partial<EventOf<'attemptTruncated'>> = {}): Step =>
  (run) => ({ kind: 'attemptTruncated', ...attemptOf(run), candidate: hash('cut'), ...change });
export const paused = (): Step => (run) => ({ kind: 'attemptPaused', ...attemptOf(run), candidate: hash('paused') });
export const tooLong = (): Step => (run) => ({ kind: 'contextTooLong', ...attemptOf(run) });
export const rejectedByProvider = (): Step => (run) => ({
  kind: 'providerRejected',
  ...attemptOf(run),
  code: 'model.invalid_request',
});
export const refused = (): Step => (run) => ({ kind: 'modelRefused', ...attemptOf(run), code: 'model.refused' });

export const read = (ordinal: number, change: Partial<JudgedCall> = {}): JudgedCall => judgedCall(ordinal, change);
export const write = (ordinal: number, change: Partial<JudgedCall> = {}): JudgedCall =>
  judgedCall(ordinal, { effect: 'write', ...change });
export const gated = (ordinal: number, change: Partial<JudgedCall> = {}): JudgedCall =>
  write(ordinal, { phase: 'ASKING', plan: hash('plan'), ...change });
export const ended = (ordinal: number, code?: string): JudgedCall =>
  judgedCall(ordinal, { phase: 'ENDED', ...(code === undefined ? { result: fingerprint('same') } : { code }) });

export const judged =
  (...calls: readonly JudgedCall[]): Step =>
  ({ step }) => ({ kind: 'callsJudged', at: AT, step, calls });
export const questionAccepted =
  (): Step =>
  ({ step }) => ({
    kind: 'questionAccepted',
    at: AT,
    step,
    question: hash('question'),
  });
export const analyseAccepted =
  (): Step =>
  ({ step }) => ({ kind: 'analyseAccepted', at: AT, step });
export const ambiguous =
  (ordinal?: number): Step =>
  ({ step }) => ({
    kind: 'objectAmbiguous',
    at: AT,
    step,
    question: hash('question'),
    ...(ordinal === undefined ? {} : { ordinal }),
  });
export const finishAccepted =
  (): Step =>
  ({ step }) => ({ kind: 'finishAccepted', at: AT, step, answer: hash('answer') });
export const blockConfirmed =
  (): Step =>
  ({ step }) => ({
    kind: 'blockConfirmed',
    at: AT,
    step,
    code: 'permission',
    answer: hash('answer'),
  });
export const candidateRejected =
  (): Step =>
  ({ step }) => ({
    kind: 'candidateRejected',
    at: AT,
    step,
    code: 'candidate.empty',
    finding: hash('finding'),
  });

export const readEnded =
  (ordinal: number, change: Partial<EventOf<'readEnded'>> = {}): Step =>
  ({ step }) => ({ kind: 'readEnded', at: AT, step, ordinal, result: fingerprint('result'), ...change });
export const dispatched =
  (ordinal: number, outcome: OperationOutcome): Step =>
  ({ step }) => ({ kind: 'dispatchEnded', at: AT, step, ordinal, outcome });
export const moved =
  (ordinal: number, outcome: OperationOutcome): Step =>
  ({ step }) => ({ kind: 'operationMoved', at: AT, step, ordinal, outcome });
export const resendDue =
  (ordinal: number): Step =>
  ({ step }) => ({ kind: 'resendDue', at: AT, step, ordinal });

export const SUCCEEDED: OperationOutcome = { kind: 'settled', state: 'SUCCEEDED', result: fingerprint('written') };
export const ACCEPTED: OperationOutcome = {
  kind: 'pending',
  state: 'ACCEPTED',
  next: { action: 'poll', afterMs: 100 },
};
export const UNKNOWN: OperationOutcome = {
  kind: 'pending',
  state: 'UNKNOWN',
  next: { action: 'lookUp', afterMs: 100 },
};
export const UNKNOWN_TO_RESEND: OperationOutcome = {
  kind: 'pending',
  state: 'UNKNOWN',
  next: { action: 'resend', afterMs: 100 },
};
export const NOT_EXECUTED: OperationOutcome = {
  kind: 'pending',
  state: 'NOT_EXECUTED',
  next: { action: 'resend', afterMs: 100 },
};
export const UNRESOLVED: OperationOutcome = { kind: 'unresolved', plan: hash('plan') };
export const APPROVAL_REQUIRED: OperationOutcome = { kind: 'approvalRequired', plan: hash('plan') };

const waitOf = (run: Run, ordinal?: number): WaitId => {
  const wait = run.waits.find((each) => ordinal === undefined || each.ordinal === ordinal);
  if (wait === undefined) throw new Error(`the run has no open wait (of call ${String(ordinal)})`);
  return wait.id;
};
type Bare =
  | 'approvalGiven'
  | 'approvalDenied'
  | 'answerGiven'
  | 'acceptanceGiven'
  | 'acceptanceRejected'
  | 'takenOver'
  | 'guidanceGiven'
  | 'waitExpired';
/** To the wait of this call, or to the only one. */
export const answered =
  (kind: Bare, ordinal?: number): Step =>
  (run) => ({ kind, at: AT, wait: waitOf(run, ordinal) });
export const reconciled =
  (state: EventOf<'reconciliationAnswered'>['state']): Step =>
  (run) => ({ kind: 'reconciliationAnswered', at: AT, wait: waitOf(run), state });

export const amended =
  (...cancelled: readonly number[]): Step =>
  ({ step, planVersion }) => ({ kind: 'amended', at: AT, planVersion: planVersion + 1, cancelled, atStep: step });
export const withdrawn =
  (...cancelled: readonly number[]): Step =>
  ({ step, planVersion }) => ({ kind: 'withdrawn', at: AT, planVersion: planVersion + 1, cancelled, atStep: step });
export const cancelRequested = (): Step => () => ({ kind: 'cancelRequested', at: AT, source: 'signal' });
export const deadlinePassed = (): Step => (run) => ({ kind: 'deadlinePassed', at: run.deadlineAt });
export const budgetSpent = (): Step => () => ({ kind: 'budgetSpent', at: AT, budget: 'cost' });
export const operationsStopped =
  (...cancelled: readonly number[]): Step =>
  () => ({ kind: 'operationsStopped', at: AT, cancelled });
export const graceElapsed = (): Step => () => ({ kind: 'graceElapsed', at: AT });

export const endChecked =
  (change: Partial<EventOf<'endChecked'>> = {}): Step =>
  ({ check = 0 }) => ({ kind: 'endChecked', at: AT, check, unproved: 0, ...change });
export const commitOvertaken =
  (): Step =>
  ({ step, planVersion }) => ({
    kind: 'commitOvertaken',
    at: AT,
    planVersion: planVersion + 1,
    cancelled: [],
    atStep: step,
  });
export const committed =
  (terminal: Terminal): Step =>
  () => ({ kind: 'committed', at: AT, terminal, reason: 'as the row says' });
