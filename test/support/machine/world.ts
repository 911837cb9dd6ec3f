/**
 * A simulated world for the machine: it keeps the effects that are in flight and answers them in any order with anything
 * that the activities may answer. Outside events come in between. No mocks: `decide` is the real one.
 */
import fc from 'fast-check';
import { carryRun, resumeRun, type CarriedRun } from '../../../workflows/machine/carried-run';
import { decide, type Decided } from '../../../workflows/machine/decide';
import type { Effect } from '../../../workflows/machine/effects';
import type { JudgedCall, OperationOutcome, RunEvent } from '../../../workflows/machine/events';
import { parseDerivedId, type ArtifactHash, type Fingerprint, type RunId } from '../../../workflows/machine/ids';
import { NO_TOTALS, type Totals } from '../../../workflows/machine/ledger';
import type { Limits } from '../../../workflows/machine/limits';
import { openRun } from '../../../workflows/machine/open-run';
import { isRevocable, type Run } from '../../../workflows/machine/run';
import { isTerminal } from '../../../workflows/machine/states';

export const LIMITS: Limits = {
  maxSteps: 12,
  maxTokens: 100_000,
  maxCostMicros: 1_000_000,
  maxToolCalls: 10,
  deadlineMs: 1_000_000,
  maxRepairs: 2,
  maxProviderFailures: 2,
  maxLostAttempts: 1,
  maxTruncations: 1,
  maxPauses: 1,
  maxAnalyses: 1,
  backOffBaseMs: 100,
  backOffMaxMs: 1_000,
  maxRetryAfterMs: 10_000,
  cancelGraceMs: 30_000,
  attemptTimeoutMs: 60_000,
  onRefusal: 'fail',
  onExpiry: {
    question: 'end',
    approval: 'tell-model',
    acceptance: 'end',
    reconciliation: 'tell-model',
    handoff: 'end',
  },
  loops: { repeatedCall: 3, repeatedError: 3, noProgress: 4, alternatingPlan: 2, onLoop: 'fail' },
};

export const hash = (name: string): ArtifactHash => parseDerivedId(name.padEnd(64, '0'));
export const fingerprint = (name: string): Fingerprint => parseDerivedId(name);
export const RUN_ID: RunId = parseDerivedId('run_simulated');

export const newRun = (limits: Partial<Limits> = {}): { run: Run; effects: readonly Effect[] } =>
  openRun({ id: RUN_ID, limits: { ...LIMITS, ...limits }, at: 0 });

/** A source of choices: fast-check's, so that a failure shrinks and prints its seed. */
export type Pick = <T>(options: readonly [T, ...T[]]) => T;

export class World {
  run: Run;
  now = 0;
  readonly inFlight: Effect[] = [];
  readonly history: { event: RunEvent; decided: Decided }[] = [];
  private totals: Totals = NO_TOTALS;

  constructor(limits: Partial<Limits> = {}) {
    const opened = newRun(limits);
    this.run = opened.run;
    this.inFlight.push(...opened.effects);
  }

  get isOver(): boolean {
    return isTerminal(this.run.state);
  }

  meet(event: RunEvent): Decided {
    const decided = this.decideOrExplain(event);
    this.history.push({ event, decided });
    this.run = decided.run;
    for (const effect of decided.effects) this.launch(effect);
    return decided;
  }

  /** How the run came to be where it is, for a failing test's message. */
  explain(): string {
    const path = this.history.map(({ decided: { transition: t } }) => `${t.from} ${t.event} → ${t.to} (${t.rule})`);
    return [...path, JSON.stringify(this.run, undefined, 1)].join('\n');
  }

  private decideOrExplain(event: RunEvent): Decided {
    try {
      return decide(this.run, event);
    } catch (error) {
      throw new Error(`${this.explain()}\n${JSON.stringify(event)}`, { cause: error });
    }
  }

  /** Answers one effect in flight, or lets something happen from outside. False where nothing is left that could happen. */
  advance(pick: Pick): boolean {
    this.now += 10;
    const [first, ...rest] = this.inFlight;
    if (first === undefined) return false;
    const effect = pick([first, ...rest]);
    this.inFlight.splice(this.inFlight.indexOf(effect), 1);
    for (const event of this.answer(effect, pick)) this.meet(event);
    return true;
  }

