/**
 * The store and its laws. One implementation, on PostgreSQL; the contract tests run on a real one with concurrent writers.
 *
 *   1. Every row carries its tenant and every read filters by it: another tenant's thing is `undefined`, like none at all.
 *   2. Machine events are insert-once by (run, seq). The same content again is a success, other content is StoreConflict.
 *   3. The run row's state is that of its highest seq and is never lowered. A terminal is written by `commit` alone, once.
 *   4. States of attempts, operations and waits move by compare-and-set along their table; who loses reads the winner's row.
 *   5. Whatever a local activity writes is insert-once under a key without seq; writing it again returns what is there.
 *   6. Ledger entries are insert-once by (run, reference); a settled one replaces its own estimate and nothing else.
 *   7. `position` rises by one per journal line of a run, without gaps, in commit order.
 *   8. Clocks are the database's: limits come back as remaining milliseconds.
 *   9. A wait is CONSUMED by one response, received before its expiry while it was OPEN and its run had no end, by the time
 *      at which the locks were held. Every response has one verdict for ever.
 */
import type { Carried, CommitOutcome, MachineEvent } from '../workflows/contract/activities';
import type { ErrorCode } from '../workflows/contract/errors';
import type { ArtifactHash, OperationId, RunId, TenantId, WaitId } from '../workflows/contract/ids';
import type { JsonObject } from '../workflows/contract/json';
import type { Resolution, Result, RunRef } from '../workflows/contract/records';
import type { Totals } from '../workflows/machine/ledger';
import type { OperationState } from '../workflows/machine/operation-transitions';
import type { State, Terminal } from '../workflows/machine/states';
import type { Artifact } from './artifact';
import type { JudgementStore } from './judgements';
import type { InboxStore, WaitStore, WakeStore } from './outside';
import type { LiveTextStore, ReaderStore } from './reader';
import type {
  AttemptRow,
  DecisionRow,
  FactRow,
  JournalEntry,
  NewOperation,
  NewRun,
  OperationRow,
  RunRow,
  Settlement,
  Usage,
} from './rows';

