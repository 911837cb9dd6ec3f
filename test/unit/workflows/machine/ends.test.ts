/** How a run comes to its one end: what is looked at, what replaces what, and what comes too late. */
import { describe, expect, test } from '@jest/globals';
import type { Effect } from '../../../../workflows/machine/effects';
import { join } from '../../../../workflows/machine/join';
import { openRun } from '../../../../workflows/machine/open-run';
import type { Run } from '../../../../workflows/machine/run';
import * as step from '../../../support/machine/steps';
import { Path, type Step } from '../../../support/machine/steps';
import { LIMITS, RUN_ID } from '../../../support/machine/world';

const validating = Path.start().meet(step.frozen(), step.stored());
const writing = validating.meet(step.judged(step.write(1)));
const finalizing = validating.meet(step.finishAccepted());
const withOpenOperation = finalizing.meet(step.endChecked({ obstacle: 'operationOpen' }));

/** What the look that this effect asked for finds, whenever it comes. */
const answerTo =
  ({ check }: Effect & { kind: 'checkEnd' }, found: Parameters<typeof step.endChecked>[0] = {}): Step =>
  () => ({ kind: 'endChecked', at: step.AT, unproved: 0, ...found, check });

describe('a look at the end', () => {
  const first = finalizing.effect('checkEnd');

  test('that was for an ending replaced since commits nothing', () => {
    const cancelled = finalizing.meet(step.cancelRequested());
    const late = cancelled.meet(answerTo(first));
    expect(late.transition?.rule).toBe('ignored');
    expect(late.meet(answerTo(cancelled.effect('checkEnd'))).effect('commit').ending.as).toBe('CANCELLED');
  });

  test('that was for an earlier answer commits no later one', () => {
    const looking = withOpenOperation.effect('checkEnd');
    const again = withOpenOperation.meet(step.amended(), step.frozen(), step.stored(), step.finishAccepted());
    expect(again.run.state).toBe('FINALIZING');
    expect(again.meet(answerTo(looking)).kinds).toEqual([]);
    expect(again.meet(answerTo(again.effect('checkEnd'))).kinds).toEqual(['commit']);
  });

  test('is one at a time: each is numbered, and only the newest counts', () => {
    let path = finalizing;
    const numbers = [first.check];
    for (let look = 0; look < 5; look += 1) {
      path = path.meet(step.endChecked({ obstacle: 'operationOpen' }));
      numbers.push(path.effect('checkEnd').check);
    }
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(path.meet(answerTo(first)).transition?.rule).toBe('ignored');
  });

  test('comes ever more rarely while an operation stays open', () => {
    let path = finalizing;
    const pauses = Array.from({ length: 10 }, () => {
      path = path.meet(step.endChecked({ obstacle: 'operationOpen' }));
      return path.effect('checkEnd').afterMs;
    });
    expect(pauses.slice(0, 4)).toEqual([5_000, 10_000, 20_000, 40_000]);
    expect(pauses.at(-1)).toBe(300_000);
  });

  test('comes soon again after a new finish', () => {
    const later = withOpenOperation.meet(
      step.endChecked({ obstacle: 'operationOpen' }),
      step.amended(),
      step.frozen(),
      step.stored(),
      step.finishAccepted(),
      step.endChecked({ obstacle: 'operationOpen' }),
    );
    expect(later.effect('checkEnd').afterMs).toBe(5_000);
  });

  test('is not passed over by a grace: an intended success is no end that is under way', () => {
    const path = withOpenOperation.meet(step.graceElapsed());
    expect(path.transition).toMatchObject({ to: 'WAITING_TOOL', rule: 'grace.late' });
  });

  test('holds no other end up: obstacles are those of a success', () => {
    const failure = validating.meet(step.blockConfirmed());
    for (const obstacle of ['operationOpen', 'acceptanceRequired', 'conditionUnmet'] as const) {
      expect(failure.meet(step.endChecked({ obstacle })).effect('commit').ending.as).toBe('FAILED');
    }
  });
});