  /** Goes on as another execution does, which knows only what is carried. False where the run cannot be handed over now. */
  handOver(): boolean {
    const { run } = this;
    const isHandable = run.state === 'READY' || run.state === 'WAITING_TOOL' || run.state === 'WAITING_USER';
    if (!isHandable || !this.inFlight.every(({ kind }) => LEFT_TO_THE_NEXT.has(kind))) return false;
    const listening = this.inFlight.filter(
      (effect) => effect.kind === 'openWait' && run.waits.some(({ id }) => id === effect.wait),
    );
    const resumed = resumeRun(parseCarried(JSON.stringify(this.carried())), this.now);
    this.run = resumed.run;
    this.inFlight.splice(0, this.inFlight.length, ...resumed.effects, ...listening);
    return true;
  }

  private carried(): CarriedRun {
    const newest = (kind: Effect['kind']) => this.inFlight.findLast((effect) => effect.kind === kind);
    return carryRun({
      run: this.run,
      pursuits: this.run.calls.flatMap(({ ordinal, phase }) => {
        const pursuit = this.inFlight.findLast(
          (effect) => effect.kind === 'pursue' && effect.ordinal === ordinal && effect.step === this.run.step,
        );
        if (pursuit?.kind !== 'pursue' || phase === 'ENDED') return [];
        return [{ ordinal, action: pursuit.next.action, dueAt: this.now + pursuit.next.afterMs }];
      }),
      ...(newest('checkEnd') === undefined ? {} : { checkAt: this.now }),
      ...(newest('startGrace') === undefined ? {} : { graceAt: this.now }),
    });
  }

  /** What the workflow drops when the machine says so. */
  private launch(effect: Effect): void {
    if (effect.kind === 'cancelAttempt') this.drop((other) => other.kind === 'backOff');
    else if (effect.kind === 'closeWaits')
      this.drop((other) => other.kind === 'openWait' && effect.waits.includes(other.wait));
    else if (effect.kind !== 'complete') this.inFlight.push(effect);
  }

  private drop(isGone: (effect: Effect) => boolean): void {
    const kept = this.inFlight.filter((effect) => !isGone(effect));
    this.inFlight.splice(0, this.inFlight.length, ...kept);
  }

  private spend(): Totals {
    const { attempts, inputTokens, costMicros } = this.totals;
    this.totals = {
      ...this.totals,
      attempts: attempts + 1,
      inputTokens: inputTokens + 900,
      costMicros: costMicros + 4_000,
    };
    return this.totals;
  }

