/** Every state meets every event: nothing that can reach a run breaks it, and what comes too late changes nothing. */
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MachineAssertion } from '../../../../workflows/machine/assert';
import { decide } from '../../../../workflows/machine/decide';
import type { EventKind, RunEvent } from '../../../../workflows/machine/events';
import { assertRun } from '../../../../workflows/machine/invariants';
import type { Run } from '../../../../workflows/machine/run';
import { isRevocable } from '../../../../workflows/machine/run';
import { ACTIVE_STATES, isTerminal, STATES, TERMINALS, type State } from '../../../../workflows/machine/states';
import { TRANSITIONS } from '../../../../workflows/machine/transitions';
import { everyEvent } from '../../../support/machine/every-event';
import * as step from '../../../support/machine/steps';
import { Path } from '../../../support/machine/steps';
import { fingerprint, outsideEvent, picks, World } from '../../../support/machine/world';

const ready = Path.start();
const modelRunning = ready.meet(step.frozen());
const validating = modelRunning.meet(step.stored());
const object = fingerprint('ticket');
const twoWrites = validating.meet(step.judged(step.write(1, { object }), step.write(2, { object }), step.gated(3)));
const writes = validating.meet(step.judged(step.write(1), step.write(2)));
const turn = [step.frozen({ progress: step.NO_PROGRESS }), step.stored(), step.judged(step.ended(1))];
const finalizing = validating.meet(step.finishAccepted());
const committing = finalizing.meet(step.endChecked());

/** Ways to be in each state that differ in what is open. */
const REPRESENTATIVES: Readonly<Record<State, Readonly<Record<string, Path>>>> = {
  READY: {
    'at the start': ready,
    'with an answered call': validating.meet(step.judged(step.ended(1))),
    'with a correction': ready.meet(...turn, ...turn, ...turn, step.frozen({ progress: step.NO_PROGRESS })),
  },
  MODEL_RUNNING: {
    asking: modelRunning,
    collecting: modelRunning.meet(step.interrupted()),
    'backing off': modelRunning.meet(step.failed()),
    'in a second step': validating.meet(step.candidateRejected(), step.frozen()),
  },
  VALIDATING: { judging: validating },
  TOOL_RUNNING: {
    'with reads': validating.meet(step.judged(step.read(1), step.read(2, { isShort: false }))),
    'with writes on one object and an approval': twoWrites,
    'with a write that is due': writes.meet(step.dispatched(1, step.NOT_EXECUTED), step.resendDue(1)),
    'with an unknown one beside it': writes.meet(step.dispatched(1, step.UNKNOWN)),
    'with an unresolved one beside it': writes.meet(step.dispatched(1, step.UNRESOLVED)),
    'while it ends': twoWrites.meet(step.cancelRequested()),
  },
  WAITING_TOOL: {
    'for a job': writes.meet(step.dispatched(1, step.ACCEPTED), step.dispatched(2, step.ACCEPTED)),
    'for a back-off': writes.meet(step.dispatched(1, step.NOT_EXECUTED), step.dispatched(2, step.UNKNOWN_TO_RESEND)),
    'with a write held back': twoWrites.meet(step.dispatched(1, step.UNKNOWN), step.answered('approvalDenied')),
    'while it ends': writes.meet(
      step.dispatched(1, step.UNKNOWN),
      step.dispatched(2, step.NOT_EXECUTED),
      step.deadlinePassed(),
    ),
    'with an open operation before its end': finalizing.meet(step.endChecked({ obstacle: 'operationOpen' })),
  },
  WAITING_USER: {
    'for an answer': validating.meet(step.questionAccepted()),
    'for approvals': validating.meet(step.judged(step.gated(1), step.gated(2))),
    'for an approval beside a job': twoWrites.meet(step.dispatched(1, step.ACCEPTED)),
    'for a reconciliation': writes.meet(step.dispatched(1, step.UNRESOLVED), step.dispatched(2, step.SUCCEEDED)),
    'for a reconciliation of an earlier step': finalizing.meet(
      step.endChecked({ obstacle: 'reconciliationRequired', about: { step: 1, ordinal: 1 } }),
    ),
    'for an acceptance': finalizing.meet(step.endChecked({ obstacle: 'acceptanceRequired' })),
    'for a hand-off': ready.meet(step.frozen({ definition: 'missing' })),
  },
  FINALIZING: {
    'as a success': finalizing,
    'as a failure': modelRunning.meet(step.rejectedByProvider()),
    'as cancelled, with a call in flight': twoWrites.meet(step.cancelRequested(), step.graceElapsed()),
    'with its commit asked for': committing,
    'as blocked': validating.meet(step.blockConfirmed()),
  },
  SUCCEEDED: { after: committing.meet(step.committed('SUCCEEDED')) },
  FAILED: { after: committing.meet(step.committed('FAILED')) },
  BUDGET_EXHAUSTED: { after: committing.meet(step.committed('BUDGET_EXHAUSTED')) },
  EXPIRED: { after: committing.meet(step.committed('EXPIRED')) },
  CANCELLED: { after: committing.meet(step.committed('CANCELLED')) },
  CANCEL_UNKNOWN: {
    'with a call in flight': twoWrites.meet(
      step.cancelRequested(),
      step.graceElapsed(),
      step.endChecked({ unproved: 1 }),
      step.committed('CANCEL_UNKNOWN'),
    ),
  },
  HANDED_OFF: { after: committing.meet(step.committed('HANDED_OFF')) },
};