describe('a condition that is not met', () => {
  test('goes back with its finding, and counts as a repair', () => {
    const back = finalizing.meet(step.endChecked({ obstacle: 'conditionUnmet' }));
    expect(back.run.counters.repairs).toBe(1);
    expect(back.run.ending).toBeUndefined();
  });

  test('goes back as often as repairs are allowed, whatever the model claims', () => {
    const claim = [
      step.frozen(),
      step.stored(),
      step.finishAccepted(),
      step.endChecked({ obstacle: 'conditionUnmet' }),
    ];
    const path = Path.start({ maxRepairs: 2 }).meet(...claim, ...claim, ...claim);
    expect(path.run.ending).toMatchObject({ as: 'FAILED', reason: 'repairs.condition_unmet' });
    expect(path.meet(step.endChecked()).effect('commit').ending.as).toBe('FAILED');
  });
});

describe('an operation whose outcome nobody knows, and nobody is asked about any more', () => {
  const about = { step: 1, ordinal: 2 };
  const asking = finalizing.meet(step.endChecked({ obstacle: 'reconciliationRequired', about }));

  test('is asked about again before a success, by its own step', () => {
    expect(asking.run).toMatchObject({ state: 'WAITING_USER', waits: [{ kind: 'reconciliation', about }] });
    expect(asking.effect('openWait')).toMatchObject({ waitKind: 'reconciliation', step: 1, ordinal: 2 });
  });

  test.each([
    ['an answer', step.reconciled('SUCCEEDED')],
    ['no answer, where the model is to be told', step.answered('waitExpired')],
  ])('is new input: %s', (_name, on) => {
    const wait = asking.run.waits[0]?.id;
    const next = asking.meet(on);
    expect(next.run).toMatchObject({ state: 'READY', step: 2 });
    expect(next.run.ending).toBeUndefined();
    expect(next.effect('freezeContext').input.waits).toEqual([wait]);
  });

  test('holds no cancel up', () => {
    expect(asking.meet(step.cancelRequested()).run).toMatchObject({ state: 'FINALIZING', waits: [] });
  });
});

describe('an acceptance', () => {
  const accepting = finalizing.meet(step.endChecked({ obstacle: 'acceptanceRequired' }));

  test('is waited for with the intended success kept', () => {
    expect(accepting.run.ending?.as).toBe('SUCCEEDED');
    expect(accepting.run.waits).toMatchObject([{ kind: 'acceptance' }]);
    expect(join(accepting.run)).toBe('WAITING_USER');
  });

  test.each([
    ['a grace that is long over', step.graceElapsed()],
    ['an old look', step.endChecked({ check: 1 })],
    ['operations that were stopped', step.operationsStopped()],
  ])('is not passed over by %s', (_name, on) => {
    const path = accepting.meet(on);
    expect(path.run.state).toBe('WAITING_USER');
    expect(path.run.waits).toEqual(accepting.run.waits);
  });

  test('gives way to a cancel, and its wait is closed', () => {
    const path = accepting.meet(step.cancelRequested());
    expect(path.run).toMatchObject({ state: 'FINALIZING', ending: { as: 'CANCELLED' }, waits: [] });
  });

  test('that is rejected takes the intended success back', () => {
    const path = accepting.meet(step.answered('acceptanceRejected'));
    expect(path.run.ending).toBeUndefined();
    expect(path.effect('freezeContext').input.waits).toEqual([accepting.run.waits[0]?.id]);
  });
});

