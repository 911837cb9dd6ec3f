/**
 * What the workflow asks of the outside. Inputs are references and small values; bodies live in the store.
 *
 * A *carrier* is a regular activity that brings machine events to the store: it writes them first, in the transaction that
 * also moves the run row, and answers for them (DESIGN.md 3). Local activities never write a machine event; they write
 * what they did themselves, insert-once, and read it back.
 */
import type { CarriedRun } from '../machine/carried-run';
import type { Dispatch, FreezeContext, OpenWaitEffect } from '../machine/effects';
import type { EventOf, JudgedCall, OperationOutcome, StepProgress } from '../machine/events';
import type { ArtifactHash, Fingerprint, WaitId } from '../machine/ids';
import type { Totals } from '../machine/ledger';
import type { Limits } from '../machine/limits';
import type { Ending } from '../machine/run';
import type { Terminal } from '../machine/states';
import type { Transition } from '../machine/decide';
import type { ReconcileActivities } from './reconcile';
import type { RunRef } from './records';

/** A transition as it is recorded, with what caused it. */
export interface MachineEvent extends Transition {
  /** Workflow time, ms since the epoch. */
  readonly at: number;
  /** Ids and codes of the event: step, attempt, ordinal, wait, code, budget…; never a body. */
  readonly cause: Readonly<Record<string, string | number>>;
}

export interface Carried {
  readonly ref: RunRef;
  /** In order; the same (run, seq) with the same content may be brought again. */
  readonly events: readonly MachineEvent[];
}

/** The workflow's input. Small: the body of the task is in the run row, written before the workflow starts. */
export interface AgentRunInput {
  readonly schemaVersion: 1;
  readonly ref: RunRef;
  readonly agent: string;
  /** Where it goes on from an execution before. */
  readonly carried?: CarriedRun;
  /** Estimated events of one execution, after which the run continues as new; absent: the usual. */
  readonly continueAfterEvents?: number;
}

export interface OpenedRun {
  readonly limits: Limits;
  /** For a run that reopens another: where that one has stopped, and what it has spent. */
  readonly firstStep?: number;
  readonly totals?: Totals;
  /** Why the run cannot begin, for instance `agent.unknown`: it ends as FAILED with this reason. */
  readonly obstacle?: string;
}

export interface FreezeInput {
  readonly ref: RunRef;
  readonly planVersion: number;
  readonly freeze: Pick<FreezeContext, 'step' | 'parent' | 'input'>;
  /** As the machine has them from its last carrier. Absent: read from the store. */
  readonly totals?: Totals;
}
export type FrozenContext = Pick<EventOf<'contextFrozen'>, 'context' | 'totals' | 'definition'> & {
  readonly progress?: StepProgress;
};

export interface AttemptInput extends Carried {
  readonly step: number;
  readonly attempt: number;
  readonly context: ArtifactHash;
  /** Each doubles the room for output. Absent: none. */
  readonly truncations?: number;
  /** `collect`: the activity that asked has died; its candidate if it was stored, else the attempt is LOST. Absent: ask. */
  readonly mode?: 'ask' | 'collect';
}
export type AttemptOutcome =
  | { readonly kind: 'candidateStored'; readonly candidate: ArtifactHash; readonly totals: Totals }
  | { readonly kind: 'attemptLost'; readonly totals: Totals }
  | { readonly kind: 'attemptFailed'; readonly code: string; readonly retryAfterMs?: number; readonly totals: Totals }
  | { readonly kind: 'attemptTruncated'; readonly candidate: ArtifactHash; readonly totals: Totals }
  | { readonly kind: 'attemptPaused'; readonly candidate: ArtifactHash; readonly totals: Totals }
  | { readonly kind: 'contextTooLong'; readonly totals: Totals }
  | { readonly kind: 'providerRejected'; readonly code: string; readonly totals: Totals }
  | { readonly kind: 'modelRefused'; readonly code: string; readonly totals: Totals }
  /** The reservation did not fit. */
  | { readonly kind: 'budgetSpent'; readonly budget: 'tokens' | 'cost'; readonly totals: Totals }
  /** A cancel was accepted before it could be opened; the signal that says so may still be on its way. */
  | { readonly kind: 'cancelRequested'; readonly totals: Totals };

export interface JudgeInput {
  readonly ref: RunRef;
  readonly step: number;
  readonly attempt: number;
  readonly context: ArtifactHash;
  readonly candidate: ArtifactHash;
  readonly planVersion: number;
  /** For how many calls the budget has room: within it, what certainly comes next is done ahead. Absent: nothing is. */
  readonly room?: number;
  /** What a context that is frozen ahead says is left of the budgets. Absent: read from the store. */
  readonly totals?: Totals;
}
/** A verdict is the machine's event without the coordinates, which the workflow knows. */
export type Verdict =
  | { readonly kind: 'callsJudged'; readonly calls: readonly JudgedCall[] }
  | { readonly kind: 'questionAccepted'; readonly question: ArtifactHash }
  | { readonly kind: 'objectAmbiguous'; readonly question: ArtifactHash }
  | { readonly kind: 'analyseAccepted' }
  | { readonly kind: 'finishAccepted'; readonly answer: ArtifactHash }
  | { readonly kind: 'blockConfirmed'; readonly code: string; readonly answer: ArtifactHash }
  | { readonly kind: 'candidateRejected'; readonly code: string; readonly finding: ArtifactHash };

