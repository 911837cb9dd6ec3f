/** What concerns the run as a whole: a changed plan, an ending, finalizing. */
import { endCalls, findCall, isUnsentCall, moveCall } from './calls';
import {
  change,
  endAs,
  withCheck,
  withCounters,
  withFreshLoops,
  withoutEnding,
  withoutWaits,
  withWait,
  type Change,
} from './change';
import type { EventOf } from './events';
import { isRevocable, type Ending, type Run } from './run';

type NewPlan = EventOf<'amended' | 'withdrawn' | 'commitOvertaken'>;

/** The plan moved on: nothing proposed under the old one is sent any more; what was sent goes on to its end. */
export const absorbNewPlan = (run: Run, event: NewPlan, rule: string): Change => {
  if (rule.endsWith('too_late')) return change(run);
  const ended = endCalls(
    endCancelled(run, event),
    (call) => isUnsentCall(call) || call.phase === 'DUE' || call.phase === 'ASKING',
    'SUPERSEDED',
  );
  const { attempt: _superseded, ...rest } = run.state === 'VALIDATING' ? withoutCandidate(ended) : ended;
  const next = withFreshLoops({
    ...(isRevocable(run.ending) ? withoutEnding(rest) : rest),
    planVersion: event.planVersion,
  });
  return withoutWaits(change(next, { kind: 'cancelAttempt' }), () => true);
};

/** Proved not to have happened by the transaction that moved the plan on. What is SENDING says so itself. */
const endCancelled = (run: Run, { cancelled, atStep }: NewPlan): Run =>
  atStep === run.step ? endPending(run, cancelled, 'SUPERSEDED') : run;

const endPending = (run: Run, ordinals: readonly number[], code: string): Run =>
  ordinals
    .filter((ordinal) => findCall(run, ordinal)?.phase === 'PENDING')
    .reduce((next, ordinal) => moveCall(next, ordinal, 'ended', { code }), run);

/** Nobody has judged it, so its calls would go without results into the next context. */
const withoutCandidate = (run: Run): Run => {
  const { candidate: _unjudged, ...rest } = run;
  return rest;
};

type EndingEvent = EventOf<'cancelRequested' | 'deadlinePassed' | 'budgetSpent'>;

export const absorbEnding = (run: Run, event: EndingEvent, rule: string): Change => {
  if (rule.endsWith('too_late')) return change(run);
  const ended = endAs(run, toEnding(event), event.kind === 'cancelRequested');
  const { ending } = ended.run;
  // FINALIZING stays where it is and looks at the invariants of its new end.
  if (run.state !== 'FINALIZING' || ending === undefined || ending === run.ending) return ended;
  return withCheck(ended, 0);
};

const toEnding = (event: EndingEvent): Ending => {
  switch (event.kind) {
    case 'cancelRequested':
      return { as: 'CANCELLED', reason: `cancelled.${event.source}` };
    case 'deadlinePassed':
      return { as: 'EXPIRED', reason: 'deadline' };
    case 'budgetSpent':
      return { as: 'BUDGET_EXHAUSTED', reason: `budget.${event.budget}` };
  }
};

export const absorbOperationsStopped = (run: Run, { cancelled }: EventOf<'operationsStopped'>): Change =>
  change(endPending(run, cancelled, 'CANCELLED'));

export const absorbEndChecked = (run: Run, event: EventOf<'endChecked'>, rule: string): Change => {
  const { ending } = run;
  if (ending === undefined) return change(run);
  const plan = event.artifact === undefined ? {} : { plan: event.artifact };
  switch (rule) {
    case 'end.operation_open':
      return lookAgain(run);
    case 'end.reconciliation_required':
      return withWait(change(run), {
        kind: 'reconciliation',
        ...plan,
        ...(event.about === undefined ? {} : { about: event.about }),
      });
    case 'end.acceptance_required':
      return withWait(change(run), { kind: 'acceptance', ...plan });
    case 'repairs.spent': {
      const failed: Ending = { as: 'FAILED', reason: 'repairs.condition_unmet' };
      return withCheck(change({ ...run, ending: failed }), 0);
    }
    case 'end.condition_unmet':
      return change({
        ...withCounters(withoutEnding(run), { repairs: run.counters.repairs + 1 }),
        input: { ...run.input, ...(event.artifact === undefined ? {} : { finding: event.artifact }) },
      });
    case 'end.commit': {
      const proved: Ending =
        ending.as === 'CANCELLED' && event.unproved > 0 ? { ...ending, as: 'CANCEL_UNKNOWN' } : ending;
      return change({ ...run, ending: proved, isCommitting: true }, { kind: 'commit', ending: proved });
    }
    default:
      return change(run);
  }
};

/** How long an open operation is left alone before the run looks again: each time twice as long. */
const LOOK_AGAIN_MS = 5_000;
const LOOK_AGAIN_MAX_MS = 300_000;

const lookAgain = (run: Run): Change => {
  const { looks } = run.counters;
  const afterMs = Math.min(LOOK_AGAIN_MS * 2 ** looks, LOOK_AGAIN_MAX_MS);
  return withCheck(change(withCounters(run, { looks: looks + 1 })), afterMs);
};

/** Nothing was committed, so the run is as it was before it asked for that, and takes the new plan up. */
export const absorbCommitOvertaken = (run: Run, event: EventOf<'commitOvertaken'>, rule: string): Change => {
  const { isCommitting: _refused, ...rest } = run;
  return absorbNewPlan(rest, event, rule);
};

export const absorbCommitted = (run: Run, event: EventOf<'committed'>): Change => {
  const ending: Ending = { ...(run.ending ?? { as: event.terminal }), as: event.terminal, reason: event.reason };
  return change({ ...run, ending }, { kind: 'complete', terminal: event.terminal });
};
