/**
 * The state of a run as the machine sees it: references, counters and enums, never a body. It is what continue-as-new
 * carries, so it is plain JSON and stays small whatever the run has done.
 */
import type { ArtifactHash, Fingerprint, RunId, WaitId } from './ids';
import type { Totals } from './ledger';
import type { Limits } from './limits';
import type { Phase, State, Terminal, WaitKind } from './states';

/** What the step before left for the next context besides its calls' results. All of it is stored already. */
export interface PendingInput {
  /** A validator's finding, or the gap that finalizing named. */
  readonly finding?: ArtifactHash;
  /** Waits whose end is new input: an answer, guidance, a rejection, an expiry that the model is told of. */
  readonly waits: readonly WaitId[];
}

export const NO_INPUT: PendingInput = Object.freeze({ waits: Object.freeze([]) });

/** One call of the open candidate, known by its ordinal (1, 2, 3…) in that candidate. */
export interface Call {
  readonly ordinal: number;
  readonly tool: string;
  readonly effect: 'read' | 'write';
  readonly phase: Phase;
  /** Same for the same tool with the same canonical arguments. */
  readonly fingerprint: Fingerprint;
  /** The object it writes to; two writes on one object never overlap. */
  readonly object?: Fingerprint;
  /** A read declared to take at most a second runs as a local activity. */
  readonly isShort?: boolean;
  /** Declared to be asked again and again; the loop rules leave it out. */
  readonly isRepeatable?: boolean;
  /** True once a person approved exactly this plan. */
  readonly isApproved?: boolean;
  /** How often it has been handed to a dispatch activity (reads: 1). */
  readonly sends: number;
  /** What a PENDING call waits for. */
  readonly next?: Pursuit;
  /** Sent, and nobody has proved an end since: whatever ends the call now leaves its outcome unknown. */
  readonly isUnproved?: boolean;
  /** Present on ENDED: the error code, absent for a success. */
  readonly code?: string;
  /** Present on ENDED: over declared facts and validated output, volatile fields left out. */
  readonly result?: Fingerprint;
}

/** The next thing to do about a PENDING operation, and when. `held` waits for another call instead of a time. */
export interface Pursuit {
  readonly action: 'lookUp' | 'poll' | 'resend' | 'held';
  readonly afterMs: number;
}
/** Only the machine itself holds a call. */
export type TimedPursuit = Pursuit & { readonly action: Exclude<Pursuit['action'], 'held'> };

export interface Attempt {
  /** Numbered 1, 2, 3… within the step, never reused. */
  readonly number: number;
  readonly mode: 'asking' | 'collecting' | 'backingOff';
  readonly providerFailures: number;
  readonly lost: number;
  readonly truncations: number;
}

/** A call of any step's accepted candidate. */
export interface CallPlace {
  readonly step: number;
  readonly ordinal: number;
}

export interface OpenWait {
  readonly id: WaitId;
  readonly kind: WaitKind;
  /** The call of the open candidate that it decides, for approvals and reconciliations. */
  readonly ordinal?: number;
  /** The call of an earlier step whose outcome it asks about: nothing but the end waits for it. */
  readonly about?: CallPlace;
}

/** What the run is ending as; the first ending wins, save that FINALIZING may still change it before the commit. */
export interface Ending {
  readonly as: Terminal;
  /** Stable and dotted, for instance `budget.steps`, `blocked.permission`, `loop.repeatedCall`. */
  readonly reason: string;
  /** The answer artifact that finalizing is to put into the result. */
  readonly answer?: ArtifactHash;
  readonly diagnosis?: Diagnosis;
}

/** `finish` led to it, and not something that stops the run whatever its plan says. */
export const isRevocable = (ending: Ending | undefined): boolean =>
  ending?.as === 'SUCCEEDED' || ending?.reason.startsWith('blocked.') === true;

export interface Diagnosis {
  readonly rule: 'repeatedCall' | 'repeatedError' | 'noProgress' | 'alternatingPlan';
  /** The steps that show it. */
  readonly steps: readonly number[];
  /** What repeated: a tool's name, an error code, or a plan's fingerprint. */
  readonly what: string;
}

export interface TracedCall {
  readonly tool: string;
  readonly call: Fingerprint;
  readonly result?: Fingerprint;
}

/** One finished step as the loop rules see it. */
export interface StepTrace {
  readonly step: number;
  /** Of all calls proposed in the step save repeatable ones, in order. */
  readonly plan: string;
  readonly calls: readonly TracedCall[];
  readonly codes: readonly string[];
  readonly hasProgress: boolean;
  /** No rule counts the step: all its calls were declared repeatable, or its model call came to no candidate. */
  readonly isExempt?: boolean;
}

export interface LoopState {
  /** Bounded: the newest `LOOP_WINDOW` steps, and of those as many as made `LOOP_CALLS` calls. */
  readonly traces: readonly StepTrace[];
  /** The diagnosis that the model has been told, until there is progress again. */
  readonly corrected?: Diagnosis;
}

export const LOOP_WINDOW = 24;
/** Between them; the newest step is always traced. */
export const LOOP_CALLS = 96;

export interface Counters {
  readonly repairs: number;
  readonly analyses: number;
  readonly pauses: number;
  /** How often the context was made smaller after the provider found it too long; reset by a stored candidate. */
  readonly shrinks: number;
  /** How often FINALIZING found an operation open since the model's finish: each time it looks again later. */
  readonly looks: number;
}

export interface Run {
  readonly schemaVersion: 1;
  readonly id: RunId;
  readonly state: State;
  /** Number of the last machine event. */
  readonly seq: number;
  readonly step: number;
  readonly planVersion: number;
  readonly limits: Limits;
  /** Workflow time, ms since the epoch. */
  readonly deadlineAt: number;
  readonly totals: Totals;
  readonly counters: Counters;
  readonly loops: LoopState;
  /** The step's frozen context; the previous step's while READY. */
  readonly context?: ArtifactHash;
  readonly attempt?: Attempt;
  readonly candidate?: ArtifactHash;
  readonly calls: readonly Call[];
  readonly waits: readonly OpenWait[];
  readonly input: PendingInput;
  readonly ending?: Ending;
  /** Number of the newest look at the end's invariants; what an older one found is late. */
  readonly check?: number;
  /** From then on nothing changes the ending any more. */
  readonly isCommitting?: boolean;
}