export interface Store {
  readonly runs: RunStore;
  readonly journal: JournalStore;
  readonly artifacts: ArtifactStore;
  readonly attempts: AttemptStore;
  readonly decisions: DecisionStore;
  readonly judgements: JudgementStore;
  readonly operations: OperationStore;
  readonly facts: FactStore;
  readonly waits: WaitStore;
  readonly ledger: LedgerStore;
  readonly wakes: WakeStore;
  readonly inbox: InboxStore;
  readonly reader: ReaderStore;
  readonly liveText: LiveTextStore;
  /** Resolves when the database answers; throws StoreUnavailable. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface RunStore {
  /**
   * Insert-once by run id. `isNew: false` with another `bodyHash` in the row is the caller's 409. One that reopens another
   * begins, in the same transaction, with its last step, its totals (one ledger entry `reopened:<run>`) and its facts.
   */
  start(run: NewRun): Promise<{ readonly row: RunRow; readonly isNew: boolean }>;
  /** STARTING → READY with definition and deadline; asked again it returns what the first one set. */
  open(ref: RunRef, opening: { readonly definition: ArtifactHash; readonly deadlineMs: number }): Promise<RunRow>;
  get(ref: RunRef): Promise<RunRow | undefined>;
  /** Of all tenants: STARTING for longer than that, oldest first. */
  listHangingStarts(page: { readonly olderThanMs: number; readonly limit: number }): Promise<readonly RunRow[]>;
  /** Newest first. `cursor` is opaque and comes from the page before; any other is CursorInvalid. */
  list(tenant: TenantId, filter: RunFilter): Promise<{ readonly rows: readonly RunRow[]; readonly cursor?: string }>;
  /** Sets `cancelRequestedAt` once; from then on no dispatch wins, and a wake `cancel` is owed. False where the run has ended. */
  requestCancel(ref: RunRef): Promise<boolean>;
  /**
   * One transaction on the locked run row: the message, plan version + 1, open waits VOID, CREATED and NOT_EXECUTED writes
   * CANCELLED (SUPERSEDED), a line of the journal, a wake `message`. Reads may be under way and are left to end. Insert-once
   * by message id; `idTaken` where the id was used for another message. `ending` where the run was stopped or is to be
   * cancelled. Where it names a wait, that has to be open, else `waitNotOpen`. Undefined where the run has ended.
   */
  changePlan(ref: RunRef, message: PlanMessage): Promise<PlanChange | PlanRefusal | undefined>;
  /** The newest plan, with the ordinals (of `step`) that changes after `sincePlanVersion` cancelled. */
  readPlan(ref: RunRef, since: { readonly planVersion: number; readonly step: number }): Promise<PlanChange>;
  /** The run has read the plan up to that version: no wake `message` is owed for it. */
  planSeen(ref: RunRef, planVersion: number): Promise<void>;
  /** Messages accepted with a plan version in (after, upTo]. */
  messages(
    ref: RunRef,
    range: { readonly after: number; readonly upTo: number },
  ): Promise<readonly { readonly id: string; readonly kind: string; readonly body: JsonObject }[]>;
  /**
   * From then on no dispatch wins and no wait opens: CREATED and NOT_EXECUTED writes → CANCELLED, open waits → VOID, and with
   * `isCancel` the cancel mark. Returns those cancelled here, also when asked again.
   */
  stopOperations(carried: Carried, isCancel: boolean): Promise<readonly OperationId[]>;
  /**
   * Carries the events; then, by compare-and-set on the run row, the terminal, the result (version 1), voided waits,
   * cancelled CREATED and NOT_EXECUTED operations, and a wake `reconcile` for each operation without a proved end, in one
   * transaction. An intended CANCELLED becomes CANCEL_UNKNOWN while
   * an operation is unproved. The loser gets the winner's outcome. The terminal's own event is written here, with the next
   * number; what the workflow numbers from there on is noted as late. With `planVersion`, where the plan has moved on since:
   * nothing but the events is written, and `undefined` returned.
   */
  commit(
    carried: Carried,
    end: {
      readonly terminal: Terminal;
      readonly reason: string;
      /** Under which it was decided, where a message that was accepted since goes before this end. */
      readonly planVersion?: number;
      readonly buildResult: (terminal: Terminal) => Omit<Result, 'version'>;
    },
  ): Promise<CommitOutcome | undefined>;
  /** The newest version, or the one asked for; each is the same for ever. */
  result(ref: RunRef, version?: number): Promise<Result | undefined>;
  /**
   * After the end, one transaction on the locked run row: a person's word settles the operation, then an end in its row
   * that the newest result does not hold becomes the next version of the result, with a line of the journal
   * (`resolution:<version>`). The terminal stays.
   */
  resolve(ref: RunRef, resolving: Resolving): Promise<ResolveOutcome>;
  /**
   * The terminal of a run whose workflow the engine has closed without one, by compare-and-set like `commit`: FAILED with
   * this reason, a line of the journal saying what was seen, open attempts LOST, the result from what is recorded.
   */
  closeFromOutside(
    ref: RunRef,
    closing: { readonly reason: string; readonly eventId: string; readonly body: JsonObject },
  ): Promise<CommitOutcome>;
  /** Of these runs, whosever they are: those that are there and have no terminal. */
  listUnended(runs: readonly RunId[]): Promise<readonly RunRef[]>;
}

export interface Resolving {
  readonly operation: OperationId;
  readonly by: Resolution['by'];
  /** Only of a person: what they found out, settled with it. Insert-once by id. */
  readonly word?: {
    readonly id: string;
    readonly state: 'SUCCEEDED' | 'FAILED' | 'NOT_EXECUTED';
    readonly why: string;
    readonly code?: ErrorCode;
    readonly failure?: ArtifactHash;
  };
}

export type ResolveOutcome =
  /** The newest version, which holds it; also where a word of this id was accepted before. */
  | { readonly kind: 'resolved'; readonly result: Result }
  /** The newest version holds all there is. */
  | { readonly kind: 'unchanged'; readonly result: Result }
  | { readonly kind: 'runNotEnded' }
  /** A word about an operation whose end is known. */
  | { readonly kind: 'settled'; readonly state: OperationState }
  /** A word about an operation whose sender may still be sending. */
  | { readonly kind: 'inFlight' };

export interface RunFilter {
  readonly state?: State | 'STARTING';
  readonly agent?: string;
  /** The beginning of an id (`run_…`), or the beginnings of words of the task, in any order, in capitals or not. */
  readonly search?: string;
  readonly limit: number;
  readonly cursor?: string;
}

export interface PlanMessage {
  readonly id: string;
  readonly kind: 'amend' | 'withdraw';
  /** Shown to the model. */
  readonly body: JsonObject;
  /** Withdrawn by it. */
  readonly wait?: WaitId;
  /** Who sent it, for the journal. */
  readonly subject?: string;
}

/** `ending`: it was asked to cancel, or stops for another reason that no plan changes. */
export type PlanRefusal = 'idTaken' | 'waitNotOpen' | 'ending';

export interface PlanChange {
  readonly planVersion: number;
  readonly change: 'amended' | 'withdrawn' | 'none';
  readonly cancelled: readonly OperationId[];
}