/** What the machine would ask for next, done in the same activity; the machine decides all the same, and asks what it will. */
export interface Ahead {
  /** Short reads, which have no effect: those of a verdict whose calls are due. */
  readonly reads: readonly ReadAhead[];
  /** The next step's context, where these reads were all that was left to do. */
  readonly frozen?: FrozenContext;
}
export type ReadAhead = ReadOutcome & Pick<CallInput, 'ordinal'>;
export type Judged = Verdict & { readonly ahead?: Ahead };

export interface CallInput {
  readonly ref: RunRef;
  readonly step: number;
  readonly ordinal: number;
}
/** `question` is set where the target has several matches. */
export interface ReadOutcome {
  readonly code?: string;
  readonly result: Fingerprint;
  readonly question?: ArtifactHash;
}

export interface DispatchInput extends Carried, Pick<Dispatch, 'step' | 'ordinal' | 'isApproved'> {}
export type DispatchOutcome =
  | { readonly kind: 'outcome'; readonly outcome: OperationOutcome; readonly totals: Totals }
  | { readonly kind: 'ambiguous'; readonly question: ArtifactHash; readonly totals: Totals }
  | { readonly kind: 'budgetSpent'; readonly totals: Totals };

export interface PursueInput extends Carried {
  readonly step: number;
  readonly ordinal: number;
  readonly action: 'lookUp' | 'poll';
}

export interface OpenWaitInput extends Carried, Omit<OpenWaitEffect, 'kind'> {
  /** Of the event that opened it: the wait's state version. */
  readonly seq: number;
  readonly planVersion: number;
}
/** What the row of a wait says, by the database's clock. */
export type WaitReading =
  | { readonly kind: 'open'; readonly remainingMs: number }
  | { readonly kind: 'void' }
  | { readonly kind: 'expired' }
  | {
      readonly kind: 'consumed';
      readonly response:
        | {
            readonly kind:
              | 'approvalGiven'
              | 'approvalDenied'
              | 'answerGiven'
              | 'acceptanceGiven'
              | 'acceptanceRejected'
              | 'takenOver'
              | 'guidanceGiven';
          }
        | {
            readonly kind: 'reconciliationAnswered';
            readonly state: 'SUCCEEDED' | 'FAILED' | 'NOT_EXECUTED';
            readonly code?: string;
            readonly result?: Fingerprint;
          };
    };

export interface AdoptedPlan {
  readonly planVersion: number;
  readonly change: 'amended' | 'withdrawn';
  readonly cancelled: readonly number[];
}

/** What was accepted from outside, by the run's row. */
export interface Standing {
  /** Absent where the run has the newest plan. */
  readonly plan?: AdoptedPlan;
  readonly isCancelRequested: boolean;
}

export type EndCheck = Pick<EventOf<'endChecked'>, 'obstacle' | 'unproved' | 'artifact' | 'about'>;

export interface CommitInput extends Carried {
  readonly ending: Ending;
  /** Under which it was decided. */
  readonly planVersion: number;
  readonly step: number;
}
/** A message was accepted before the commit, and the end was one that it goes before. */
export interface PlanOvertook {
  readonly overtakenBy: AdoptedPlan;
}
export interface CommitOutcome {
  readonly terminal: Terminal;
  readonly reason: string;
}

/** Run inside the workflow task: short, no effect on the world, the same answer when asked again. */
export interface LocalActivities {
  openRun(input: AgentRunInput): Promise<OpenedRun>;
  /** For an execution that continues a run: what signals to the one before may have been about. */
  readStanding(input: { readonly ref: RunRef; readonly planVersion: number; readonly step: number }): Promise<Standing>;
  freezeContext(input: FreezeInput): Promise<FrozenContext>;
  judgeCandidate(input: JudgeInput): Promise<Judged>;
  readShort(input: CallInput): Promise<ReadOutcome>;
  checkEnd(input: { readonly ref: RunRef; readonly ending: Ending; readonly planVersion: number }): Promise<EndCheck>;
}

/** Carriers. */
export interface RegularActivities {
  /** Brings events and nothing else. */
  carry(input: Carried): Promise<void>;
  runAttempt(input: AttemptInput): Promise<AttemptOutcome>;
  readLong(input: CallInput & Carried): Promise<ReadOutcome>;
  dispatch(input: DispatchInput): Promise<DispatchOutcome>;
  pursue(input: PursueInput): Promise<OperationOutcome>;
  openWait(input: OpenWaitInput): Promise<WaitReading>;
  readWait(input: Carried & { readonly wait: WaitId }): Promise<WaitReading>;
  /** `signal` as it came, whatever it is: `{ wait, response: { id, body, token } }` is judged, anything else is none. */
  judgeSignalled(input: { readonly ref: RunRef; readonly signal: unknown }): Promise<{ readonly verdict: string }>;
  adoptPlan(input: Carried & { readonly planVersion: number; readonly step: number }): Promise<AdoptedPlan | undefined>;
  stopOperations(
    input: Carried & { readonly isCancel: boolean; readonly step: number },
  ): Promise<{ readonly cancelled: readonly number[] }>;
  commit(input: CommitInput): Promise<CommitOutcome | PlanOvertook>;
}

export type Activities = LocalActivities & RegularActivities & ReconcileActivities;