describe('of several ends', () => {
  const outer: readonly (readonly [string, Step])[] = [
    ['CANCELLED', step.cancelRequested()],
    ['EXPIRED', step.deadlinePassed()],
    ['BUDGET_EXHAUSTED', step.budgetSpent()],
  ];
  const orders = outer.flatMap((one) =>
    outer.filter((two) => two !== one).map((two) => [one[0], two[0], one[1], two[1]] as const),
  );

  test.each(orders)('the first wins while a write is in flight: %s, then %s', (first, _second, one, two) => {
    expect(writing.meet(one, two).run.ending?.as).toBe(first);
  });

  test.each([
    ['a success', finalizing],
    ['a block', validating.meet(step.blockConfirmed())],
    ["the provider's error", Path.start().meet(step.frozen(), step.rejectedByProvider())],
    ['a hand-over', Path.start().meet(step.frozen({ definition: 'missing' }), step.answered('takenOver'))],
  ])('%s gives way to a cancel and to the deadline until its commit is asked for', (_name, path) => {
    expect(path.run.state).toBe('FINALIZING');
    expect(path.meet(step.cancelRequested()).run.ending?.as).toBe('CANCELLED');
    expect(path.meet(step.deadlinePassed()).run.ending?.as).toBe('EXPIRED');
    const asked = path.meet(step.endChecked());
    expect(asked.meet(step.cancelRequested()).run.ending).toEqual(asked.run.ending);
    expect(asked.meet(step.deadlinePassed()).run.ending).toEqual(asked.run.ending);
  });

  test('the row decides, whatever was asked for', () => {
    const path = finalizing.meet(step.endChecked(), step.committed('FAILED'));
    expect(path.run).toMatchObject({ state: 'FAILED', ending: { as: 'FAILED', reason: 'as the row says' } });
  });
});

describe('a cancel', () => {
  test.each([
    [0, 'CANCELLED'],
    [1, 'CANCEL_UNKNOWN'],
  ] as const)('with %d operations unproved is %s', (unproved, terminal) => {
    const path = writing.meet(step.cancelRequested(), step.graceElapsed(), step.endChecked({ unproved }));
    expect(path.effect('commit').ending.as).toBe(terminal);
  });

  test('leaves another end what it is, also with something unproved', () => {
    const path = writing.meet(step.deadlinePassed(), step.graceElapsed(), step.endChecked({ unproved: 1 }));
    expect(path.effect('commit').ending.as).toBe('EXPIRED');
  });

  test('asked for twice is one', () => {
    const once = writing.meet(step.cancelRequested());
    const twice = once.meet(step.cancelRequested());
    expect(twice.kinds).toEqual([]);
    expect({ ...twice.run, seq: once.run.seq }).toEqual(once.run);
  });

  test('ends the run as soon as a read that was cut has returned', () => {
    const path = validating.meet(step.judged(step.read(1, { isShort: false })), step.cancelRequested());
    expect(path.kinds).toContain('cancelReads');
    const cut = path.meet((run) => ({ kind: 'readEnded', at: step.AT, step: run.step, ordinal: 1, code: 'CANCELLED' }));
    expect(cut.run.state).toBe('FINALIZING');
  });

  test('stops operations before anything else is looked at', () => {
    const kinds = writing.meet(step.cancelRequested(), step.graceElapsed()).kinds;
    expect(kinds).toEqual(['checkEnd']);
    const { effects } = Path.start().meet(step.frozen(), step.cancelRequested());
    expect(effects).toMatchObject([
      { kind: 'cancelAttempt' },
      { kind: 'stopOperations', isCancel: true },
      { kind: 'checkEnd', afterMs: 0 },
    ]);
  });
});