  private answer(effect: Effect, pick: Pick): readonly RunEvent[] {
    const at = this.now;
    switch (effect.kind) {
      case 'freezeContext': {
        const isProgress = pick([true, true, false]);
        return [
          {
            kind: 'contextFrozen',
            at,
            step: effect.step,
            context: hash(`context${String(effect.step)}`),
            totals: this.totals,
            definition: pick(['pinned', 'pinned', 'pinned', 'pinned', 'pinned', 'pinned', 'missing']),
            progress: { hasNewEvidence: isProgress, hasSettled: false, hasClosedGap: false, hasNarrowed: false },
          },
        ];
      }
      case 'callModel':
      case 'collectAttempt':
        return [this.answerAttempt(effect, pick)];
      case 'backOff':
        return [{ kind: 'backOffElapsed', at, step: effect.step, attempt: effect.attempt }];
      case 'judgeCandidate':
        return [judge(effect.step, at, pick)];
      case 'read':
        return [
          {
            kind: 'readEnded',
            at,
            step: effect.step,
            ordinal: effect.ordinal,
            result: fingerprint(pick(['r1', 'r2'])),
            ...pick([{}, {}, { code: 'NOT_FOUND' }]),
          },
        ];
      case 'dispatch':
        return [
          {
            kind: 'dispatchEnded',
            at,
            step: effect.step,
            ordinal: effect.ordinal,
            outcome: outcome(pick),
            totals: this.totals,
          },
        ];
      case 'pursue':
        return effect.next.action === 'resend'
          ? [{ kind: 'resendDue', at, step: effect.step, ordinal: effect.ordinal }]
          : [{ kind: 'operationMoved', at, step: effect.step, ordinal: effect.ordinal, outcome: outcome(pick) }];
      case 'openWait':
        return [this.answerWait(effect, pick)];
      case 'stopOperations':
        return [{ kind: 'operationsStopped', at, cancelled: pick([[], [1], [1, 2]]) }];
      case 'startGrace':
        return [{ kind: 'graceElapsed', at }];
      case 'checkEnd':
        return [
          {
            kind: 'endChecked',
            at,
            check: effect.check,
            unproved: pick([0, 0, 1]),
            ...pick([
              {},
              {},
              { obstacle: 'operationOpen' as const },
              { obstacle: 'acceptanceRequired' as const },
              { obstacle: 'reconciliationRequired' as const, about: { step: effect.check, ordinal: 1 } },
              { obstacle: 'conditionUnmet' as const, artifact: hash('gap') },
            ]),
          },
        ];
      case 'commit':
        return [
          isRevocable(effect.ending) && pick([true, false, false, false])
            ? {
                kind: 'commitOvertaken',
                at,
                planVersion: this.run.planVersion + 1,
                cancelled: [],
                atStep: this.run.step,
              }
            : { kind: 'committed', at, terminal: effect.ending.as, reason: effect.ending.reason },
        ];
      case 'closeWaits':
      case 'cancelAttempt':
      case 'cancelReads':
      case 'complete':
        return [];
    }
  }

  private answerAttempt(effect: Effect & { step: number; attempt: number }, pick: Pick): RunEvent {
    const { step, attempt } = effect;
    const base = { at: this.now, step, attempt };
    const totals = this.spend();
    return pick<RunEvent>([
      { kind: 'candidateStored', ...base, candidate: hash(`candidate${String(step)}`), totals },
      { kind: 'candidateStored', ...base, candidate: hash(`candidate${String(step)}`), totals },
      { kind: 'candidateStored', ...base, candidate: hash(`candidate${String(step)}`), totals },
      { kind: 'attemptInterrupted', ...base },
      { kind: 'attemptLost', ...base, totals },
      {
        kind: 'attemptFailed',
        ...base,
        code: 'model.overloaded',
        jitter: 0.5,
        totals,
        ...pick<{ retryAfterMs?: number }>([{}, { retryAfterMs: 500 }, { retryAfterMs: 99_999_999 }]),
      },
      { kind: 'attemptTruncated', ...base, candidate: hash('cut'), totals },
      { kind: 'attemptPaused', ...base, candidate: hash('paused'), totals },
      { kind: 'contextTooLong', ...base, totals },
      { kind: 'providerRejected', ...base, code: 'model.invalid_request', totals },
      { kind: 'modelRefused', ...base, code: 'model.refused', totals },
    ]);
  }

  private answerWait(effect: Effect & { kind: 'openWait' }, pick: Pick): RunEvent {
    const base = { at: this.now, wait: effect.wait };
    const expired: RunEvent = { kind: 'waitExpired', ...base };
    switch (effect.waitKind) {
      case 'approval':
        return pick<RunEvent>([{ kind: 'approvalGiven', ...base }, { kind: 'approvalDenied', ...base }, expired]);
      case 'reconciliation':
        return pick<RunEvent>([
          { kind: 'reconciliationAnswered', ...base, state: 'SUCCEEDED', result: fingerprint('r1') },
          { kind: 'reconciliationAnswered', ...base, state: 'NOT_EXECUTED' },
          expired,
        ]);
      case 'question':
        return pick<RunEvent>([{ kind: 'answerGiven', ...base }, expired]);
      case 'acceptance':
        return pick<RunEvent>([{ kind: 'acceptanceGiven', ...base }, { kind: 'acceptanceRejected', ...base }, expired]);
      case 'handoff':
        return pick<RunEvent>([{ kind: 'takenOver', ...base }, { kind: 'guidanceGiven', ...base }, expired]);
    }
  }
}

