/**
 * One function per effect: effect → activity or timer → event. Nothing here decides; what comes back is an event for the
 * inbox. Work that the machine may give up (an attempt, a pursuit, a wait) is droppable by itself.
 *
 *   begin   goes on whatever comes: the execution after a continue-as-new does not know of it
 *   pass    is held back where the run is about to continue as new: the next execution begins it itself
 */
import { condition, isCancellation, proxyActivities, proxyLocalActivities, sleep } from '@temporalio/workflow';
import type { AttemptInput, CallInput, LocalActivities, ReadOutcome, RegularActivities } from './contract/activities';
import { operationIdOf, type OperationId, type WaitId } from './contract/ids';
import { unpackContext, unpackJudged, unpackTotals, type Wire } from './contract/wire';
import { DoneAhead } from './done-ahead';
import { assertNever } from './machine/assert';
import { carryRun, type CarriedRun } from './machine/carried-run';
import type { Effect, EffectOf } from './machine/effects';
import type { CallPlace, Run } from './machine/run';
import type { Means } from './means';
import { PlanReader } from './plan-reader';
import { attemptOptions, LOCAL, STORE, TOOL } from './policies';
import { Pursuits } from './pursuits';
import { Droppable } from './side-work';
import { WaitListener } from './wait-listener';

const local = proxyLocalActivities<Wire<LocalActivities>>(LOCAL);
const stored = proxyActivities<Wire<RegularActivities>>(STORE);
const tool = proxyActivities<Wire<RegularActivities>>(TOOL);

export class Performer {
  private readonly waits: WaitListener;
  private readonly pursuits: Pursuits;
  private readonly plan: PlanReader;
  private readonly attempt = new Droppable();
  private readonly reads = new Droppable();
  private readonly ahead = new DoneAhead();
  /** When the newest look at the end, and the end of the grace, are due. */
  private checkAt: number | undefined;
  private graceAt: number | undefined;

  constructor(private readonly means: Means) {
    this.waits = new WaitListener(means);
    this.pursuits = new Pursuits(means);
    this.plan = new PlanReader(means);
  }

  open(run: Run, effects: readonly Effect[]): void {
    const { side, inbox } = this.means;
    side.after(run.deadlineAt - Date.now(), () => {
      inbox.tell({ kind: 'deadlinePassed' });
    });
    this.perform(run, effects);
    this.plan.catchUp();
  }

  /** Goes on where the execution before stopped: its timers, its waits, and whatever was accepted meanwhile. */
  resume(run: Run, effects: readonly Effect[]): void {
    const { side } = this.means;
    this.open(run, effects);
    for (const { id } of run.waits) side.start(() => this.waits.listenAgain(id));
    side.start(() => this.readStanding(run));
  }

  perform(run: Run, effects: readonly Effect[]): void {
    this.pursuits.dropEnded(run);
    for (const effect of effects) this.means.side.start(() => this.performOne(effect, run));
    this.pursuits.takeUpReports(run);
  }

  /** A response, or its expiry, may be in the row of this wait. */
  wake(wait: WaitId): void {
    this.waits.wake(wait);
  }

  /** A whole response came as a signal: stored and judged before anything else, and before the run continues as new. */
  judge(wait: WaitId, signal: unknown): void {
    const { side, flight, ref } = this.means;
    side.start(async () => {
      await flight.begin('activity', () => stored.judgeSignalled({ ref, signal }));
      this.waits.wake(wait);
    });
  }

  /** Something about this operation has arrived. */
  lookInto(operation: OperationId): void {
    const { side, current } = this.means;
    const run = current();
    if (run === undefined) return;
    this.pursuits.lookInto(run, operation);
    for (const { id, about } of run.waits) {
      if (about !== undefined && operationIdOf(run.id, about.step, about.ordinal) === operation)
        side.start(() => this.lookIntoWait(id, about));
    }
  }

  /** The plan may have moved on. */
  readPlan(): void {
    this.plan.read();
  }

  /** Brings the events that a waiting run would otherwise keep to itself. */
  flush(): void {
    this.means.side.start(() => this.carry());
  }

  carry(): Promise<void> {
    const { flight, carrier } = this.means;
    return flight.begin('activity', () => carrier.run((carried) => stored.carry(carried)));
  }

  /** What the next execution needs to go on: nothing is in flight, and every event is in the store. */
  handOver(run: Run): CarriedRun {
    const { checkAt, graceAt } = this;
    return carryRun({
      run,
      pursuits: this.pursuits.due,
      ...(checkAt === undefined ? {} : { checkAt }),
      ...(graceAt === undefined ? {} : { graceAt }),
    });
  }

