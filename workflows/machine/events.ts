/**
 * Everything that can happen to a run, in the past tense. Each event carries the time at which the workflow took it up and
 * whatever the decision needs: the machine reads no clock and asks nobody.
 *
 * Events that answer something asked name what was asked (`step`, `attempt`, `ordinal`, `wait`), so that an answer that
 * comes after the run has moved on is recognised as late.
 */
import type { ArtifactHash, Fingerprint, WaitId } from './ids';
import type { Budget, Totals } from './ledger';
import type { Call, CallPlace, TimedPursuit } from './run';
import type { Terminal } from './states';

interface Base<K extends string> {
  readonly kind: K;
  /** Workflow time, ms since the epoch. */
  readonly at: number;
}

interface OfStep<K extends string> extends Base<K> {
  readonly step: number;
}

interface OfAttempt<K extends string> extends OfStep<K> {
  readonly attempt: number;
  /** Absent where the attempt died without an account. */
  readonly totals?: Totals;
}

interface OfCall<K extends string> extends OfStep<K> {
  readonly ordinal: number;
}

interface OfWait<K extends string> extends Base<K> {
  readonly wait: WaitId;
}

/** Length of the message is none of these. */
export interface StepProgress {
  readonly hasNewEvidence: boolean;
  readonly hasSettled: boolean;
  readonly hasClosedGap: boolean;
  readonly hasNarrowed: boolean;
}

/** READY's one activity has frozen the context of `step`. */
export interface ContextFrozen extends OfStep<'contextFrozen'> {
  readonly context: ArtifactHash;
  /** In the first step, which may rest on the account of a run before; later ones have those of their last carrier. */
  readonly totals?: Totals;
  /** `missing`: this worker lacks a pinned tool, or has it with another schema. */
  readonly definition: 'pinned' | 'missing';
  /** What the step before achieved, computed from stored records; absent in step 1. */
  readonly progress?: StepProgress;
}

export interface CandidateStored extends OfAttempt<'candidateStored'> {
  readonly candidate: ArtifactHash;
}
export type AttemptInterrupted = OfAttempt<'attemptInterrupted'>;
export type AttemptLost = OfAttempt<'attemptLost'>;
export interface AttemptFailed extends OfAttempt<'attemptFailed'> {
  /** For instance `model.overloaded`, `model.rate_limited`, `model.stream_cut`. */
  readonly code: string;
  readonly retryAfterMs?: number;
  /** Between 0 and 1, from the workflow's deterministic random source. */
  readonly jitter: number;
}
export interface AttemptTruncated extends OfAttempt<'attemptTruncated'> {
  readonly candidate: ArtifactHash;
}
export interface AttemptPaused extends OfAttempt<'attemptPaused'> {
  readonly candidate: ArtifactHash;
}
export type ContextTooLong = OfAttempt<'contextTooLong'>;
export interface ProviderRejected extends OfAttempt<'providerRejected'> {
  readonly code: string;
}
export interface ModelRefused extends OfAttempt<'modelRefused'> {
  readonly code: string;
}
export type BackOffElapsed = OfAttempt<'backOffElapsed'>;

/** A call as the validators left it: DUE, ASKING with the wait's plan, or ENDED with its code. */
export interface JudgedCall extends Omit<Call, 'phase' | 'sends' | 'next' | 'isApproved' | 'isUnproved'> {
  readonly phase: 'DUE' | 'ASKING' | 'ENDED';
  /** The plan artifact that a person is to approve, on ASKING. */
  readonly plan?: ArtifactHash;
}
export interface CallsJudged extends OfStep<'callsJudged'> {
  readonly calls: readonly JudgedCall[];
}
export interface QuestionAccepted extends OfStep<'questionAccepted'> {
  readonly question: ArtifactHash;
}
export type AnalyseAccepted = OfStep<'analyseAccepted'>;
export interface ObjectAmbiguous extends OfStep<'objectAmbiguous'> {
  readonly question: ArtifactHash;
  /** The call whose target has several matches; it ends with OBJECT_AMBIGUOUS. Absent while VALIDATING. */
  readonly ordinal?: number;
}
export interface FinishAccepted extends OfStep<'finishAccepted'> {
  readonly answer: ArtifactHash;
}
export interface BlockConfirmed extends OfStep<'blockConfirmed'> {
  /** `permission`, `denied`, `expired`, …: the run ends as FAILED with reason `blocked.<code>`. */
  readonly code: string;
  readonly answer: ArtifactHash;
}
export interface CandidateRejected extends OfStep<'candidateRejected'> {
  readonly code: string;
  /** The precise finding that the next context holds. */
  readonly finding: ArtifactHash;
}

