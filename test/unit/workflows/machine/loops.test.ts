/** The loop rules, through real decisions: each step proposes calls, they end, and the next context traces them. */
import { describe, expect, test } from '@jest/globals';
import type { JudgedCall } from '../../../../workflows/machine/events';
import type { LoopLimits } from '../../../../workflows/machine/limits';
import { LOOP_WINDOW, type Diagnosis, type Run } from '../../../../workflows/machine/run';
import * as step from '../../../support/machine/steps';
import { Path, type Step } from '../../../support/machine/steps';
import { fingerprint, judgedCall, LIMITS } from '../../../support/machine/world';

/** High enough that only the rule under test fires. */
const NEVER = 1_000;
const only = (limits: Partial<LoopLimits>): LoopLimits => ({
  repeatedCall: NEVER,
  repeatedError: NEVER,
  noProgress: NEVER,
  alternatingPlan: NEVER,
  onLoop: 'fail',
  ...limits,
});
const start = (loops: LoopLimits): Path => Path.start({ loops, maxSteps: NEVER, maxToolCalls: NEVER });

interface Called {
  readonly call?: string;
  readonly result?: string;
  readonly code?: string;
  readonly isRepeatable?: boolean;
}

const toCall = ({ call = 'call', result, code, isRepeatable }: Called, index: number): JudgedCall =>
  judgedCall(index + 1, {
    phase: 'ENDED',
    tool: `tool of ${call}`,
    fingerprint: fingerprint(call),
    ...(result === undefined ? {} : { result: fingerprint(result) }),
    ...(code === undefined ? {} : { code }),
    ...(isRepeatable === undefined ? {} : { isRepeatable }),
  });

/** One step: its context, which traces the step before, its candidate, and its calls with their ends. */
const turn = (calls: readonly Called[], progress = step.PROGRESS): readonly Step[] => [
  step.frozen({ progress }),
  step.stored(),
  step.judged(...calls.map(toCall)),
];
const idle = (...calls: readonly Called[]): readonly Step[] => turn(calls, step.NO_PROGRESS);

/** What the next context leads to: the diagnosis that the model is told, if any. */
const next = (path: Path, progress = step.PROGRESS): Diagnosis | undefined => {
  const { transition, effects } = path.meet(step.frozen({ progress }));
  if (transition?.rule !== 'loop.correction') return undefined;
  const freeze = effects.find((effect) => effect.kind === 'freezeContext');
  return freeze?.kind === 'freezeContext' ? freeze.input.correction : undefined;
};

const times = (count: number, steps: readonly Step[]): readonly Step[] =>
  Array.from({ length: count }, () => steps).flat();

describe('the same call with the same result', () => {
  const same = turn([{ call: 'A', result: 'r' }]);
  const path = start(only({ repeatedCall: 3 }));

  test('is a loop when it was seen as often as the limit says, and not before', () => {
    expect(next(path.meet(...times(2, same)))).toBeUndefined();
    expect(next(path.meet(...times(3, same)))).toEqual({ rule: 'repeatedCall', steps: [1, 2, 3], what: 'tool of A' });
  });

  test('counts once the model has seen the result: the context of the third time is no correction', () => {
    expect(path.meet(...times(2, same), step.frozen()).run.state).toBe('MODEL_RUNNING');
  });

  test('counts with other steps in between', () => {
    const other = (name: string): readonly Step[] => turn([{ call: name, result: name }]);
    const mixed = path.meet(...same, ...other('B'), ...same, ...other('C'), ...same);
    expect(next(mixed)?.steps).toEqual([1, 3, 5]);
  });

  test('is one call however its keys are ordered: the fingerprint is all that is compared', () => {
    const beside = turn([
      { call: 'B', result: 'new' },
      { call: 'A', result: 'r' },
    ]);
    expect(next(path.meet(...same, ...same, ...beside))?.what).toBe('tool of A');
  });

  test('is none with another result each time', () => {
    const changing = ['r1', 'r2', 'r3', 'r4'].flatMap((result) => turn([{ call: 'A', result }]));
    expect(next(path.meet(...changing))).toBeUndefined();
  });

  test('is none with other arguments each time', () => {
    const others = ['n1', 'n2', 'n3', 'n4'].flatMap((call) => turn([{ call, result: 'r' }]));
    expect(next(path.meet(...others))).toBeUndefined();
  });

  test('is one also where the call is refused each time', () => {
    expect(next(path.meet(...times(3, turn([{ call: 'A', code: 'PERMISSION_DENIED' }]))))?.rule).toBe('repeatedCall');
  });

  test('is one however much its step achieved besides', () => {
    const found = ['b', 'c', 'd'].flatMap((name) =>
      turn([
        { call: 'A', result: 'r' },
        { call: name, result: name },
      ]),
    );
    expect(next(path.meet(...found))?.what).toBe('tool of A');
  });
});

