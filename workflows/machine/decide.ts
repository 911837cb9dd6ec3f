/**
 * The machine: `decide(run, event)` is pure. It looks up the cell, takes the first branch that holds, changes the run's
 * data, and says what to do next.
 *
 * Invariants (assertRun checks them after every transition, in production too):
 *   1. every transition has the next number; nothing but `decide` and `openRun` makes a run;
 *   2. a terminal absorbs everything;
 *   3. what a run waits for is in its state: an effect in flight, an open wait, or a call with its next pursuit.
 */
import {
  absorbDecision,
  absorbExpiry,
  absorbOutcome,
  absorbReadEnded,
  absorbResendDue,
  absorbResponse,
} from './absorb-calls';
import { absorbAttemptEvent, absorbCandidateStored, absorbContextFrozen, absorbEndOfTurn } from './absorb-model';
import {
  absorbCommitOvertaken,
  absorbCommitted,
  absorbEndChecked,
  absorbEnding,
  absorbNewPlan,
  absorbOperationsStopped,
} from './absorb-run';
import { absorbAnalyse, absorbCallsJudged, absorbFinish, absorbQuestion, absorbRejection } from './absorb-verdict';
import { assertMachine, assertNever } from './assert';
import { sendDueCalls } from './calls';
import { change, type Change } from './change';
import type { Effect } from './effects';
import { enter } from './enter';
import type { RunEvent } from './events';
import { assertRun } from './invariants';
import { join } from './join';
import type { Run } from './run';
import { isStale } from './stale';
import type { State } from './states';
import { TRANSITIONS, type ErasedBranch } from './transitions';

/** What is recorded of a transition: why the run went where it went. */
export interface Transition {
  readonly seq: number;
  readonly from: State;
  readonly event: RunEvent['kind'];
  readonly to: State;
  readonly rule: string;
}

export interface Decided {
  readonly run: Run;
  readonly effects: readonly Effect[];
  readonly transition: Transition;
}

export const decide = (run: Run, event: RunEvent): Decided => {
  const branch = pickBranch(run, event);
  const seq = run.seq + 1;
  const done = branch === 'ignore' ? change(run) : follow(run, event, branch);
  const next: Run = { ...done.run, seq };
  assertRun(next);
  const rule = branch === 'ignore' ? 'ignored' : branch.rule;
  return {
    run: next,
    effects: done.effects,
    transition: { seq, from: run.state, event: event.kind, to: next.state, rule },
  };
};

const pickBranch = (run: Run, event: RunEvent): ErasedBranch | 'ignore' => {
  const cell: readonly ErasedBranch[] | 'ignore' | 'reject' = TRANSITIONS[run.state][event.kind];
  if (cell === 'ignore' || isStale(run, event)) return 'ignore';
  assertMachine(cell !== 'reject', `${run.state} cannot meet '${event.kind}'`);
  const branch = cell.find(({ when }) => when === undefined || when(run, parseOwnEvent(event)));
  assertMachine(branch !== undefined, `${run.state} × ${event.kind} has no branch without a guard`);
  return branch;
};

/** The cell was looked up by the event's own kind, so its guards take this event. */
const parseOwnEvent = (event: RunEvent): never => event as never;

const follow = (run: Run, event: RunEvent, { to, rule }: ErasedBranch): Change => {
  const absorbed = absorb(run, event, rule);
  if (to !== 'JOIN') return enter(run, absorbed, to === 'STAY' ? run.state : to);
  const sent = sendDueCalls(absorbed.run);
  return enter(run, change(sent.run, ...absorbed.effects, ...sent.effects), join(sent.run));
};

const absorb = (run: Run, event: RunEvent, rule: string): Change => {
  switch (event.kind) {
    case 'contextFrozen':
      return absorbContextFrozen(run, event, rule);
    case 'candidateStored':
      return absorbCandidateStored(run, event);
    case 'attemptInterrupted':
    case 'attemptLost':
    case 'attemptFailed':
    case 'attemptTruncated':
    case 'backOffElapsed':
      return absorbAttemptEvent(run, event, rule);
    case 'attemptPaused':
    case 'contextTooLong':
    case 'providerRejected':
    case 'modelRefused':
      return absorbEndOfTurn(run, event, rule);
    case 'callsJudged':
      return absorbCallsJudged(run, event, rule);
    case 'questionAccepted':
    case 'objectAmbiguous':
      return absorbQuestion(run, event);
    case 'analyseAccepted':
      return absorbAnalyse(run, rule);
    case 'finishAccepted':
    case 'blockConfirmed':
      return absorbFinish(run, event);
    case 'candidateRejected':
      return absorbRejection(run, event, rule);
    case 'readEnded':
      return absorbReadEnded(run, event);
    case 'dispatchEnded':
    case 'operationMoved':
      return absorbOutcome(run, event);
    case 'resendDue':
      return absorbResendDue(run, event);
    case 'approvalGiven':
    case 'approvalDenied':
    case 'reconciliationAnswered':
      return absorbDecision(run, event);
    case 'answerGiven':
    case 'acceptanceGiven':
    case 'acceptanceRejected':
    case 'takenOver':
    case 'guidanceGiven':
      return absorbResponse(run, event);
    case 'waitExpired':
      return absorbExpiry(run, event, rule);
    case 'amended':
    case 'withdrawn':
      return absorbNewPlan(run, event, rule);
    case 'cancelRequested':
    case 'deadlinePassed':
    case 'budgetSpent':
      return absorbEnding(run, event, rule);
    case 'operationsStopped':
      return absorbOperationsStopped(run, event);
    case 'graceElapsed':
      return change(run);
    case 'endChecked':
      return absorbEndChecked(run, event, rule);
    case 'commitOvertaken':
      return absorbCommitOvertaken(run, event, rule);
    case 'committed':
      return absorbCommitted(run, event);
    default:
      return assertNever(event);
  }
};
