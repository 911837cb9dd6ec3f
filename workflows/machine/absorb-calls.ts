/** What happens to calls that are open: reads and dispatches that end, operations that move, people who decide. */
import { assertMachine } from './assert';
import { endUnsettled, findCall, moveCall } from './calls';
import {
  change,
  endAs,
  withFreshLoops,
  withoutEnding,
  withoutWaits,
  withWait,
  type Change,
  type WaitRequest,
} from './change';
import type { EventOf, OperationOutcome } from './events';
import type { Call, OpenWait, Run, TimedPursuit } from './run';
import { adoptTotals } from './absorb-model';

const endOf = (code: string | undefined, result: Call['result']): Partial<Call> => ({
  ...(code === undefined ? {} : { code }),
  ...(result === undefined ? {} : { result }),
});

export const absorbReadEnded = (run: Run, event: EventOf<'readEnded'>): Change =>
  change(moveCall(run, event.ordinal, 'ended', endOf(event.code, event.result)));

export const absorbOutcome = (before: Run, event: EventOf<'dispatchEnded' | 'operationMoved'>): Change => {
  const run = event.kind === 'dispatchEnded' ? adoptTotals(before, event.totals) : before;
  const phase = findCall(run, event.ordinal)?.phase;
  // Its dispatch is in flight, or comes, and says itself what is next; only an end found meanwhile is one.
  const isOvertaken = event.kind === 'operationMoved' && (phase === 'SENDING' || phase === 'DUE');
  if (isOvertaken && event.outcome.kind !== 'settled') return change(run);
  return closeDecidedWaits(applyOutcome(run, event.ordinal, event.outcome));
};

const applyOutcome = (run: Run, ordinal: number, outcome: OperationOutcome): Change => {
  const isEnding = run.ending !== undefined;
  switch (outcome.kind) {
    case 'settled':
      return change(moveCall(run, ordinal, 'ended', { isUnproved: false, ...endOf(outcome.code, outcome.result) }));
    case 'pending':
      // Proved not to have happened, and nothing is sent any more: that is the call's end.
      if (isEnding && outcome.state === 'NOT_EXECUTED')
        return change(moveCall(run, ordinal, 'ended', { isUnproved: false, code: 'CANCELLED' }));
      return pendCall(run, ordinal, outcome);
    case 'unresolved':
      if (isEnding) return change(moveCall(run, ordinal, 'ended', { isUnproved: true, code: 'OUTCOME_UNKNOWN' }));
      return askAbout(moveCall(run, ordinal, 'asked', { isUnproved: true }), run, {
        kind: 'reconciliation',
        ordinal,
        plan: outcome.plan,
      });
    case 'approvalRequired':
      if (isEnding) return change(endUnsettled(run, ordinal, 'CANCELLED'));
      // What was approved are other terms.
      return askAbout(moveCall(run, ordinal, 'asked', { isApproved: false }), run, {
        kind: 'approval',
        ordinal,
        plan: outcome.plan,
      });
  }
};

const pendCall = (run: Run, ordinal: number, outcome: OperationOutcome & { readonly kind: 'pending' }): Change => {
  const next = { ...outcome.next, afterMs: Math.max(outcome.next.afterMs, leastPauseMs(run, ordinal, outcome.next)) };
  const moved = moveCall(run, ordinal, 'pended', { next, isUnproved: outcome.state !== 'NOT_EXECUTED' });
  return moved === run ? change(run) : change(moved, { kind: 'pursue', step: run.step, ordinal, next });
};

const LEAST_PAUSE_MS = 1_000;
const LEAST_PAUSE_MAX_MS = 300_000;

/** A write that is handed over again and again (held back by an operation of an earlier step) is so ever more rarely. */
const leastPauseMs = (run: Run, ordinal: number, { action }: TimedPursuit): number => {
  const sends = findCall(run, ordinal)?.sends ?? 0;
  return action !== 'resend' || sends < 2 ? 0 : Math.min(LEAST_PAUSE_MS * 2 ** (sends - 2), LEAST_PAUSE_MAX_MS);
};

const askAbout = (moved: Run, before: Run, request: WaitRequest): Change =>
  moved === before ? change(before) : withWait(change(moved), request);

/** A call that got its end by another way needs no person any more. */
const closeDecidedWaits = (done: Change): Change =>
  withoutWaits(
    done,
    ({ ordinal }) =>
      ordinal !== undefined && done.run.calls.some((call) => call.ordinal === ordinal && call.phase !== 'ASKING'),
  );

export const absorbResendDue = (run: Run, event: EventOf<'resendDue'>): Change =>
  change(run.ending === undefined ? moveCall(run, event.ordinal, 'cleared') : run);

type Decision = EventOf<'approvalGiven' | 'approvalDenied' | 'reconciliationAnswered'>;

export const absorbDecision = (run: Run, event: Decision): Change => {
  const wait = run.waits.find(({ id }) => id === event.wait);
  const ordinal = wait?.ordinal;
  // Of an earlier step: its outcome is new input.
  if (event.kind === 'reconciliationAnswered' && ordinal === undefined) return absorbAnswer(run, event.wait);
  // Listening to it is over: a decision about no call would leave the run waiting for nobody.
  assertMachine(ordinal !== undefined, `'${event.kind}' decides no call`);
  return closeDecidedWaits(change(decideCall(run, ordinal, event)));
};

const decideCall = (run: Run, ordinal: number, event: Decision): Run => {
  switch (event.kind) {
    case 'approvalGiven':
      return moveCall(run, ordinal, 'cleared', { isApproved: true });
    case 'approvalDenied':
      return endUnsettled(run, ordinal, 'DENIED');
    case 'reconciliationAnswered':
      return event.state === 'NOT_EXECUTED'
        ? moveCall(run, ordinal, 'cleared', { isUnproved: false })
        : moveCall(run, ordinal, 'ended', { isUnproved: false, ...endOf(event.code, event.result) });
  }
};

type Response = EventOf<'answerGiven' | 'acceptanceGiven' | 'acceptanceRejected' | 'takenOver' | 'guidanceGiven'>;

/** Responses that decide no call: the wait is over, and its response is input of the next step or an end. */
export const absorbResponse = (run: Run, event: Response): Change => {
  const closed = withoutWaits(change(run), (wait) => wait.id === event.wait);
  switch (event.kind) {
    case 'acceptanceGiven':
      return closed;
    case 'takenOver':
      return { ...closed, run: { ...closed.run, ending: { as: 'HANDED_OFF', reason: 'handoff.taken' } } };
    case 'answerGiven':
    case 'acceptanceRejected':
    case 'guidanceGiven':
      return { ...closed, run: withResponse(closed.run, event.wait) };
  }
};

/** New input of the next step. */
const absorbAnswer = (run: Run, wait: OpenWait['id']): Change => {
  const closed = withoutWaits(change(run), ({ id }) => id === wait);
  return { ...closed, run: withResponse(closed.run, wait) };
};

const withResponse = (run: Run, wait: OpenWait['id']): Run =>
  withoutEnding(withFreshLoops({ ...run, input: { ...run.input, waits: [...run.input.waits, wait] } }));

export const absorbExpiry = (run: Run, event: EventOf<'waitExpired'>, rule: string): Change => {
  if (rule === 'wait.expired.end') return endAs(run, { as: 'EXPIRED', reason: 'wait.expired' });
  const ordinal = run.waits.find((wait) => wait.id === event.wait)?.ordinal;
  if (ordinal !== undefined) return closeDecidedWaits(change(endUnsettled(run, ordinal, 'EXPIRED')));
  return absorbAnswer(run, event.wait);
};