  /** Ends every timer and listener. */
  stop(): void {
    this.means.side.timers.drop();
    this.attempt.drop();
    this.waits.closeAll();
    this.pursuits.stop();
    this.plan.stop();
  }

  /** Of an earlier step: what is found out ends the wait, for the run has no call of it any more. */
  private lookIntoWait(wait: WaitId, about: CallPlace): Promise<void> {
    const { flight, carrier } = this.means;
    return flight.pass('activity', async () => {
      await carrier.run((carried) => tool.pursue({ ...carried, ...about, action: 'lookUp' }));
      this.waits.wake(wait);
    });
  }

  /** Signals that came too late for the execution before were about something that is in the row. */
  private async readStanding({ planVersion, step, ending }: Run): Promise<void> {
    const { flight, inbox, ref } = this.means;
    await flight.begin('local', async () => {
      const { plan, isCancelRequested } = await local.readStanding({ ref, planVersion, step });
      if (plan !== undefined) {
        const { change: kind, ...adopted } = plan;
        inbox.tell({ kind, ...adopted, atStep: step });
      }
      if (isCancelRequested && ending?.as !== 'CANCELLED') inbox.tell({ kind: 'cancelRequested', source: 'signal' });
    });
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
        return this.pursuits.pursue(effect);
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
        return this.commit(effect, run);
      case 'complete':
        return undefined;
      default:
        return assertNever(effect);
    }
  }

  private freezeContext(effect: EffectOf<'freezeContext'>, { planVersion }: Run): Promise<void> {
    const { flight, inbox, ref } = this.means;
    const freeze = withoutKind(effect);
    return flight.pass('local', async () => {
      const frozen =
        this.ahead.takeContext(effect, planVersion) ??
        unpackContext(await local.freezeContext({ ref, planVersion, freeze }));
      inbox.tell({ kind: 'contextFrozen', step: effect.step, ...frozen });
    });
  }

  private callModel({ step, attempt, context, truncations }: EffectOf<'callModel'>, run: Run): Promise<void> {
    return this.runAttempt({ step, attempt, context, ...(truncations === 0 ? {} : { truncations }) }, run);
  }

  /**
   * The activity's death is no failure of the model: the same number is collected. Collecting is the store's work alone and
   * repeated until it works; a failure of it is a fault of ours, as with every other activity.
   */
  private runAttempt(input: Omit<AttemptInput, 'ref' | 'events'>, { limits }: Run): Promise<void> {
    const { side, flight, inbox, carrier } = this.means;
    const { step, attempt, mode } = input;
    const { runAttempt } =
      mode === 'collect' ? stored : proxyActivities<Wire<RegularActivities>>(attemptOptions(limits.attemptTimeoutMs));
    const work = async (): Promise<void> => {
      try {
        const answer = await this.attempt.run(() => carrier.run((carried) => runAttempt({ ...carried, ...input })));
        const outcome = { ...answer, totals: unpackTotals(answer.totals) };
        if (outcome.kind === 'budgetSpent') inbox.tell({ kind: 'budgetSpent', budget: outcome.budget });
        else if (outcome.kind === 'cancelRequested') inbox.tell({ kind: 'cancelRequested', source: 'signal' });
        else if (outcome.kind === 'attemptFailed') inbox.tell({ step, attempt, jitter: Math.random(), ...outcome });
        else inbox.tell({ step, attempt, ...outcome });
      } catch (error) {
        if (isCancellation(error) || mode === 'collect') throw error;
        inbox.tell({ kind: 'attemptInterrupted', step, attempt });
      }
    };
    return side.track(() => flight.begin('activity', work));
  }

  private async backOff({ step, attempt, forMs }: EffectOf<'backOff'>): Promise<void> {
    this.means.flight.note('timer');
    await this.attempt.run(() => sleep(forMs));
    this.means.inbox.tell({ kind: 'backOffElapsed', step, attempt });
  }

  private judgeCandidate(effect: EffectOf<'judgeCandidate'>, { planVersion, limits, totals }: Run): Promise<void> {
    const { flight, inbox, ref } = this.means;
    const room = limits.maxToolCalls - totals.toolCalls;
    const input = { ref, planVersion, room, totals, ...withoutKind(effect) };
    return flight.begin('local', async () => {
      const judged = unpackJudged(await local.judgeCandidate(input));
      this.ahead.keep(input, judged);
      const { ahead, ...verdict } = judged;
      inbox.tell({ step: effect.step, ...verdict });
      for (const read of ahead?.reads ?? []) this.tellRead(effect.step, read);
    });
  }

  private read(effect: EffectOf<'read'>): Promise<void> | undefined {
    if (this.ahead.hasRead(effect)) return undefined;
    const { step, ordinal, isShort } = effect;
    const { flight, ref } = this.means;
    const call = { ref, step, ordinal };
    return flight.begin(isShort ? 'local' : 'activity', async () => {
      const outcome = isShort ? await local.readShort(call) : await this.readLong(call);
      this.tellRead(step, { ordinal, ...outcome });
    });
  }

  private tellRead(step: number, { ordinal, question, ...result }: Partial<ReadOutcome> & Pick<CallInput, 'ordinal'>) {
    const { inbox } = this.means;
    if (question === undefined) inbox.tell({ kind: 'readEnded', step, ordinal, ...result });
    else inbox.tell({ kind: 'objectAmbiguous', step, ordinal, question });
  }

  private async readLong(call: CallInput): Promise<Partial<ReadOutcome>> {
    try {
      return await this.reads.run(() => this.means.carrier.run((carried) => tool.readLong({ ...call, ...carried })));
    } catch (error) {
      if (isCancellation(error)) return { code: 'CANCELLED' };
      throw error;
    }
  }

  private dispatch({ step, ordinal, isApproved }: EffectOf<'dispatch'>): Promise<void> {
    const { flight, inbox, carrier } = this.means;
    return flight.begin('activity', async () => {
      const sent = await carrier.run((carried) => tool.dispatch({ ...carried, step, ordinal, isApproved }));
      const totals = unpackTotals(sent.totals);
      switch (sent.kind) {
        case 'outcome':
          inbox.tell({ kind: 'dispatchEnded', step, ordinal, outcome: sent.outcome, totals });
          return;
        case 'ambiguous':
          inbox.tell({ kind: 'objectAmbiguous', step, ordinal, question: sent.question });
          return;
        case 'budgetSpent': {
          const outcome = { kind: 'settled', state: 'CANCELLED', code: 'CANCELLED' } as const;
          inbox.tell({ kind: 'budgetSpent', budget: 'toolCalls' });
          inbox.tell({ kind: 'dispatchEnded', step, ordinal, outcome, totals });
        }
      }
    });
  }

  private openWait(effect: EffectOf<'openWait'>, { seq, planVersion }: Run): Promise<void> {
    const wait = { ...withoutKind(effect), seq, planVersion };
    return this.waits.openAndListen(effect.wait, () =>
      this.means.carrier.run((carried) => stored.openWait({ ...carried, ...wait })),
    );
  }

  private stopOperations({ isCancel }: EffectOf<'stopOperations'>, { step }: Run): Promise<void> {
    const { side, flight, inbox, carrier } = this.means;
    const work = async (): Promise<void> => {
      const stopped = await carrier.run((carried) => stored.stopOperations({ ...carried, isCancel, step }));
      inbox.tell({ kind: 'operationsStopped', ...stopped });
    };
    return side.track(() => flight.begin('activity', work));
  }

  private startGrace({ forMs }: EffectOf<'startGrace'>): void {
    const { side, inbox } = this.means;
    this.graceAt = Date.now() + forMs;
    side.after(forMs, () => {
      this.graceAt = undefined;
      inbox.tell({ kind: 'graceElapsed' });
    });
  }

  private async checkEnd(effect: EffectOf<'checkEnd'>, { planVersion, limits }: Run): Promise<void> {
    const { side, flight, inbox, ref } = this.means;
    const { check, ending, afterMs } = effect;
    this.checkAt = Date.now() + afterMs;
    await side.pause(afterMs);
    if (side.isTracking) await condition(() => !side.isTracking, limits.cancelGraceMs);
    await flight.pass('local', async () => {
      inbox.tell({ kind: 'endChecked', check, ...(await local.checkEnd({ ref, ending, planVersion })) });
    });
  }

  private commit({ ending }: EffectOf<'commit'>, { planVersion, step }: Run): Promise<void> {
    const { flight, inbox, carrier } = this.means;
    return flight.begin('activity', async () => {
      const answer = await carrier.run((carried) => stored.commit({ ...carried, ending, planVersion, step }));
      if ('terminal' in answer) {
        inbox.tell({ kind: 'committed', ...answer });
        return;
      }
      const { change: _kind, ...overtakenBy } = answer.overtakenBy;
      inbox.tell({ kind: 'commitOvertaken', ...overtakenBy, atStep: step });
    });
  }
}

const withoutKind = <E extends Effect>({ kind: _kind, ...rest }: E): Omit<E, 'kind'> => rest;