/** Timers, waits that are listened to, and what a new execution begins itself. */
const LEFT_TO_THE_NEXT: ReadonlySet<Effect['kind']> = new Set([
  'freezeContext',
  'pursue',
  'openWait',
  'checkEnd',
  'startGrace',
]);

const parseCarried = (text: string): CarriedRun => JSON.parse(text) as CarriedRun;

const outcome = (pick: Pick): OperationOutcome =>
  pick<OperationOutcome>([
    { kind: 'settled', state: 'SUCCEEDED', result: fingerprint('w1') },
    { kind: 'settled', state: 'SUCCEEDED', result: fingerprint('w2') },
    { kind: 'settled', state: 'FAILED', code: 'STATE_CONFLICT' },
    { kind: 'pending', state: 'UNKNOWN', next: { action: 'lookUp', afterMs: 100 } },
    { kind: 'pending', state: 'ACCEPTED', next: { action: 'poll', afterMs: 100 } },
    { kind: 'pending', state: 'NOT_EXECUTED', next: { action: 'resend', afterMs: 100 } },
    { kind: 'unresolved', plan: hash('plan') },
    { kind: 'approvalRequired', plan: hash('plan') },
  ]);

export const judgedCall = (ordinal: number, change: Partial<JudgedCall> = {}): JudgedCall => ({
  ordinal,
  tool: `tool${String(ordinal)}`,
  effect: 'read',
  phase: 'DUE',
  fingerprint: fingerprint(`call${String(ordinal)}`),
  isShort: true,
  ...change,
});

const judge = (step: number, at: number, pick: Pick): RunEvent => {
  const call = (ordinal: number): JudgedCall =>
    pick([
      judgedCall(ordinal),
      judgedCall(ordinal, { effect: 'write', object: fingerprint('ticket') }),
      judgedCall(ordinal, { effect: 'write', object: fingerprint(`object${String(ordinal)}`) }),
      judgedCall(ordinal, { effect: 'write', phase: 'ASKING', plan: hash('plan') }),
      judgedCall(ordinal, { effect: 'write', phase: 'ENDED', code: 'PERMISSION_DENIED' }),
    ]);
  return pick<RunEvent>([
    { kind: 'callsJudged', at, step, calls: [call(1)] },
    { kind: 'callsJudged', at, step, calls: [call(1), call(2)] },
    { kind: 'callsJudged', at, step, calls: [call(1), call(2), call(3)] },
    { kind: 'questionAccepted', at, step, question: hash('question') },
    { kind: 'objectAmbiguous', at, step, question: hash('question') },
    { kind: 'analyseAccepted', at, step },
    { kind: 'finishAccepted', at, step, answer: hash('answer') },
    { kind: 'blockConfirmed', at, step, code: 'permission', answer: hash('answer') },
    { kind: 'candidateRejected', at, step, code: 'candidate.empty', finding: hash('finding') },
  ]);
};

/** Messages from outside, in any state. */
export const outsideEvent = (world: World, pick: Pick): RunEvent => {
  const at = world.now;
  const planVersion = world.run.planVersion + 1;
  return pick<RunEvent>([
    { kind: 'cancelRequested', at, source: 'signal' },
    { kind: 'deadlinePassed', at: Math.max(at, world.run.deadlineAt) },
    { kind: 'amended', at, planVersion, cancelled: pick([[], [1]]), atStep: world.run.step },
    { kind: 'withdrawn', at, planVersion, cancelled: [1], atStep: Math.max(1, world.run.step - 1) },
    { kind: 'budgetSpent', at, budget: 'cost' },
    { kind: 'graceElapsed', at },
  ]);
};

/** An arbitrary that yields a `Pick` driven by fast-check: it chooses by index, so that options keep their identity. */
export const picks = (): fc.Arbitrary<Pick> =>
  fc.gen().map((gen): Pick => (options) => {
    const chosen = options[gen(fc.integer, { min: 0, max: options.length - 1 })];
    return chosen ?? options[0];
  });
