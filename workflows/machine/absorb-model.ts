/** What READY's and MODEL_RUNNING's events change. The rule of the branch taken tells the cases of one event apart. */
import { change, endAs, withCounters, withWait, type Change } from './change';
import type { CallModel } from './effects';
import type { EventOf } from './events';
import { backOffMs, findDiagnosis, findSpentBudget } from './guards';
import type { Totals } from './ledger';
import { traceStep } from './loops';
import { NO_INPUT, type Attempt, type Run } from './run';
import { freezeContext } from './enter';

export const adoptTotals = (run: Run, totals: Totals | undefined): Run =>
  totals === undefined ? run : { ...run, totals };

const endAsFailed = (run: Run, reason: string): Change => endAs(run, { as: 'FAILED', reason });

const endAsSpent = (run: Run): Change =>
  endAs(run, { as: 'BUDGET_EXHAUSTED', reason: `budget.${findSpentBudget(run) ?? 'toolCalls'}` });

export const absorbContextFrozen = (before: Run, event: EventOf<'contextFrozen'>, rule: string): Change => {
  const diagnosis = findDiagnosis(before, event);
  const run = { ...adoptTotals(before, event.totals), loops: traceStep(before, event.progress) };
  switch (rule) {
    case 'deadline.passed':
      return endAs(run, { as: 'EXPIRED', reason: 'deadline' });
    case 'budget.spent':
      return endAsSpent(run);
    case 'definition.missing':
      return withWait(change(run), { kind: 'handoff', reason: 'definition.missing' });
    case 'loop.handoff':
      return withWait(change(run), { kind: 'handoff', reason: 'loop', ...(diagnosis && { diagnosis }) });
    case 'loop.failed':
      return endAs(run, { as: 'FAILED', reason: `loop.${diagnosis?.rule ?? ''}`, ...(diagnosis && { diagnosis }) });
    case 'loop.correction': {
      const corrected: Run = { ...run, loops: { ...run.loops, ...(diagnosis && { corrected: diagnosis }) } };
      return change(corrected, freezeContext(corrected, diagnosis));
    }
    default:
      return callModelWith(
        { ...withoutCandidate(run), context: event.context, input: NO_INPUT, calls: [] },
        { number: 1, mode: 'asking', providerFailures: 0, lost: 0, truncations: 0 },
      );
  }
};

const withoutCandidate = (run: Run): Run => {
  const { candidate: _consumed, ...rest } = run;
  return rest;
};

const callModelWith = (run: Run, attempt: Attempt): Change => {
  const { context } = run;
  if (context === undefined) return change(run);
  const effect: CallModel = {
    kind: 'callModel',
    step: run.step,
    attempt: attempt.number,
    context,
    truncations: attempt.truncations,
  };
  return change({ ...run, attempt }, effect);
};

/** The same step, the same context, the next number. */
const nextAttempt = (run: Run, attempt: Attempt, changes: Partial<Attempt>): Change =>
  callModelWith(run, { ...attempt, ...changes, number: attempt.number + 1, mode: 'asking' });

export const absorbCandidateStored = (run: Run, event: EventOf<'candidateStored'>): Change => {
  const next = {
    ...withCounters(adoptTotals(run, event.totals), { pauses: 0, shrinks: 0 }),
    candidate: event.candidate,
  };
  const { context } = run;
  if (context === undefined) return change(next);
  const { step, attempt, candidate } = event;
  return change(next, { kind: 'judgeCandidate', step, attempt, context, candidate });
};

type AttemptEvent = EventOf<
  'attemptInterrupted' | 'attemptLost' | 'attemptFailed' | 'attemptTruncated' | 'backOffElapsed'
>;

export const absorbAttemptEvent = (before: Run, event: AttemptEvent, rule: string): Change => {
  const run = adoptTotals(before, event.totals);
  const { attempt, context } = run;
  if (attempt === undefined || context === undefined) return change(run);
  if (rule === 'budget.spent') return endAsSpent(run);
  switch (event.kind) {
    case 'attemptInterrupted':
      return change(
        { ...run, attempt: { ...attempt, mode: 'collecting' } },
        { kind: 'collectAttempt', step: event.step, attempt: event.attempt, context },
      );
    case 'attemptLost':
      return rule === 'attempts.lost'
        ? endAsFailed(run, 'model.attempts_lost')
        : nextAttempt(run, attempt, { lost: attempt.lost + 1 });
    case 'attemptFailed':
      return rule === 'attempt.back_off'
        ? change(
            { ...run, attempt: { ...attempt, mode: 'backingOff', providerFailures: attempt.providerFailures + 1 } },
            { kind: 'backOff', step: event.step, attempt: event.attempt, forMs: backOffMs(run, event) },
          )
        : endAsFailed(run, event.code);
    case 'backOffElapsed':
      return nextAttempt(run, attempt, {});
    case 'attemptTruncated':
      return rule === 'truncations.spent'
        ? endAsFailed(run, 'model.truncated')
        : nextAttempt(run, attempt, { truncations: attempt.truncations + 1 });
  }
};

type EndOfTurn = EventOf<'attemptPaused' | 'contextTooLong' | 'providerRejected' | 'modelRefused'>;

export const absorbEndOfTurn = (before: Run, event: EndOfTurn, rule: string): Change => {
  const run = adoptTotals(before, event.totals);
  switch (event.kind) {
    case 'attemptPaused':
      return rule === 'pauses.spent'
        ? endAsFailed(run, 'model.paused_too_often')
        : change({ ...withCounters(run, { pauses: run.counters.pauses + 1 }), candidate: event.candidate });
    case 'contextTooLong':
      return rule === 'context.exhausted'
        ? endAsFailed(run, 'model.context_exhausted')
        : change(withCounters(run, { shrinks: run.counters.shrinks + 1 }));
    case 'providerRejected':
      return endAsFailed(run, event.code);
    case 'modelRefused':
      return rule === 'refusal.handoff'
        ? withWait(change(run), { kind: 'handoff', reason: event.code })
        : endAsFailed(run, event.code);
  }
};
