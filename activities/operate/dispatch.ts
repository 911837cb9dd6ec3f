/**
 * Dispatching a write: judged again, granted once, sent once. Temporal may run this activity again at any point (a dead
 * worker, a store that was away); the row says what the execution before has done, and nothing but a grant sends.
 *
 *   CREATED, NOT_EXECUTED  judged, granted, sent; what has been reported since the last send is read before
 *   UNKNOWN                looked up first where that can be done, then judged by what the tool declares
 *   DISPATCHED             somebody sent it and has not said what became of it: looked up once its deadline is over
 *   anything else          its outcome is told again
 */
import { Context } from '@temporalio/activity';
import type { OperationRow } from '../../store/rows';
import type { DispatchGrant } from '../../store/store';
import type { DispatchInput, DispatchOutcome } from '../../workflows/contract/activities';
import type { ErrorCode } from '../../workflows/contract/errors';
import type { OperationOutcome } from '../../workflows/machine/events';
import type { Totals } from '../../workflows/machine/ledger';
import { FAILURE } from '../context/artifact-shapes';
import { limitsOf } from '../context/limits';
import { readArtifact } from '../context/read-artifact';
import type { ActivityDeps } from '../deps';
import { withHeartbeat } from '../heartbeat';
import { toAmbiguousQuestion } from './ambiguous-question';
import { isApprovedAsItIs } from './approval-of';
import { storeApprovalPlan } from './approval-plan';
import { conclude, HELD_MS, type Standing } from './conclude';
import { judgeDispatch, type DispatchVerdict } from './judge-dispatch';
import { makeFailure } from './failure';
import { cancelled, type Known, type Learned } from './learned';
import { loadOperation, type LoadedOperation } from './load-operation';
import { lookUp } from './look-up';
import { traitsOf } from './next-for-unknown';
import { readInbox } from './read-inbox';
import { readWithClock } from './read-with-clock';
import { send, type Sendable } from './send';
import { withhold } from './withhold';

export const dispatch = (deps: ActivityDeps, input: DispatchInput): Promise<DispatchOutcome> =>
  withHeartbeat(async () => {
    const totals = await deps.store.journal.carry(input);
    const operation = await loadOperation(deps, input);
    const done = await new Dispatching(deps, operation, input.isApproved).run();
    return done.kind === 'budgetSpent'
      ? { kind: 'budgetSpent', totals: done.totals }
      : toDispatchOutcome(deps, operation, { outcome: done.outcome, totals: done.totals ?? totals });
  });

type Done =
  | { readonly kind: 'outcome'; readonly outcome: OperationOutcome; readonly totals?: Totals }
  | { readonly kind: 'budgetSpent'; readonly totals: Totals };

type Holder = Extract<DispatchGrant, { kind: 'held' }>;

class Dispatching {
  constructor(
    private readonly deps: ActivityDeps,
    private readonly operation: LoadedOperation,
    private readonly isApproved: boolean,
  ) {}

  async run(): Promise<Done> {
    const { row, pinned } = this.operation;
    switch (row.state) {
      case 'CREATED':
        return pinned === undefined ? this.withholdMissing() : this.sendFirst({ ...this.operation, pinned });
      case 'NOT_EXECUTED':
        return this.sendUnexecuted();
      case 'UNKNOWN':
        return this.goOn();
      case 'DISPATCHED':
        return this.tell(await this.doubt());
      default:
        return this.tell(await this.read());
    }
  }

  /** Somebody may know better by now than what proved it unexecuted. */
  private async sendUnexecuted(): Promise<Done> {
    const { pinned } = this.operation;
    if (pinned === undefined) return this.withholdMissing();
    const heard = await readInbox(this.deps, this.operation, await this.read());
    return heard.row.state === 'NOT_EXECUTED'
      ? this.sendFirst({ ...this.operation, pinned, row: heard.row })
      : this.tell(heard);
  }

