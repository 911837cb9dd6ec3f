/** What the workflow is to do next, in the imperative and as data. One function of `workflows/perform` carries out each. */
import type { ArtifactHash, WaitId } from './ids';
import type { Diagnosis, Ending, PendingInput, TimedPursuit } from './run';
import type { Terminal, WaitKind } from './states';

/** What a new step adds to its parent's context. Every reference is stored already. */
export interface StepInput extends PendingInput {
  /** The candidate before, whose calls have all ended. */
  readonly candidate?: ArtifactHash;
  readonly ended: readonly EndedCall[];
  readonly correction?: Diagnosis;
  /** How many times the projection has to be made smaller than usual. */
  readonly shrinks: number;
}

export interface EndedCall {
  readonly ordinal: number;
  readonly code?: string;
}

export interface FreezeContext {
  readonly kind: 'freezeContext';
  readonly step: number;
  readonly parent?: ArtifactHash;
  readonly input: StepInput;
}

interface OfAttempt<K extends string> {
  readonly kind: K;
  readonly step: number;
  readonly attempt: number;
}

export interface CallModel extends OfAttempt<'callModel'> {
  readonly context: ArtifactHash;
  /** Each doubles the room for output. */
  readonly truncations: number;
}
/** Settle what became of an attempt whose activity died: its candidate, or LOST. */
export interface CollectAttempt extends OfAttempt<'collectAttempt'> {
  readonly context: ArtifactHash;
}
export interface BackOff extends OfAttempt<'backOff'> {
  readonly forMs: number;
}
export interface JudgeCandidate extends OfAttempt<'judgeCandidate'> {
  readonly context: ArtifactHash;
  readonly candidate: ArtifactHash;
}

interface OfCall<K extends string> {
  readonly kind: K;
  readonly step: number;
  readonly ordinal: number;
}

export interface Read extends OfCall<'read'> {
  readonly isShort: boolean;
}
export interface Dispatch extends OfCall<'dispatch'> {
  /** True where a person approved exactly this plan. */
  readonly isApproved: boolean;
}
/** Look up, poll or let the back-off pass, after the given time. */
export interface Pursue extends OfCall<'pursue'> {
  readonly next: TimedPursuit;
}

export interface OpenWaitEffect {
  readonly kind: 'openWait';
  readonly wait: WaitId;
  readonly waitKind: WaitKind;
  readonly step: number;
  readonly ordinal?: number;
  /** The stored plan or question; for a hand-off it is made from `reason` and `diagnosis`. */
  readonly plan?: ArtifactHash;
  readonly reason?: string;
  readonly diagnosis?: Diagnosis;
}
/** Stop listening for these: they are void, or have their answer. */
export interface CloseWaits {
  readonly kind: 'closeWaits';
  readonly waits: readonly WaitId[];
}
export interface CancelAttempt {
  readonly kind: 'cancelAttempt';
}
/** Reads in flight have no effect that anybody could miss: they are cut, and end as CANCELLED. */
export interface CancelReads {
  readonly kind: 'cancelReads';
}
/** First of all on the way to an end: after it no dispatch can win. */
export interface StopOperations {
  readonly kind: 'stopOperations';
  readonly isCancel: boolean;
}
export interface StartGrace {
  readonly kind: 'startGrace';
  readonly forMs: number;
}
export interface CheckEnd {
  readonly kind: 'checkEnd';
  /** The answer names it. A newer look replaces an older one. */
  readonly check: number;
  readonly ending: Ending;
  readonly afterMs: number;
}
export interface Commit {
  readonly kind: 'commit';
  readonly ending: Ending;
}
export interface Complete {
  readonly kind: 'complete';
  readonly terminal: Terminal;
}

export type Effect =
  | FreezeContext
  | CallModel
  | CollectAttempt
  | BackOff
  | JudgeCandidate
  | Read
  | Dispatch
  | Pursue
  | OpenWaitEffect
  | CloseWaits
  | CancelAttempt
  | CancelReads
  | StopOperations
  | StartGrace
  | CheckEnd
  | Commit
  | Complete;

export type EffectKind = Effect['kind'];
export type EffectOf<K extends EffectKind> = Extract<Effect, { kind: K }>;