const PLACES = STATES.flatMap((state) =>
  Object.entries(REPRESENTATIVES[state]).map(([how, { run }]) => ({ state, how, run })),
);
const KINDS = Object.keys(TRANSITIONS.READY) as EventKind[];

/** `decide` asserts the invariants; here they are asserted of what it returns. Plain checks: there are very many of them. */
const meetEvery = (run: Run): void => {
  for (const event of everyEvent(run)) {
    const { run: next, effects, transition } = decideOrExplain(run, event);
    assertRun(next);
    const isIgnored = transition.rule === 'ignored';
    const isFaithful = !isIgnored || (effects.length === 0 && isDeepStrictEqual({ ...next, seq: run.seq }, run));
    if (next.seq === run.seq + 1 && next.step >= run.step && isFaithful) continue;
    throw new Error(explain(run, event));
  }
};

const explain = (run: Run, event: RunEvent): string =>
  `${JSON.stringify(event)} met\n${JSON.stringify(run, undefined, 1)}`;

const decideOrExplain = (run: Run, event: RunEvent): ReturnType<typeof decide> => {
  try {
    return decide(run, event);
  } catch (error) {
    throw new Error(explain(run, event), { cause: error });
  }
};

describe.each(PLACES)('$state $how', ({ state, run }) => {
  test('is what the run came to', () => {
    expect(run.state).toBe(state);
  });

  test('survives every event that can reach it', () => {
    meetEvery(run);
  });

  test('meets an event of every kind', () => {
    const met = new Set(everyEvent(run).map(({ kind }) => kind));
    const isCommitted = run.isCommitting === true || isTerminal(run.state);
    expect(KINDS.filter((kind) => !met.has(kind))).toEqual(isCommitted ? [] : ['committed', 'commitOvertaken']);
  });
});

test('wherever a play leads, the run survives every event that can reach it', () => {
  fc.assert(
    fc.property(picks(), (pick) => {
      const world = new World();
      for (let turn = 0; turn < 40 && !world.isOver; turn += 1) {
        if (pick([true, false, false, false, false, false, false])) world.meet(outsideEvent(world, pick));
        else if (!world.advance(pick)) break;
      }
      meetEvery(world.run);
    }),
    { numRuns: 60 },
  );
});

test('in whatever order everything comes, the run stays whole', () => {
  const busy = validating.meet(
    step.judged(step.write(1, { object }), step.write(2, { object }), step.gated(3), step.read(4), step.ended(5)),
  );
  fc.assert(
    fc.property(picks(), (pick) => {
      let { run } = pick([ready, validating, busy, finalizing]);
      for (let turn = 0; turn < 60; turn += 1) {
        // The store lets a message overtake only an end that `finish` led to.
        const reachable = everyEvent(run).filter(({ kind }) => kind !== 'commitOvertaken' || isRevocable(run.ending));
        const [first, ...rest] = reachable;
        if (first === undefined) throw new Error('there is always something that may come late');
        run = decideOrExplain(run, pick([first, ...rest])).run;
      }
    }),
    { numRuns: 120 },
  );
});

test('a terminal ignores everything', () => {
  for (const { run } of PLACES.filter((place) => isTerminal(place.state))) {
    for (const event of everyEvent(run)) expect(decide(run, event).transition.rule).toBe('ignored');
  }
  expect(PLACES.filter((place) => isTerminal(place.state)).map(({ state }) => state)).toEqual(TERMINALS);
});

test('only a commit that nobody asked for is rejected', () => {
  const rejected = STATES.flatMap((state) =>
    KINDS.filter((kind) => TRANSITIONS[state][kind] === 'reject').map((kind) => `${state} ${kind}`),
  );
  expect(rejected).toEqual(
    ACTIVE_STATES.filter((state) => state !== 'FINALIZING').flatMap((state) => [
      `${state} committed`,
      `${state} commitOvertaken`,
    ]),
  );
  for (const { run, state } of PLACES) {
    if (isTerminal(state) || state === 'FINALIZING') continue;
    expect(() => decide(run, step.committed('SUCCEEDED')(run))).toThrow(MachineAssertion);
  }
});