export interface JournalStore {
  /**
   * Law 2 and 3. Also, in the same transaction, what the events say on their own: the operations of a `callsJudged` step
   * become named, each `contextFrozen` into MODEL_RUNNING is a step in the ledger, each `readEnded` a tool call.
   */
  carry(carried: Carried): Promise<Totals>;
  /** Insert-once by (run, eventId); the first body stays. */
  note(ref: RunRef, event: { readonly eventId: string; readonly body: JsonObject }): Promise<void>;
  /** In order of position, after the given one (0 = from the start). */
  list(ref: RunRef, page: { readonly after: number; readonly limit: number }): Promise<readonly JournalEntry[]>;
  /** Machine events of a run in order of seq; for readers that rebuild the state. */
  machineEvents(ref: RunRef): Promise<readonly MachineEvent[]>;
}

export interface ArtifactStore {
  /** Content-addressed by (tenant, sha-256 of the bytes); putting it again changes nothing. */
  put(tenant: TenantId, content: { readonly bytes: Uint8Array; readonly mediaType: string }): Promise<ArtifactHash>;
  /** RFC 8785 bytes, media type application/json. Lone surrogates, which it forbids, become U+FFFD. */
  putJson(tenant: TenantId, value: object): Promise<ArtifactHash>;
  get(
    tenant: TenantId,
    hash: ArtifactHash,
  ): Promise<{ readonly bytes: Uint8Array; readonly mediaType: string } | undefined>;
  /** What `put` and `putJson` would store, for a statement that stores it with the row that names it. */
  draft(tenant: TenantId, content: { readonly bytes: Uint8Array; readonly mediaType: string }): Artifact;
  draftJson(tenant: TenantId, value: object): Artifact;
  /** Parsed; throws RowMissing. Callers parse the shape. */
  getJson(tenant: TenantId, hash: ArtifactHash): Promise<unknown>;
}

export interface AttemptKey {
  readonly ref: RunRef;
  readonly step: number;
  readonly attempt: number;
}

export interface AttemptStore {
  /**
   * One transaction: carries the events, reserves (totals + reservation must fit in what the limits leave), inserts the row
   * OPEN. None is opened once a cancel was asked for. An existing row is returned as it is, with `isNew: false`. Until it ends, the totals hold the reservation, as an
   * estimate; so they may fall when it is settled.
   */
  open(
    carried: Carried,
    attempt: Omit<AttemptKey, 'ref'> & {
      readonly context: ArtifactHash;
      readonly reservation: Usage;
      readonly limits: { readonly maxTokens: number; readonly maxCostMicros: number };
    },
  ): Promise<
    | { readonly kind: 'opened'; readonly row: AttemptRow; readonly isNew: boolean; readonly totals: Totals }
    | { readonly kind: 'budgetSpent'; readonly budget: 'tokens' | 'cost'; readonly totals: Totals }
    | { readonly kind: 'cancelRequested'; readonly totals: Totals }
  >;
  /**
   * OPEN → STORED | FAILED with outcome and the real usage in place of the reservation. Where the row is LOST already: the
   * candidate becomes a late artifact (noted in the journal) and the real usage takes the estimate's place in the ledger.
   */
  end(
    key: AttemptKey,
    end: {
      readonly state: 'STORED' | 'FAILED';
      readonly outcome: JsonObject;
      readonly candidate?: ArtifactHash;
      readonly usage: Usage;
      /** The candidate itself: stored with the end, whatever becomes of it. */
      readonly artifacts?: readonly Artifact[];
    },
  ): Promise<{ readonly row: AttemptRow; readonly totals: Totals }>;
  /**
   * OPEN → LOST with its reservation kept as the estimate; one that was never opened is LOST with the given estimate; an
   * ended row is returned as it is. Carries the events.
   */
  collect(
    carried: Carried,
    key: Omit<AttemptKey, 'ref'> & { readonly context: ArtifactHash; readonly estimate: Usage },
  ): Promise<{ readonly row: AttemptRow; readonly totals: Totals }>;
  list(ref: RunRef): Promise<readonly AttemptRow[]>;
}

export interface DecisionStore {
  /** Insert-once by (run, step, attempt, ordinal, validator, phase, try, input hash). Returns the rows as they are stored. */
  record(ref: RunRef, decisions: readonly DecisionRow[]): Promise<readonly (DecisionRow & { readonly id: string })[]>;
  list(ref: RunRef, step?: number): Promise<readonly (DecisionRow & { readonly id: string })[]>;
}