describe('an error code', () => {
  const path = start(only({ repeatedError: 3 }));
  const failing = (call: string): readonly Step[] => turn([{ call, code: 'NOT_FOUND' }]);

  test('is a loop in as many steps in a row as the limit says', () => {
    expect(next(path.meet(...failing('A'), ...failing('B')))).toBeUndefined();
    expect(next(path.meet(...failing('A'), ...failing('B'), ...failing('C')))).toEqual({
      rule: 'repeatedError',
      steps: [1, 2, 3],
      what: 'NOT_FOUND',
    });
  });

  test('is none when a step without it comes between', () => {
    const good = turn([{ call: 'G', result: 'g' }]);
    expect(
      next(path.meet(...failing('A'), ...failing('B'), ...good, ...failing('C'), ...failing('D'))),
    ).toBeUndefined();
  });
});

describe('a plan', () => {
  const path = start(only({ alternatingPlan: 2 }));
  const A = turn([{ call: 'A', result: 'a' }]);
  const B = turn([{ call: 'B', result: 'b' }]);
  const C = turn([{ call: 'C', result: 'c' }]);

  test('that alternates between two is a loop after as many rounds as the limit says', () => {
    expect(next(path.meet(...A, ...B, ...A))).toBeUndefined();
    expect(next(path.meet(...A, ...B, ...A, ...B))).toEqual({
      rule: 'alternatingPlan',
      steps: [1, 2, 3, 4],
      what: 'B',
    });
  });

  test('that takes turns among three does not alternate', () => {
    expect(next(path.meet(...A, ...B, ...C, ...A, ...B, ...C))).toBeUndefined();
  });

  test('that stays the same does not alternate', () => {
    expect(next(path.meet(...times(6, A)))).toBeUndefined();
  });
});

describe('steps without progress', () => {
  const path = start(only({ noProgress: 4 }));
  const steps = (count: number): readonly Step[] =>
    Array.from({ length: count }, (_, index) => idle({ call: `n${String(index)}`, result: 'same' })).flat();

  test('are a loop in as many in a row as the limit says', () => {
    expect(next(path.meet(...steps(3)), step.NO_PROGRESS)).toBeUndefined();
    expect(next(path.meet(...steps(4)), step.NO_PROGRESS)).toEqual({
      rule: 'noProgress',
      steps: [1, 2, 3, 4],
      what: 'no new evidence',
    });
  });

  test.each(['hasNewEvidence', 'hasSettled', 'hasClosedGap', 'hasNarrowed'] as const)(
    'are none when one %s',
    (what) => {
      const achieved = { ...step.NO_PROGRESS, [what]: true };
      const broken = path.meet(...steps(3), ...turn([{ call: 'X', result: 'x' }], achieved), ...steps(2));
      expect(next(broken, step.NO_PROGRESS)).toBeUndefined();
    },
  );

  test('do not count a turn that the model paused, nor a context that was too long', () => {
    const limits = { loops: only({ noProgress: 2 }), maxSteps: NEVER, maxPauses: 5 };
    const stopped = [step.frozen({ progress: step.NO_PROGRESS }), step.paused()];
    const paused = Path.start(limits).meet(...stopped, ...stopped, ...stopped);
    expect(next(paused, step.NO_PROGRESS)).toBeUndefined();
    const shrunk = Path.start(limits).meet(
      ...idle({ call: 'A' }),
      step.frozen({ progress: step.NO_PROGRESS }),
      step.tooLong(),
    );
    expect(next(shrunk, step.NO_PROGRESS)).toBeUndefined();
  });
});

describe('calls declared repeatable', () => {
  const poll: Called = { call: 'poll', result: 'running', isRepeatable: true };

  test('are no loop for however long they give the same', () => {
    const path = Path.start({ maxSteps: NEVER, maxToolCalls: NEVER, loops: { ...LIMITS.loops, noProgress: 2 } });
    const polled = path.meet(...times(LOOP_WINDOW * 2, idle(poll)));
    expect(next(polled, step.NO_PROGRESS)).toBeUndefined();
    expect(polled.run.state).toBe('READY');
  });

  test('are no loop when they fail the same way', () => {
    const failing = idle({ ...poll, code: 'NOT_FOUND' });
    expect(
      next(start(only({ repeatedError: 2, noProgress: 2 })).meet(...times(6, failing)), step.NO_PROGRESS),
    ).toBeUndefined();
  });

  test('do not make a plan alternate', () => {
    const other = turn([{ call: 'A', result: 'a' }]);
    expect(next(start(only({ alternatingPlan: 2 })).meet(...times(4, [...other, ...turn([poll])])))).toBeUndefined();
  });

  test('hide no loop of the calls beside them', () => {
    const both = turn([poll, { call: 'A', result: 'a' }]);
    expect(next(start(only({ repeatedCall: 3 })).meet(...times(3, both)))?.what).toBe('tool of A');
  });

  test('hide no lack of progress around them', () => {
    const path = start(only({ noProgress: 3 }));
    const stuck = idle({ call: 'A' });
    expect(
      next(path.meet(...stuck, ...idle(poll), ...stuck, ...idle(poll), ...stuck), step.NO_PROGRESS)?.steps,
    ).toEqual([1, 3, 5]);
  });
});

