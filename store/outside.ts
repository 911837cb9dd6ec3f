/**
 * Faces of the store for what comes from outside: waits and what people say to them, reports about operations, and the
 * signals that are owed for both. Laws: `store/store.ts`.
 */
import type { Carried } from '../workflows/contract/activities';
import type { OperationId, TenantId, WaitId } from '../workflows/contract/ids';
import type { RunRef } from '../workflows/contract/records';
import type { Terminal } from '../workflows/machine/states';
import type {
  InboxEffect,
  InboxRow,
  NewResponse,
  NewWait,
  ResponseCase,
  ResponseJudgement,
  ResponseReceipt,
  ResponseRow,
  WaitRow,
} from './rows';

export interface WaitStore {
  /** Carries the events and inserts the wait; asked again it reads it back. One that is overtaken already is VOID from the start. */
  open(carried: Carried, wait: NewWait): Promise<{ readonly row: WaitRow; readonly remainingMs: number }>;
  /** OPEN past its expiry becomes EXPIRED here; CONSUMED wins. */
  read(ref: RunRef, id: WaitId): Promise<{ readonly row: WaitRow; readonly remainingMs: number } | undefined>;
  /** Newest first. What is listed as OPEN has not expired. */
  list(
    tenant: TenantId,
    filter: { readonly run?: RunRef['run']; readonly state?: WaitRow['state']; readonly limit: number },
  ): Promise<readonly WaitRow[]>;
  /** Oldest first, by pages: what has waited longest comes first. `cursor` is opaque, as for runs. */
  page(tenant: TenantId, filter: WaitFilter): Promise<{ readonly rows: readonly WaitRow[]; readonly cursor?: string }>;
  /**
   * One transaction on the locked run row, then the wait's, then its operation's. `judge` is pure and called once for each
   * try of the transaction, with the time at which the locks were held. Whatever it says is written with the response and
   * noted in the journal (`response:<id>`, never the body). Accepted: the wait is CONSUMED, its facts count, with an edit the
   * operation has its new arguments, and a wake `respond` is owed. A wait that is past its expiry becomes EXPIRED.
   *
   * A response that was judged before (same id, wait, principal and body) gets the verdict of then; the same id with
   * anything else is refused as `response.id_taken`. Undefined where this run has no such wait.
   */
  respond(
    ref: RunRef,
    response: NewResponse,
    judge: (about: ResponseCase) => ResponseJudgement,
  ): Promise<ResponseReceipt | undefined>;
  /** All that was said to the wait, refused or not, in order of arrival. */
  responses(ref: RunRef, id: WaitId): Promise<readonly ResponseRow[]>;
}

export interface WaitFilter {
  readonly run?: RunRef['run'];
  readonly state?: WaitRow['state'];
  readonly kind?: WaitRow['kind'];
  readonly limit: number;
  readonly cursor?: string;
}

/**
 * `respond`, `message`, `cancel`, `toolEvent` are signals of the run; `reconcile` starts the workflow that goes on with an
 * operation after the run's end.
 */
export const WAKE_KINDS = ['respond', 'message', 'cancel', 'toolEvent', 'reconcile'] as const;
export type WakeKind = (typeof WAKE_KINDS)[number];

export interface Wake {
  readonly ref: RunRef;
  readonly kind: WakeKind;
  /** The wait, the message, the operation that it is about; empty for `cancel`. */
  readonly subject: string;
  readonly tries: number;
  /** Where the run has one: it can be signalled no more. */
  readonly terminal?: Terminal;
}

/** Signals that are owed. Written in the transaction of what they are about, and there until `seen`. */
export interface WakeStore {
  /** Of all tenants: those that are due, the oldest first; each is due again later, so that two relays take different ones. */
  take(page: { readonly limit: number }): Promise<readonly Wake[]>;
  /** The workflow has read what it was about. */
  seen(ref: RunRef, kind: WakeKind, subject: string): Promise<void>;
}

/** Reports from outside about operations. Whoever receives them only stores; an activity of the run settles from them. */
export interface InboxStore {
  /**
   * Whose run the operation is of, of all tenants: for a report that is signed and names no tenant, and for nothing else.
   * Undefined also where two tenants have a run of that id.
   */
  runOf(operation: OperationId): Promise<RunRef | undefined>;
  /**
   * One transaction on the locked run and operation: the report, insert-once by (operation, event id), its line in the
   * journal, and a signal that is owed: `toolEvent`, or `reconcile` where the run has ended. One about an operation that has
   * its end is `late` at once and owes none. Undefined where there is no such write.
   */
  receive(
    ref: RunRef,
    report: Pick<InboxRow, 'operation' | 'eventId' | 'body'>,
  ): Promise<{ readonly isNew: boolean; readonly wake?: 'toolEvent' | 'reconcile' } | undefined>;
  /** A line in the journal for one that was not taken, one per event id and reason, and a bounded number per operation. */
  refuse(
    ref: RunRef,
    refusal: { readonly operation: OperationId; readonly eventId: string; readonly reason: string },
  ): Promise<void>;
  /** Not read yet, in order of arrival, a bounded number. */
  unsettled(ref: RunRef, operation: OperationId): Promise<readonly InboxRow[]>;
  /**
   * Has been read; `late` may be made more precise. With the last one the signal is no longer owed. What contradicts, or is
   * about something else, has a line of its own in the journal.
   */
  settled(
    ref: RunRef,
    operation: OperationId,
    reading: { readonly eventId: string; readonly effect: InboxEffect; readonly job?: string },
  ): Promise<void>;
  /** All of a run, in order of arrival. */
  list(ref: RunRef): Promise<readonly InboxRow[]>;
}