export type DispatchGrant =
  /** This caller sends, this once, within the remaining milliseconds to the dispatch deadline. */
  | { readonly kind: 'won'; readonly row: OperationRow; readonly remainingMs: number; readonly totals: Totals }
  /** Somebody else has it, or it has moved on: look at the row. `now` is the database's clock. */
  | { readonly kind: 'lost'; readonly row: OperationRow; readonly now: number; readonly totals: Totals }
  /** The run has a terminal or is on its way to one, a cancel, or a newer plan: nothing is sent. */
  | {
      readonly kind: 'stopped';
      readonly row: OperationRow;
      readonly why: 'terminal' | 'cancel' | 'plan';
      readonly totals: Totals;
    }
  /** Another write on its target has no proved end. */
  | {
      readonly kind: 'held';
      readonly row: OperationRow;
      readonly by: Pick<OperationRow, 'id' | 'state'>;
      readonly totals: Totals;
    }
  | { readonly kind: 'budgetSpent'; readonly row: OperationRow; readonly totals: Totals };

export interface OperationStore {
  /** Insert-once by id (state CREATED), read back in order. */
  create(operations: readonly NewOperation[]): Promise<readonly OperationRow[]>;
  get(ref: RunRef, id: OperationId): Promise<OperationRow | undefined>;
  list(ref: RunRef): Promise<readonly OperationRow[]>;
  /** Named operations of the runs that this one reopens, oldest first. */
  listCarried(ref: RunRef): Promise<readonly OperationRow[]>;
  /**
   * Named operations (and those of the given step) of this run, or of the run that it reopens, with the same tool and
   * argument hash, oldest first; `step` itself is included only up to `beforeOrdinal`.
   */
  findEquivalent(
    ref: RunRef,
    like: {
      readonly tool: string;
      readonly argumentHash: string;
      readonly step: number;
      readonly beforeOrdinal: number;
    },
  ): Promise<readonly OperationRow[]>;
  /**
   * CREATED, NOT_EXECUTED (its back-off over) or, where `maySendAgain`, UNKNOWN → DISPATCHED, generation + 1. In the same
   * transaction: the run has no terminal and no cancel, the operation's plan version is current, no other write on its target is unknown or in
   * flight, the tool-call budget has room (one entry per operation, not per generation).
   */
  dispatch(
    ref: RunRef,
    id: OperationId,
    grant: {
      readonly decision: string;
      readonly timeoutMs: number;
      readonly maySendAgain: boolean;
      readonly maxToolCalls: number;
    },
  ): Promise<DispatchGrant>;
  /**
   * What was found out, by whoever found out. `generation` names the send that it answers (absent: the operation as a whole,
   * from look-up, poll, callback or person). Moves along the operation table or leaves the row; a refusal of one generation
   * while another is open leaves UNKNOWN, and NOT_EXECUTED of the whole counts only after the dispatch deadline. Inserts
   * facts and evidence with what moves it. An inbox event that settles more wins.
   */
  settle(
    ref: RunRef,
    id: OperationId,
    settlement: Settlement & { readonly generation?: number },
  ): Promise<{ readonly row: OperationRow; readonly now: number }>;
  /** A read's result: insert-once by operation, with facts, evidence and the artifacts it names; the first stored wins. */
  recordRead(
    ref: RunRef,
    id: OperationId,
    result: Settlement & { readonly artifacts?: readonly Artifact[] },
  ): Promise<OperationRow>;
  /** Counts one look-up or poll and says when the next may happen; what has its end is told as it is. */
  countPursuit(
    ref: RunRef,
    id: OperationId,
    kind: 'lookUp' | 'poll',
    notBeforeMs: number,
  ): Promise<{ readonly row: OperationRow; readonly now: number }>;
}

export interface FactStore {
  /**
   * Facts that count: of named operations and consumed waits up to `step`, those of runs that this one reopens, and of the operations in `alsoOf`, whose events
   * no carrier has brought yet. In order of (step, ordinal); a later one on the same object and field supersedes, and within
   * a step a write's those of the reads beside it: only that one is in the list.
   */
  list(
    ref: RunRef,
    upTo: { readonly step: number; readonly alsoOf: readonly OperationId[] },
  ): Promise<readonly FactRow[]>;
}

export interface LedgerEntry {
  /** `step:3`, `attempt:3.1`, `operation:op_…`, `reopened:run_…`. */
  readonly reference: string;
  /** `carried`: all that the run which this one reopens had spent. */
  readonly kind: 'step' | 'attempt' | 'toolCall' | 'carried';
  readonly isOpen: boolean;
  readonly usage: Usage;
}

export interface LedgerStore {
  totals(ref: RunRef): Promise<Totals>;
  entries(ref: RunRef): Promise<readonly LedgerEntry[]>;
}