/** A read activity returned, or was cancelled. */
export interface ReadEnded extends OfCall<'readEnded'> {
  readonly code?: string;
  readonly result?: Fingerprint;
}
/** What is now known of an operation, whoever found out: dispatch, look-up, poll, callback, a person. */
export type OperationOutcome =
  | {
      readonly kind: 'settled';
      readonly state: 'SUCCEEDED' | 'FAILED' | 'CANCELLED' | 'REFUSED';
      readonly code?: string;
      readonly result?: Fingerprint;
    }
  | {
      readonly kind: 'pending';
      readonly state: 'ACCEPTED' | 'RUNNING' | 'UNKNOWN' | 'NOT_EXECUTED';
      readonly next: TimedPursuit;
    }
  | { readonly kind: 'unresolved'; readonly plan: ArtifactHash }
  | { readonly kind: 'approvalRequired'; readonly plan: ArtifactHash };
export interface DispatchEnded extends OfCall<'dispatchEnded'> {
  readonly outcome: OperationOutcome;
  readonly totals?: Totals;
}
export interface OperationMoved extends OfCall<'operationMoved'> {
  readonly outcome: OperationOutcome;
}
/** The back-off of an operation that may be sent again is over. */
export type ResendDue = OfCall<'resendDue'>;

export type ApprovalGiven = OfWait<'approvalGiven'>;
export type ApprovalDenied = OfWait<'approvalDenied'>;
export interface ReconciliationAnswered extends OfWait<'reconciliationAnswered'> {
  readonly state: 'SUCCEEDED' | 'FAILED' | 'NOT_EXECUTED';
  readonly code?: string;
  readonly result?: Fingerprint;
}
export type AnswerGiven = OfWait<'answerGiven'>;
export type AcceptanceGiven = OfWait<'acceptanceGiven'>;
export type AcceptanceRejected = OfWait<'acceptanceRejected'>;
export type TakenOver = OfWait<'takenOver'>;
export type GuidanceGiven = OfWait<'guidanceGiven'>;
export type WaitExpired = OfWait<'waitExpired'>;

interface OfPlan<K extends string> extends Base<K> {
  readonly planVersion: number;
  /** The calls whose operations it ended. */
  readonly cancelled: readonly number[];
  /** The step of those calls: the run may have gone on since it asked. */
  readonly atStep: number;
}
/** A message moved the plan on: open waits are VOID. */
export type Amended = OfPlan<'amended'>;
export type Withdrawn = OfPlan<'withdrawn'>;
export interface CancelRequested extends Base<'cancelRequested'> {
  readonly source: 'signal' | 'engine' | 'parent';
}
export type DeadlinePassed = Base<'deadlinePassed'>;
export interface BudgetSpent extends Base<'budgetSpent'> {
  readonly budget: Budget;
}
/** No dispatch can win any more; `cancelled` are the calls whose operations had not been executed. */
export interface OperationsStopped extends Base<'operationsStopped'> {
  readonly cancelled: readonly number[];
}
export type GraceElapsed = Base<'graceElapsed'>;

export const END_OBSTACLES = [
  'operationOpen',
  /** An operation's outcome could not be found out, and nobody is asked any more. */
  'reconciliationRequired',
  'acceptanceRequired',
  'conditionUnmet',
] as const;
export type EndObstacle = (typeof END_OBSTACLES)[number];

/** FINALIZING has looked at the invariants of the intended end. */
export interface EndChecked extends Base<'endChecked'> {
  /** The number of the look that found it. */
  readonly check: number;
  readonly obstacle?: EndObstacle;
  /** Operations whose end is not proved; makes CANCELLED into CANCEL_UNKNOWN. */
  readonly unproved: number;
  /** The plan of the acceptance or reconciliation, or the finding that names the gap. */
  readonly artifact?: ArtifactHash;
  /** Where the operation to be reconciled was proposed. */
  readonly about?: CallPlace;
}
/** The plan had moved on before the commit: nothing was committed. */
export type CommitOvertaken = OfPlan<'commitOvertaken'>;
/** The row holds this terminal, whatever was asked for. */
export interface Committed extends Base<'committed'> {
  readonly terminal: Terminal;
  readonly reason: string;
}

export type RunEvent =
  | ContextFrozen
  | CandidateStored
  | AttemptInterrupted
  | AttemptLost
  | AttemptFailed
  | AttemptTruncated
  | AttemptPaused
  | ContextTooLong
  | ProviderRejected
  | ModelRefused
  | BackOffElapsed
  | CallsJudged
  | QuestionAccepted
  | AnalyseAccepted
  | ObjectAmbiguous
  | FinishAccepted
  | BlockConfirmed
  | CandidateRejected
  | ReadEnded
  | DispatchEnded
  | OperationMoved
  | ResendDue
  | ApprovalGiven
  | ApprovalDenied
  | ReconciliationAnswered
  | AnswerGiven
  | AcceptanceGiven
  | AcceptanceRejected
  | TakenOver
  | GuidanceGiven
  | WaitExpired
  | Amended
  | Withdrawn
  | CancelRequested
  | DeadlinePassed
  | BudgetSpent
  | OperationsStopped
  | GraceElapsed
  | EndChecked
  | CommitOvertaken
  | Committed;

export type EventKind = RunEvent['kind'];
export type EventOf<K extends EventKind> = Extract<RunEvent, { kind: K }>;
