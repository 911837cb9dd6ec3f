/**
 * One function per effect: effect → activity or timer → event. Nothing here decides; what comes back is an event for the
 * inbox. Work that the machine may give up (an attempt, a pursuit, a wait) is droppable by itself.
 */
import { condition, isCancellation, proxyActivities, proxyLocalActivities, sleep } from '@temporalio/workflow';
import type { Carrier } from './carrier';
import type { AttemptInput, CallInput, LocalActivities, ReadOutcome, RegularActivities } from './contract/activities';
import { coordinatesOf, type OperationId, type WaitId } from './contract/ids';
import type { RunRef } from './contract/records';
import { unpackContext, unpackJudged, unpackTotals, type Wire } from './contract/wire';
import { DoneAhead } from './done-ahead';
import type { Inbox } from './inbox';
import { assertNever } from './machine/assert';
import { findCall } from './machine/calls';
import type { Effect, EffectOf } from './machine/effects';
import type { RunEvent } from './machine/events';
import type { Call, Run } from './machine/run';
import { attemptOptions, LOCAL, STORE, TOOL } from './policies';
import { Droppable, SideWork } from './side-work';
import { WaitListener } from './wait-listener';

const local = proxyLocalActivities<Wire<LocalActivities>>(LOCAL);
const stored = proxyActivities<Wire<RegularActivities>>(STORE);
const tool = proxyActivities<Wire<RegularActivities>>(TOOL);

type Untimed<Event> = Event extends RunEvent ? Omit<Event, 'at'> : never;

export class Performer {
  private readonly side: SideWork;
  private readonly waits: WaitListener;
  private readonly attempt = new Droppable();
  private readonly reads = new Droppable();
  private readonly ahead = new DoneAhead();
  /** Of the open candidate's calls, by ordinal: a newer pursuit of a call replaces the one before. */
  private readonly pursuits = new Map<number, Droppable>();
  /** A message came before the run was open. */
  private isPlanUnread = false;

  constructor(
    private readonly ref: RunRef,
    private readonly inbox: Inbox,
    private readonly carrier: Carrier,
  ) {
    this.side = new SideWork(inbox);
    this.waits = new WaitListener(carrier);
  }

  open(run: Run, effects: readonly Effect[]): void {
    this.side.after(run.deadlineAt - Date.now(), () => {
      this.tell({ kind: 'deadlinePassed' });
    });
    this.perform(run, effects);
    if (this.isPlanUnread) this.adoptPlan(run);
  }

  perform(run: Run, effects: readonly Effect[]): void {
    this.dropPursuitsOfEnded(run);
    for (const effect of effects) this.side.start(() => this.performOne(effect, run));
  }

  /** A response, or its expiry, may be in the row of this wait. */
  wake(wait: WaitId): void {
    this.waits.wake(wait);
  }

  /** Something about this operation has arrived: look now instead of at the next poll. */
  lookInto(run: Run, operation: OperationId): void {
    const { step, ordinal } = coordinatesOf(operation);
    const call = step === run.step ? findCall(run, ordinal) : undefined;
    if (call === undefined || !canBeSettled(call)) return;
    this.side.start(() => this.pursue({ kind: 'pursue', step, ordinal, next: { action: 'lookUp', afterMs: 0 } }));
  }

  /** The plan may have moved on. */
  adoptPlan(run: Run | undefined): void {
    if (run === undefined) {
      this.isPlanUnread = true;
      return;
    }
    const { planVersion, step } = run;
    this.side.start(async () => {
      const plan = await this.carrier.run((carried) => stored.adoptPlan({ ...carried, planVersion, step }));
      if (plan === undefined) return;
      const { change: kind, ...adopted } = plan;
      this.tell({ kind, ...adopted, atStep: step });
    });
  }

  /** Brings the events that a waiting run would otherwise keep to itself. */
  flush(): void {
    this.side.start(() => this.carry());
  }

  carry(): Promise<void> {
    return this.carrier.run((carried) => stored.carry(carried));
  }

  /** Ends every timer and listener. */
  stop(): void {
    this.side.timers.drop();
    this.attempt.drop();
    this.waits.closeAll();
    for (const pursuit of this.pursuits.values()) pursuit.drop();
  }

  private dropPursuitsOfEnded(run: Run): void {
    for (const [ordinal, pursuit] of this.pursuits) {
      const call = findCall(run, ordinal);
      if (call !== undefined && call.phase !== 'ENDED') continue;
      pursuit.drop();
      this.pursuits.delete(ordinal);
    }
  }