  /** What has been reported since is read before anything is sent again. */
  private async goOn(): Promise<Done> {
    const { pinned } = this.operation;
    const heard = await readInbox(this.deps, this.operation, await this.read());
    return pinned === undefined || heard.row.state !== 'UNKNOWN'
      ? this.tell(heard)
      : this.sendAgain({ ...this.operation, pinned, row: heard.row });
  }

  private async tell(standing: Standing): Promise<Done> {
    return { kind: 'outcome', outcome: await conclude(this.deps, this.operation, standing) };
  }

  private read(): Promise<Known> {
    return readWithClock(this.deps.store, this.operation.ref, this.operation.row.id);
  }

  /** Its sender may be dead or slow. Whether it still replies or not, the outcome is unknown from here. */
  private doubt(): Promise<Known> {
    const { ref, row } = this.operation;
    const { id, generation } = row;
    return this.deps.store.operations.settle(ref, id, { state: 'UNKNOWN', code: 'OUTCOME_UNKNOWN', generation });
  }

  private async withholdMissing(): Promise<Done> {
    const message = `this worker does not have ${this.operation.row.tool} as the run was pinned to it; nothing was sent`;
    return this.tell(await withhold(this.deps, this.operation, cancelled('UNAVAILABLE', message)));
  }

  private async sendFirst(operation: Sendable): Promise<Done> {
    if (isPastDeadline(operation)) {
      return this.tell(
        await withhold(this.deps, operation, cancelled('EXPIRED', "the run's deadline has passed; nothing was sent")),
      );
    }
    if (this.isApproved && !(await isApprovedAsItIs(this.deps, operation))) return this.askFor(operation);
    const verdict = await judgeDispatch(this.deps, operation, this.isApproved);
    if (verdict.kind === 'permitted')
      return this.sendOnce(operation, { decision: verdict.decision, maySendAgain: false });
    if (verdict.kind === 'needsApproval') return this.askFor(operation);
    return this.tell(await withhold(this.deps, operation, verdict));
  }

  private async askFor(operation: Sendable): Promise<Done> {
    const plan = await storeApprovalPlan(this.deps, operation);
    return { kind: 'outcome', outcome: { kind: 'approvalRequired', plan } };
  }

  /** A denied second send leaves it unknown; so does one that would need a person, who could only confirm the first. */
  private async sendAgain(operation: Sendable): Promise<Done> {
    const verdict: DispatchVerdict = await judgeDispatch(this.deps, operation, this.isApproved);
    const { tool } = operation.pinned;
    const { cancellationSignal: cancellation } = Context.current();
    const known: Standing = traitsOf(tool).canLookUp
      ? await lookUp(this.deps, operation, { kind: 'lookUp', ask: tool.reconcile, cancellation })
      : await this.read();
    if (verdict.kind !== 'permitted' || isPastDeadline(operation)) return this.tell({ ...known, isDenied: true });
    const outcome = await conclude(this.deps, operation, known);
    const isDue = outcome.kind === 'pending' && outcome.next.action === 'resend' && outcome.next.afterMs <= 0;
    if (!isDue) return { kind: 'outcome', outcome };
    return this.sendOnce(operation, { decision: verdict.decision, maySendAgain: outcome.state === 'UNKNOWN' });
  }

  private async sendOnce(
    operation: Sendable,
    permit: { readonly decision: string; readonly maySendAgain: boolean },
  ): Promise<Done> {
    const { ref, row, pinned, run, snapshot } = operation;
    const grant = await this.deps.store.operations.dispatch(ref, row.id, {
      ...permit,
      timeoutMs: traitsOf(pinned.tool).timeoutMs,
      maxToolCalls: limitsOf(run, snapshot).maxToolCalls,
    });
    switch (grant.kind) {
      case 'won':
        return { ...(await this.sendGranted(operation, grant)), totals: grant.totals };
      case 'lost':
        return { ...(await this.tellLost(grant)), totals: grant.totals };
      case 'stopped':
        return { ...(await this.tellStopped(grant)), totals: grant.totals };
      case 'held':
        return { ...(await this.tellHeld(grant)), totals: grant.totals };
      case 'budgetSpent':
        return { kind: 'budgetSpent', totals: grant.totals };
    }
  }

