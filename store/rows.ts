/** What the store holds, as its readers see it. Times are ms since the epoch by the database's clock. */
import type { ErrorCode } from '../workflows/contract/errors';
import type { ArtifactHash, EvidenceId, OperationId, RunId, WaitId } from '../workflows/contract/ids';
import type { Json, JsonObject } from '../workflows/contract/json';
import type { Fact, RunRef } from '../workflows/contract/records';
import type { OperationState } from '../workflows/machine/operation-transitions';
import type { Terminal, State, WaitKind } from '../workflows/machine/states';

/** Who asked, for whom permission is checked. */
export interface Principal {
  readonly subject: string;
  readonly roles: readonly string[];
}

/** The task itself: what the run is bound to when it opens. */
export interface Task {
  readonly goal: string;
  readonly data: JsonObject;
}

export interface NewRun {
  readonly ref: RunRef;
  readonly agent: string;
  readonly principal: Principal;
  readonly task: Task;
  /** Hex SHA-256 over the RFC 8785 form of what the caller sent: another body under the same id is refused. */
  readonly bodyHash: string;
  /** Narrower limits than the agent's, as the caller asked for them. */
  readonly limits?: JsonObject;
  /** Limits in place of the agent's own, larger ones included: somebody was permitted to set them (policy action `extend`). */
  readonly extension?: JsonObject;
  /** A run that has ended, whose facts, operations and ledger this one goes on with. */
  readonly reopens?: RunId;
  /** The run to which the new goal was sent. */
  readonly follows?: RunId;
}

export interface RunRow extends NewRun {
  readonly state: State | 'STARTING';
  readonly seq: number;
  readonly step: number;
  readonly planVersion: number;
  readonly definition?: ArtifactHash;
  readonly terminal?: Terminal;
  readonly reason?: string;
  readonly createdAt: number;
  readonly openedAt?: number;
  readonly deadlineAt?: number;
  readonly endedAt?: number;
  readonly cancelRequestedAt?: number;
}

/** A line of the journal: a machine event (with seq) or an outside one (with eventId). */
export interface JournalEntry {
  readonly position: number;
  readonly kind: 'machine' | 'outside';
  readonly seq?: number;
  readonly eventId?: string;
  /** For a machine event the MachineEvent, for an outside one its body. */
  readonly body: JsonObject;
  readonly recordedAt: number;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costMicros: number;
  /** True where the provider's figures never arrived. */
  readonly isEstimate: boolean;
}

export const ATTEMPT_STATES = ['OPEN', 'STORED', 'FAILED', 'LOST'] as const;
export type AttemptState = (typeof ATTEMPT_STATES)[number];

export interface AttemptRow {
  readonly ref: RunRef;
  readonly step: number;
  readonly attempt: number;
  readonly state: AttemptState;
  readonly context: ArtifactHash;
  readonly candidate?: ArtifactHash;
  /** What the activity returned, by kind (`candidateStored`, `attemptFailed`, …) with its code. */
  readonly outcome?: JsonObject;
  readonly usage: Usage;
  readonly openedAt: number;
  readonly endedAt?: number;
}

export interface DecisionRow {
  readonly step: number;
  readonly attempt: number;
  /** Ordinal of the call judged, 0 for the candidate as a whole. */
  readonly ordinal: number;
  readonly validator: string;
  readonly validatorVersion: string;
  readonly phase: 'proposal' | 'dispatch';
  /** 1, 2, 3…: dispatch may judge one call several times. */
  readonly try: number;
  readonly inputHash: string;
  readonly verdict: 'pass' | 'fail' | 'ask';
  readonly code?: string;
  /** What it rests on: policy ids, evidence ids, the finding. */
  readonly evidence: JsonObject;
}

export interface NewOperation {
  readonly id: OperationId;
  readonly ref: RunRef;
  readonly step: number;
  readonly ordinal: number;
  /** The model's tool-use id: pairs the result with the proposal, nothing else. */
  readonly call: string;
  readonly tool: string;
  readonly effect: 'read' | 'write';
  /** Artifact of the canonical arguments (RFC 8785 of zod's output). */
  readonly arguments: ArtifactHash;
  readonly argumentHash: string;
  readonly target?: string;
  readonly expectedVersion?: string;
  readonly planVersion: number;
  /** The succeeded or open operation that stands for this one (section 6, Equivalent). */
  readonly equivalent?: OperationId;
}

export interface OperationRow extends NewOperation {
  readonly state: OperationState;
  /** The approval that brought other arguments than were proposed: these are its. */
  readonly editedBy?: WaitId;
  /** How often it was sent; 0 before the first dispatch. */
  readonly generation: number;
  readonly job?: string;
  readonly code?: ErrorCode;
  /** Artifact of the raw body, of the validated output, and of the failure. */
  readonly raw?: ArtifactHash;
  readonly output?: ArtifactHash;
  readonly failure?: ArtifactHash;
  /** Over declared facts and validated output, volatile fields left out. */
  readonly resultHash?: string;
  readonly evidence?: EvidenceId;
  readonly dispatchedAt?: number;
  /** Of the latest generation: after it the sender has given up. */
  readonly dispatchDeadlineAt?: number;
  /** First dispatch: `keyRetention` counts from it. */
  readonly firstDispatchedAt?: number;
  /** Not to be looked up or sent again before. */
  readonly notBeforeAt?: number;
  readonly lookUps: number;
  readonly polls: number;
  /** Generations not proved unexecuted. While any is left, a later one's refusal settles nothing. */
  readonly openGenerations: readonly number[];
}