  private tell(event: Untimed<RunEvent>): void {
    this.inbox.push({ ...event, at: Date.now() });
  }

  private performOne(effect: Effect, run: Run): Promise<void> | undefined {
    switch (effect.kind) {
      case 'freezeContext':
        return this.freezeContext(effect, run);
      case 'callModel':
        return this.callModel(effect, run);
      case 'collectAttempt':
        return this.runAttempt({ ...withoutKind(effect), mode: 'collect' }, run);
      case 'backOff':
        return this.backOff(effect);
      case 'judgeCandidate':
        return this.judgeCandidate(effect, run);
      case 'read':
        return this.read(effect);
      case 'dispatch':
        return this.dispatch(effect);
      case 'pursue':
        return this.pursue(effect);
      case 'openWait':
        return this.openWait(effect, run);
      case 'closeWaits':
        this.waits.close(effect.waits);
        return undefined;
      case 'cancelAttempt':
        this.attempt.drop();
        return undefined;
      case 'cancelReads':
        this.reads.drop();
        return undefined;
      case 'stopOperations':
        return this.stopOperations(effect, run);
      case 'startGrace':
        this.startGrace(effect);
        return undefined;
      case 'checkEnd':
        return this.checkEnd(effect, run);
      case 'commit':
        return this.commit(effect);
      case 'complete':
        return undefined;
      default:
        return assertNever(effect);
    }
  }

  private async freezeContext(effect: EffectOf<'freezeContext'>, { planVersion }: Run): Promise<void> {
    const freeze = withoutKind(effect);
    const frozen =
      this.ahead.takeContext(effect, planVersion) ??
      unpackContext(await local.freezeContext({ ref: this.ref, planVersion, freeze }));
    this.tell({ kind: 'contextFrozen', step: effect.step, ...frozen });
  }

  private callModel({ step, attempt, context, truncations }: EffectOf<'callModel'>, run: Run): Promise<void> {
    return this.runAttempt({ step, attempt, context, ...(truncations === 0 ? {} : { truncations }) }, run);
  }

  /**
   * The activity's death is no failure of the model: the same number is collected. Collecting is the store's work alone and
   * repeated until it works; a failure of it is a fault of ours, as with every other activity.
   */
  private runAttempt(input: Omit<AttemptInput, 'ref' | 'events'>, { limits }: Run): Promise<void> {
    const { step, attempt, mode } = input;
    const { runAttempt } =
      mode === 'collect' ? stored : proxyActivities<Wire<RegularActivities>>(attemptOptions(limits.attemptTimeoutMs));
    return this.side.track(async () => {
      try {
        const answer = await this.attempt.run(() =>
          this.carrier.run((carried) => runAttempt({ ...carried, ...input })),
        );
        const outcome = { ...answer, totals: unpackTotals(answer.totals) };
        if (outcome.kind === 'budgetSpent') this.tell({ kind: 'budgetSpent', budget: outcome.budget });
        else if (outcome.kind === 'attemptFailed') this.tell({ step, attempt, jitter: Math.random(), ...outcome });
        else this.tell({ step, attempt, ...outcome });
      } catch (error) {
        if (isCancellation(error) || mode === 'collect') throw error;
        this.tell({ kind: 'attemptInterrupted', step, attempt });
      }
    });
  }

  private async backOff({ step, attempt, forMs }: EffectOf<'backOff'>): Promise<void> {
    await this.attempt.run(() => sleep(forMs));
    this.tell({ kind: 'backOffElapsed', step, attempt });
  }

  private async judgeCandidate(effect: EffectOf<'judgeCandidate'>, run: Run): Promise<void> {
    const { planVersion, limits, totals } = run;
    const room = limits.maxToolCalls - totals.toolCalls;
    const input = { ref: this.ref, planVersion, room, ...withoutKind(effect) };
    const judged = unpackJudged(await local.judgeCandidate(input));
    this.ahead.keep(input, judged);
    const { ahead, ...verdict } = judged;
    this.tell({ step: effect.step, ...verdict });
    for (const read of ahead?.reads ?? []) this.tellRead(effect.step, read);
  }

  private async read(effect: EffectOf<'read'>): Promise<void> {
    if (this.ahead.hasRead(effect)) return;
    const { step, ordinal, isShort } = effect;
    const call = { ref: this.ref, step, ordinal };
    const outcome = isShort ? await local.readShort(call) : await this.readLong(call);
    this.tellRead(step, { ordinal, ...outcome });
  }

