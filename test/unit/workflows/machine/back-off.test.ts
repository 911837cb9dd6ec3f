/** How long the run waits for a provider, and when waiting makes no sense. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { EventOf } from '../../../../workflows/machine/events';
import { backOffMs } from '../../../../workflows/machine/guards';
import type { Run } from '../../../../workflows/machine/run';
import * as step from '../../../support/machine/steps';
import { Path, type Step } from '../../../support/machine/steps';
import { LIMITS } from '../../../support/machine/world';

const { backOffBaseMs, backOffMaxMs, maxRetryAfterMs } = LIMITS;
const asking = Path.start({ maxProviderFailures: 100 }).meet(step.frozen());

const failedBefore = (failures: number): Run => {
  const { run } = asking;
  if (run.attempt === undefined) throw new Error('an attempt is under way');
  return { ...run, attempt: { ...run.attempt, providerFailures: failures } };
};

const failure = (change: Partial<EventOf<'attemptFailed'>>): EventOf<'attemptFailed'> => ({
  kind: 'attemptFailed',
  at: step.AT,
  step: 1,
  attempt: 1,
  code: 'model.rate_limited',
  jitter: 0,
  ...change,
});

const waitedMs = (path: Path, on: Step): number => path.meet(on).effect('backOff').forMs;

describe('the back-off', () => {
  test.each([
    [0, 0, 50],
    [0, 1, 100],
    [1, 1, 200],
    [2, 0, 200],
    [3, 1, 800],
    [4, 1, 1_000],
    [5, 0, 500],
    [60, 1, 1_000],
    [2_000, 1, 1_000],
  ])('after %d failures with jitter %d is %d ms', (failures, jitter, expectedMs) => {
    expect(backOffMs(failedBefore(failures), failure({ jitter }))).toBe(expectedMs);
  });

  test('is between half and all of the doubled base, and never above its maximum', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.double({ min: 0, max: 1, noNaN: true }), (failures, jitter) => {
        const full = Math.min(backOffBaseMs * 2 ** failures, backOffMaxMs);
        const waited = backOffMs(failedBefore(failures), failure({ jitter }));
        expect(waited).toBeGreaterThanOrEqual(full / 2);
        expect(waited).toBeLessThanOrEqual(full);
      }),
    );
  });

  test('comes on top of what the provider asked for', () => {
    fc.assert(
      fc.property(fc.nat(maxRetryAfterMs), fc.double({ min: 0, max: 1, noNaN: true }), (retryAfterMs, jitter) => {
        const alone = backOffMs(failedBefore(1), failure({ jitter }));
        expect(backOffMs(failedBefore(1), failure({ jitter, retryAfterMs }))).toBe(retryAfterMs + alone);
      }),
    );
  });

  test('of 200 runs that are told the same at once is no wave', () => {
    const waits = Array.from({ length: 200 }, (_, index) =>
      waitedMs(asking, step.failed({ jitter: index / 200, retryAfterMs: 500 })),
    );
    expect(Math.min(...waits)).toBe(500 + backOffBaseMs / 2);
    expect(Math.max(...waits)).toBe(500 + backOffBaseMs);
    expect(new Set(waits).size).toBeGreaterThanOrEqual(50);
  });

  test('grows from failure to failure of one step, and begins anew in the next step', () => {
    const first = waitedMs(asking, step.failed({ jitter: 1 }));
    const second = waitedMs(asking.meet(step.failed(), step.backedOff()), step.failed({ jitter: 1 }));
    const nextStep = asking.meet(
      step.failed(),
      step.backedOff(),
      step.stored(),
      step.candidateRejected(),
      step.frozen(),
    );
    expect([first, second, waitedMs(nextStep, step.failed({ jitter: 1 }))]).toEqual([100, 200, 100]);
  });
});

describe('a retry-after', () => {
  test.each([
    ['missing', {}],
    ['negative', { retryAfterMs: -60_000 }],
    ['zero', { retryAfterMs: 0 }],
  ])('that is %s leaves the back-off as it is', (_name, change) => {
    expect(waitedMs(asking, step.failed({ jitter: 1, ...change }))).toBe(backOffBaseMs);
  });

  test('is waited for up to the limit', () => {
    const { run, effects } = asking.meet(step.failed({ retryAfterMs: maxRetryAfterMs, jitter: 0 }));
    expect(run.state).toBe('MODEL_RUNNING');
    expect(effects).toEqual([{ kind: 'backOff', step: 1, attempt: 1, forMs: maxRetryAfterMs + backOffBaseMs / 2 }]);
  });

  test.each([maxRetryAfterMs + 1, 9 * 24 * 60 * 60_000, Number.MAX_SAFE_INTEGER])(
    "of %d ms ends the run with the provider's error",
    (retryAfterMs) => {
      const { run, kinds } = asking.meet(step.failed({ code: 'model.rate_limited', retryAfterMs }));
      expect(run.ending).toMatchObject({ as: 'FAILED', reason: 'model.rate_limited' });
      expect(kinds).not.toContain('backOff');
    },
  );
});

describe('the run deadline', () => {
  const leftMs = 1_000;
  const near = LIMITS.deadlineMs - leftMs;

  test('is not slept through: a back-off that reaches it ends the run', () => {
    const late = step.failed({ at: near, jitter: 0, retryAfterMs: leftMs - backOffBaseMs / 2 });
    expect(asking.meet(late).transition).toMatchObject({ to: 'FINALIZING', rule: 'retry.too_late' });
  });

  test('leaves a back-off that ends before it', () => {
    const inTime = step.failed({ at: near, jitter: 0, retryAfterMs: leftMs - backOffBaseMs / 2 - 1 });
    expect(waitedMs(asking, inTime)).toBe(leftMs - 1);
  });
});

describe('attempts of one step', () => {
  test('are exactly as many as the limit of failures allows, one owner of retries', () => {
    const limit = 4;
    let path = Path.start({ maxProviderFailures: limit }).meet(step.frozen());
    let asked = 1;
    while (path.run.state === 'MODEL_RUNNING') {
      path = path.meet(step.failed());
      if (path.run.state === 'MODEL_RUNNING') path = path.meet(step.backedOff());
      if (path.kinds.includes('callModel')) asked += 1;
    }
    expect(asked).toBe(limit + 1);
    expect(path.run.ending?.reason).toBe('model.overloaded');
  });

  test('are numbered on, whatever became of the one before, with the same context', () => {
    const path = asking.meet(step.failed(), step.backedOff());
    const second = path.effect('callModel');
    const third = path.meet(step.interrupted(), step.lost()).effect('callModel');
    const fourth = path.meet(step.interrupted(), step.lost(), step.truncated()).effect('callModel');
    expect([second, third, fourth].map(({ attempt }) => attempt)).toEqual([2, 3, 4]);
    expect(new Set([second, third, fourth].map(({ context }) => context)).size).toBe(1);
    expect([second, third, fourth].map(({ truncations }) => truncations)).toEqual([0, 0, 1]);
  });

  test('that were lost do not count as failures of the provider, nor the reverse', () => {
    const limits = { maxProviderFailures: 1, maxLostAttempts: 1 };
    const both = Path.start(limits).meet(
      step.frozen(),
      step.failed(),
      step.backedOff(),
      step.interrupted(),
      step.lost(),
    );
    expect(both.run.state).toBe('MODEL_RUNNING');
    expect(both.meet(step.failed()).run.ending?.reason).toBe('model.overloaded');
    expect(both.meet(step.interrupted(), step.lost()).run.ending?.reason).toBe('model.attempts_lost');
  });

  test('answer late under their own number: what an earlier one says changes nothing', () => {
    const path = asking.meet(step.failed(), step.backedOff());
    const late = path.meet((run) => ({ ...step.stored()(run), attempt: 1 }));
    expect(late.transition?.rule).toBe('ignored');
    expect(late.run).toEqual({ ...path.run, seq: late.run.seq });
  });
});