export interface FactRow extends Fact {
  readonly operation?: OperationId;
  readonly step: number;
}

export interface NewWait {
  readonly id: WaitId;
  readonly ref: RunRef;
  readonly kind: WaitKind;
  readonly seq: number;
  readonly planVersion: number;
  readonly operation?: OperationId;
  readonly plan: ArtifactHash;
  readonly responseSchema: JsonObject;
  readonly expiresInMs: number;
  readonly reason?: string;
}

export const WAIT_STATES = ['OPEN', 'CONSUMED', 'EXPIRED', 'VOID'] as const;

export interface WaitRow extends NewWait {
  readonly state: (typeof WAIT_STATES)[number];
  readonly openedAt: number;
  readonly expiresAt: number;
  /** What was accepted, and under which id it came. */
  readonly response?: JsonObject;
  readonly responseId?: string;
}

/** What somebody said to a wait, before it is judged. */
export interface NewResponse {
  /** The sender's own: the same id again is the same response. */
  readonly id: string;
  readonly wait: WaitId;
  readonly principal: Principal;
  readonly body: Json;
  /** Where an approval brings other arguments for its operation. */
  readonly edit?: OperationEdit;
}

/** Other arguments for an operation that nobody has sent yet. */
export interface OperationEdit {
  readonly tool: string;
  readonly arguments: ArtifactHash;
  readonly argumentHash: string;
  readonly target?: string;
  readonly expectedVersion?: string;
}

/** What a response is judged on, all of it locked. */
export interface ResponseCase {
  readonly wait: WaitRow;
  readonly run: RunRow;
  /** The one that the wait is about. */
  readonly operation?: OperationRow;
  /** Of an edit: operations with the same tool and arguments that are done or may be, this one left out. */
  readonly repeated: readonly OperationId[];
  /** By the database's clock, once the locks are held. */
  readonly receivedAt: number;
}

export type ResponseJudgement =
  | {
      readonly kind: 'accepted';
      /** As the wait keeps it. */
      readonly response: JsonObject;
      /** What is confirmed by it. */
      readonly facts: readonly Fact[];
      /** For the journal: what the verdict rests on. */
      readonly evidence: JsonObject;
    }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string; readonly evidence: JsonObject };

export interface ResponseReceipt {
  readonly id: string;
  readonly wait: WaitId;
  readonly receivedAt: number;
  readonly verdict:
    | { readonly kind: 'accepted' }
    | {
        readonly kind: 'refused';
        readonly code: string;
        readonly message: string;
        /** What is wrong, where it is one value; not told again of a response that is repeated. */
        readonly field?: string;
      };
  /** The response had been judged before, and this is what was said then. */
  readonly isRepeated: boolean;
}

/** A response as it was judged. Its body is left out: what was accepted is in the wait. */
export interface ResponseRow {
  readonly id: string;
  readonly wait: WaitId;
  readonly principal: Principal;
  readonly receivedAt: number;
  /** `accepted`, or the code of the refusal. */
  readonly verdict: string;
  readonly message?: string;
}

export interface Settlement {
  readonly state: Extract<
    OperationState,
    | 'SUCCEEDED'
    | 'FAILED'
    | 'ACCEPTED'
    | 'RUNNING'
    | 'NOT_EXECUTED'
    | 'UNKNOWN'
    | 'UNRESOLVED'
    | 'CANCELLED'
    | 'REFUSED'
  >;
  readonly code?: ErrorCode;
  readonly job?: string;
  readonly raw?: ArtifactHash;
  readonly output?: ArtifactHash;
  readonly failure?: ArtifactHash;
  readonly resultHash?: string;
  readonly evidence?: EvidenceId;
  readonly facts?: readonly Fact[];
  /** Set with UNKNOWN, NOT_EXECUTED, ACCEPTED, RUNNING: the next thing happens no sooner. */
  readonly notBeforeMs?: number;
}

/** What became of a report from outside, once an activity of the run has read it. */
export const INBOX_EFFECTS = [
  /** It moved the operation. */
  'moved',
  /** It says what was known already, or less. */
  'nothing_new',
  /** The operation had its end before it came. */
  'late',
  /** It says another end than the one that came first, which stays. */
  'contradicts',
  /** It is about a job that is not this operation's. */
  'other_job',
  /** It is about another operation. */
  'other_operation',
  /** It does not say what became of it: the far side was asked. */
  'asked',
] as const;
export type InboxEffect = (typeof INBOX_EFFECTS)[number];

/** A report from outside about one operation, as it arrived. */
export interface InboxRow {
  readonly operation: OperationId;
  /** The sender's: the same twice is the same report. */
  readonly eventId: string;
  /** The bytes as they arrived. */
  readonly body: ArtifactHash;
  readonly receivedAt: number;
  /** Absent until an activity of the run has read it. */
  readonly effect?: InboxEffect;
  /** Which job it names, where whoever read it could tell. */
  readonly job?: string;
}