describe('a message', () => {
  test('that comes while the end is checked is adopted: what follows is done under the new plan', () => {
    const path = finalizing.meet(step.amended());
    expect(path.run).toMatchObject({ state: 'READY', step: 2, planVersion: 2 });
    expect(path.run.ending).toBeUndefined();
  });

  test('that comes while the commit is under way is left to the commit, which it goes before or comes after', () => {
    const committing = finalizing.meet(step.endChecked());
    const told = committing.meet(step.amended());
    expect(told.transition).toMatchObject({ to: 'FINALIZING', rule: 'plan.too_late' });
    expect(told.run.planVersion).toBe(1);
    const overtaken = told.meet(step.commitOvertaken());
    expect(overtaken.run).toMatchObject({ state: 'READY', step: 2, planVersion: 2 });
    expect(overtaken.run.ending).toBeUndefined();
    expect(overtaken.run.isCommitting).toBeUndefined();
    expect(told.meet(step.committed('SUCCEEDED')).run.state).toBe('SUCCEEDED');
  });

  test('takes a block back, which it may have lifted, and no other failure', () => {
    expect(validating.meet(step.blockConfirmed(), step.amended()).run.state).toBe('READY');
    const rejected = Path.start().meet(step.frozen(), step.rejectedByProvider());
    expect(rejected.meet(step.amended()).transition?.rule).toBe('plan.too_late');
  });

  test('that comes while a candidate is judged leaves it out of the next context, for none of its calls has an end', () => {
    const freeze = validating.meet(step.amended()).effect('freezeContext');
    expect(freeze.input.candidate).toBeUndefined();
    expect(freeze.input.ended).toEqual([]);
  });

  test('that comes while calls run lets the next context show how they ended', () => {
    const freeze = writing.meet(step.amended(), step.dispatched(1, step.SUCCEEDED)).effect('freezeContext');
    expect(freeze.input.candidate).toBe(writing.run.candidate);
    expect(freeze.input.ended).toEqual([{ ordinal: 1 }]);
  });

  test('that is known already changes nothing', () => {
    const amended = writing.meet(step.amended());
    const again = amended.meet(() => ({ kind: 'amended', at: step.AT, planVersion: 2, cancelled: [1], atStep: 1 }));
    expect(again.transition?.rule).toBe('ignored');
  });

  test('keeps what the step before left for the next context', () => {
    const answered = validating.meet(step.questionAccepted(), step.answered('answerGiven'));
    const kept = answered.run.input.waits;
    expect(kept).toHaveLength(1);
    expect(answered.meet(step.amended()).effect('freezeContext').input.waits).toEqual(kept);
  });
});

describe('a counter of what happened in a row', () => {
  const answered = [step.stored(), step.candidateRejected(), step.frozen()];

  test.each([
    ['pauses', [step.paused(), step.frozen()], answered],
    ['shrinks', [step.tooLong(), step.frozen()], answered],
    [
      'analyses',
      [step.stored(), step.analyseAccepted(), step.frozen()],
      [step.stored(), step.judged(step.read(1)), step.readEnded(1), step.frozen()],
    ],
    ['repairs', answered, [step.stored(), step.judged(step.read(1)), step.readEnded(1), step.frozen()]],
  ] as const)('of %s begins anew once something else came of a step', (counter, counted, other) => {
    const path = Path.start({ maxRepairs: 9, maxAnalyses: 9, maxPauses: 9 }).meet(step.frozen(), ...counted);
    expect(path.run.counters[counter]).toBe(1);
    expect(path.meet(...other).run.counters[counter]).toBe(0);
  });

  test('of repairs goes on where every call of a candidate was refused', () => {
    const path = Path.start().meet(
      step.frozen(),
      ...answered,
      step.stored(),
      step.judged(step.ended(1, 'PERMISSION_DENIED')),
    );
    expect(path.run.counters.repairs).toBe(1);
  });
});

test('a run that cannot begin goes straight to its end', () => {
  const { run, effects } = openRun({ id: RUN_ID, limits: LIMITS, at: 0, obstacle: 'agent.unknown' });
  expect(effects.map(({ kind }) => kind)).toEqual(['checkEnd']);
  const path = Path.at(run).meet(step.endChecked(), step.committed('FAILED'));
  expect(path.run.state).toBe('FAILED');
  const cancelled = Path.at(run).meet(step.cancelRequested());
  expect(cancelled.meet(step.endChecked({ check: run.check ?? 0 })).transition?.rule).toBe('ignored');
});

test('what a run carries stays small, whatever it has done', () => {
  const turn = [step.frozen({ progress: step.PROGRESS }), step.stored()];
  const calls = (round: number): Step =>
    step.judged(...[1, 2, 3, 4].map((ordinal) => step.ended(ordinal * 1_000 + round)));
  const rounds = Array.from({ length: 200 }, (_, round) => [...turn, calls(round)]).flat();
  const { run } = Path.start({ maxSteps: 1_000, maxToolCalls: 10_000 }).meet(...rounds, step.frozen());
  expect(sizeBytes(run)).toBeLessThan(32 * 1024);
});

const sizeBytes = (run: Run): number => Buffer.byteLength(JSON.stringify(run));