  private tellRead(step: number, { ordinal, question, ...result }: Partial<ReadOutcome> & Pick<CallInput, 'ordinal'>) {
    if (question === undefined) this.tell({ kind: 'readEnded', step, ordinal, ...result });
    else this.tell({ kind: 'objectAmbiguous', step, ordinal, question });
  }

  private async readLong(call: CallInput): Promise<Partial<ReadOutcome>> {
    try {
      return await this.reads.run(() => this.carrier.run((carried) => tool.readLong({ ...call, ...carried })));
    } catch (error) {
      if (isCancellation(error)) return { code: 'CANCELLED' };
      throw error;
    }
  }

  private async dispatch({ step, ordinal, isApproved }: EffectOf<'dispatch'>): Promise<void> {
    const sent = await this.carrier.run((carried) => tool.dispatch({ ...carried, step, ordinal, isApproved }));
    const totals = unpackTotals(sent.totals);
    switch (sent.kind) {
      case 'outcome':
        this.tell({ kind: 'dispatchEnded', step, ordinal, outcome: sent.outcome, totals });
        return;
      case 'ambiguous':
        this.tell({ kind: 'objectAmbiguous', step, ordinal, question: sent.question });
        return;
      case 'budgetSpent': {
        const outcome = { kind: 'settled', state: 'CANCELLED', code: 'CANCELLED' } as const;
        this.tell({ kind: 'budgetSpent', budget: 'toolCalls' });
        this.tell({ kind: 'dispatchEnded', step, ordinal, outcome, totals });
      }
    }
  }

  private async pursue({ step, ordinal, next: { action, afterMs } }: EffectOf<'pursue'>): Promise<void> {
    const pursuit = new Droppable();
    this.pursuits.get(ordinal)?.drop();
    this.pursuits.set(ordinal, pursuit);
    if (afterMs > 0) await pursuit.run(() => sleep(afterMs));
    // Whether the back-off is over by the database's clock is for the dispatching transaction to say.
    if (action === 'resend') {
      this.tell({ kind: 'resendDue', step, ordinal });
      return;
    }
    const outcome = await pursuit.run(() =>
      this.carrier.run((carried) => tool.pursue({ ...carried, step, ordinal, action })),
    );
    // Cut short, it may have answered all the same; the one that replaced it reads the same row.
    if (this.pursuits.get(ordinal) !== pursuit) return;
    this.tell({ kind: 'operationMoved', step, ordinal, outcome });
  }

  private async openWait(effect: EffectOf<'openWait'>, { seq, planVersion }: Run): Promise<void> {
    const wait = { ...withoutKind(effect), seq, planVersion };
    const end = await this.waits.listen(effect.wait, () =>
      this.carrier.run((carried) => stored.openWait({ ...carried, ...wait })),
    );
    if (end !== undefined) this.tell(end);
  }

  private stopOperations({ isCancel }: EffectOf<'stopOperations'>, { step }: Run): Promise<void> {
    return this.side.track(async () => {
      const stopped = await this.carrier.run((carried) => stored.stopOperations({ ...carried, isCancel, step }));
      this.tell({ kind: 'operationsStopped', ...stopped });
    });
  }

  private startGrace({ forMs }: EffectOf<'startGrace'>): void {
    this.side.after(forMs, () => {
      this.tell({ kind: 'graceElapsed' });
    });
  }

  private async checkEnd(effect: EffectOf<'checkEnd'>, { planVersion, limits }: Run): Promise<void> {
    const { check, ending, afterMs } = effect;
    if (afterMs > 0) await this.side.timers.run(() => sleep(afterMs));
    if (this.side.isTracking) await condition(() => !this.side.isTracking, limits.cancelGraceMs);
    this.tell({ kind: 'endChecked', check, ...(await local.checkEnd({ ref: this.ref, ending, planVersion })) });
  }

  private async commit({ ending }: EffectOf<'commit'>): Promise<void> {
    const committed = await this.carrier.run((carried) => stored.commit({ ...carried, ending }));
    this.tell({ kind: 'committed', ...committed });
  }
}

/** Its operation is open, and no dispatch is under way that would read what has arrived. */
const canBeSettled = ({ phase, next, isUnproved }: Call): boolean =>
  (phase === 'PENDING' && next?.action !== 'held') || (phase === 'ASKING' && isUnproved === true);

const withoutKind = <E extends Effect>({ kind: _kind, ...rest }: E): Omit<E, 'kind'> => rest;