  private async sendGranted(operation: Sendable, grant: Extract<DispatchGrant, { kind: 'won' }>): Promise<Done> {
    return this.tell(await send(this.deps, operation, grant));
  }

  private async tellLost({ row, now }: Extract<DispatchGrant, { kind: 'lost' }>): Promise<Done> {
    return this.tell(row.state === 'DISPATCHED' ? await this.doubt() : { row, now });
  }

  private async tellStopped({ row, why }: Extract<DispatchGrant, { kind: 'stopped' }>): Promise<Done> {
    if (row.state === 'UNKNOWN') return this.tell({ ...(await this.read()), isDenied: true });
    const code: ErrorCode = why === 'plan' ? 'SUPERSEDED' : 'CANCELLED';
    return this.tell(await withhold(this.deps, this.operation, cancelled(code, 'nothing more is sent for this run')));
  }

  /**
   * What is being gone after will be found out: this one waits. What is UNRESOLVED only a person can say, and the run does not
   * ask while this call is due: nobody would end the waiting. The model is told instead; the run asks again before it succeeds.
   */
  private async tellHeld({ row, by }: Holder): Promise<Done> {
    if (by.state === 'UNRESOLVED' && row.state !== 'UNKNOWN') {
      return this.tell(await withhold(this.deps, this.operation, toHeldOff(row, by)));
    }
    // Unsent it stays so: if the run ends meanwhile, that is its end too.
    const state = row.state === 'UNKNOWN' ? 'UNKNOWN' : 'NOT_EXECUTED';
    const outcome: OperationOutcome = { kind: 'pending', state, next: { action: 'resend', afterMs: HELD_MS } };
    return { kind: 'outcome', outcome };
  }
}

/** Nothing of it was sent; whether it may be is not known before that of the other one is. */
const toHeldOff = ({ target = 'the object' }: OperationRow, by: Holder['by']): Learned => {
  const message = `whether ${by.id} has changed ${target} is not known, and nobody is finding out now; nothing of this was sent`;
  const confirmed = { executed: false, waitsFor: by.id, state: by.state };
  return {
    state: 'CANCELLED',
    code: 'OUTCOME_UNKNOWN',
    failure: makeFailure('OUTCOME_UNKNOWN', { message, confirmed }),
  };
};

/** The workflow's timer has the word on it; this only keeps what comes late from being sent before the timer is heard. */
const isPastDeadline = ({ run }: LoadedOperation): boolean =>
  run.deadlineAt !== undefined && run.deadlineAt <= Date.now();

interface Told {
  readonly outcome: OperationOutcome;
  readonly totals: Totals;
}

/** A write that found several matches did nothing; the person is asked which one was meant. */
const toDispatchOutcome = async (
  deps: ActivityDeps,
  { ref, row }: LoadedOperation,
  { outcome, totals }: Told,
): Promise<DispatchOutcome> => {
  if (outcome.kind !== 'settled' || outcome.code !== 'OBJECT_AMBIGUOUS') return { kind: 'outcome', outcome, totals };
  const settled = await deps.store.operations.get(ref, row.id);
  if (settled?.failure === undefined) return { kind: 'outcome', outcome, totals };
  const { confirmed } = await readArtifact(deps.store, { tenant: ref.tenant, hash: settled.failure }, FAILURE);
  const question = toAmbiguousQuestion(confirmed);
  if (question === undefined) return { kind: 'outcome', outcome, totals };
  return { kind: 'ambiguous', question: await deps.store.artifacts.putJson(ref.tenant, question), totals };
};