describe('a loop', () => {
  const loops = only({ repeatedCall: 3 });
  const same = turn([{ call: 'A', result: 'r' }]);
  const found = start(loops).meet(...times(3, same));
  const corrected = found.meet(step.frozen());

  test('is told to the model first, in the context of the same step', () => {
    expect(corrected.run.state).toBe('READY');
    expect(corrected.run.step).toBe(found.run.step);
    expect(corrected.effect('freezeContext')).toMatchObject({
      step: 4,
      input: { correction: { rule: 'repeatedCall' } },
    });
    expect(corrected.meet(step.frozen()).run.state).toBe('MODEL_RUNNING');
  });

  test('ends the run when the model goes on with it, with the diagnosis', () => {
    const stopped = corrected.meet(...same, step.frozen());
    expect(stopped.run.state).toBe('FINALIZING');
    expect(stopped.run.ending).toMatchObject({
      as: 'FAILED',
      reason: 'loop.repeatedCall',
      diagnosis: { rule: 'repeatedCall', steps: [1, 2, 3, 4], what: 'tool of A' },
    });
  });

  test('goes to a person with the diagnosis where the agent says so', () => {
    const path = start({ ...loops, onLoop: 'handoff' }).meet(...times(3, same), step.frozen(), ...same, step.frozen());
    expect(path.effect('openWait')).toMatchObject({
      waitKind: 'handoff',
      reason: 'loop',
      diagnosis: { what: 'tool of A' },
    });
  });

  test('is over when the model does something else, and is told again when it comes back', () => {
    const better = corrected.meet(...turn([{ call: 'B', result: 'b' }]));
    const back = better.meet(...same);
    expect(next(back)?.steps).toEqual([1, 2, 3, 5]);
  });

  test('still stands when what the model does instead achieves nothing', () => {
    const path = start(only({ noProgress: 2 })).meet(...idle({ call: 'A' }), ...idle({ call: 'B' }));
    const told = path.meet(step.frozen({ progress: step.NO_PROGRESS }));
    const stopped = told.meet(...idle({ call: 'C' }), step.frozen({ progress: step.NO_PROGRESS }));
    expect(stopped.run.ending?.reason).toBe('loop.noProgress');
  });

  test('does not stop a model that polls after it was told', () => {
    const told = start(only({ noProgress: 2 })).meet(
      ...idle({ call: 'A' }),
      ...idle({ call: 'B' }),
      step.frozen({ progress: step.NO_PROGRESS }),
    );
    const polled = told.meet(...times(5, idle({ call: 'poll', isRepeatable: true })));
    expect(polled.run.state).toBe('READY');
    const stuck = polled.meet(...idle({ call: 'C' }), step.frozen({ progress: step.NO_PROGRESS }));
    expect(stuck.run.ending?.reason).toBe('loop.noProgress');
  });

  test('is as near when the state was carried as JSON in between', () => {
    const carried = start(loops).meet(...same, ...same);
    const revived = JSON.parse(JSON.stringify(carried.run)) as Run;
    expect(next(Path.at(revived).meet(...same))?.steps).toEqual([1, 2, 3]);
  });
});

describe('what a person says', () => {
  const loops = only({ repeatedCall: 3 });
  const same = turn([{ call: 'A', result: 'r' }]);
  const twice = start(loops).meet(...times(2, same));
  const asking = [step.frozen(), step.stored(), step.questionAccepted()];

  test('makes a repeated call none: an answer', () => {
    expect(next(twice.meet(...asking, step.answered('answerGiven'), ...same))).toBeUndefined();
    expect(next(twice.meet(...asking, step.answered('answerGiven'), ...times(3, same)))).toBeDefined();
  });

  test('makes a repeated call none: a message', () => {
    expect(next(twice.meet(step.amended(), ...same))).toBeUndefined();
  });

  test('gives a loop that was told a new beginning', () => {
    const corrected = start(loops).meet(...times(3, same), step.frozen(), ...asking, step.answered('answerGiven'));
    expect(corrected.run.loops).toEqual({ traces: [] });
  });
});

test('what is remembered of finished steps is bounded', () => {
  const path = start(only({}));
  const many = Array.from({ length: LOOP_WINDOW * 3 }, (_, index) =>
    turn([{ call: `n${String(index)}`, result: 'r' }]),
  ).flat();
  const { traces } = path.meet(...many, step.frozen()).run.loops;
  expect(traces).toHaveLength(LOOP_WINDOW);
  expect(traces.at(-1)?.step).toBe(LOOP_WINDOW * 3);
});
