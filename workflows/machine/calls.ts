/** Moving calls by the call table, and what may be sent next. */
import { assertMachine } from './assert';
import { CALL_TRANSITIONS, type CallEvent } from './call-transitions';
import type { Effect } from './effects';
import type { Call, Run } from './run';

export const findCall = (run: Run, ordinal: number): Call | undefined =>
  run.calls.find((call) => call.ordinal === ordinal);

type Move = readonly [event: CallEvent, change?: Partial<Call>];

/** Moves one call; what the table ignores leaves it as it was. `change` is applied only where it moved. */
export const moveCall = (run: Run, ordinal: number, ...[event, change = {}]: Move): Run => {
  const call = findCall(run, ordinal);
  assertMachine(call !== undefined, `call ${String(ordinal)} is not part of the open candidate`);
  const cell = CALL_TRANSITIONS[call.phase][event];
  assertMachine(cell !== 'reject', `call ${String(ordinal)} is ${call.phase}, where '${event}' cannot happen`);
  if (cell === 'ignore') return run;
  const { next: _done, ...rest } = call;
  const moved: Call = { ...rest, ...change, phase: cell };
  return { ...run, calls: run.calls.map((other) => (other.ordinal === ordinal ? moved : other)) };
};

/** Ends a call that nothing has settled: with `code`, unless it may have happened all the same. */
export const endUnsettled = (run: Run, ordinal: number, code: string): Run => {
  const isUnproved = findCall(run, ordinal)?.isUnproved === true;
  return moveCall(run, ordinal, 'ended', { code: isUnproved ? 'OUTCOME_UNKNOWN' : code });
};

export const endCalls = (run: Run, isHit: (call: Call) => boolean, code: string): Run =>
  run.calls.filter(isHit).reduce((next, call) => endUnsettled(next, call.ordinal, code), run);

/** Nobody has sent it: whether it ever is, is for us alone to say. */
export const isUnsentCall = (call: Call): boolean => call.sends === 0 && call.phase !== 'ENDED';

/** Another write on the same object has to stay CREATED while one was sent and is not settled, or comes before it. */
const isHeldBy = (call: Call, other: Call): boolean =>
  other.ordinal !== call.ordinal &&
  other.object !== undefined &&
  other.object === call.object &&
  other.phase !== 'ENDED' &&
  (other.sends > 0 || other.ordinal < call.ordinal);

const isHeld = (run: Run, call: Call): boolean => run.calls.some((other) => isHeldBy(call, other));

/**
 * Sends what is DUE: reads side by side; writes one after the other, those on one object in the candidate's order and never
 * before the one before is settled. A write that waits for a person lets those on other objects pass.
 */
export const sendDueCalls = (run: Run): { readonly run: Run; readonly effects: readonly Effect[] } => {
  let next = releaseHeldCalls(run);
  const effects: Effect[] = [];
  for (const { ordinal } of next.calls) {
    const call = findCall(next, ordinal);
    if (call?.phase !== 'DUE') continue;
    if (call.effect === 'read') {
      next = moveCall(next, ordinal, 'sent', { sends: call.sends + 1 });
      effects.push({ kind: 'read', step: next.step, ordinal, isShort: call.isShort === true });
    } else if (isHeld(next, call)) {
      next = moveCall(next, ordinal, 'pended', { next: { action: 'held', afterMs: 0 } });
    } else if (!next.calls.some((other) => other.effect === 'write' && other.phase === 'SENDING')) {
      next = moveCall(next, ordinal, 'sent', { sends: call.sends + 1 });
      effects.push({ kind: 'dispatch', step: next.step, ordinal, isApproved: call.isApproved === true });
    }
  }
  return { run: next, effects };
};

const releaseHeldCalls = (run: Run): Run =>
  run.calls
    .filter((call) => call.phase === 'PENDING' && call.next?.action === 'held' && !isHeld(run, call))
    .reduce((next, call) => moveCall(next, call.ordinal, 'cleared'), run);
