/** What a run takes along into another execution, and that it goes on there as it would have gone on here. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MachineAssertion } from '../../../../workflows/machine/assert';
import { carryRun, MAX_CARRIED_BYTES, resumeRun, type CarriedRun } from '../../../../workflows/machine/carried-run';
import { LOOP_CALLS } from '../../../../workflows/machine/run';
import * as step from '../../../support/machine/steps';
import { Path } from '../../../support/machine/steps';
import { fingerprint, outsideEvent, picks, World } from '../../../support/machine/world';

const validating = Path.start().meet(step.frozen(), step.stored());
const pending = validating.meet(step.judged(step.write(1), step.write(2)), step.dispatched(1, step.ACCEPTED));
const waiting = pending.meet(step.dispatched(2, step.UNKNOWN_TO_RESEND));
const carry = ({ run }: Path, due: Partial<CarriedRun> = {}): CarriedRun => carryRun({ run, pursuits: [], ...due });

describe('a run that goes on', () => {
  test('freezes the context that its step still lacks', () => {
    const { effects } = resumeRun(carry(Path.start()), 5_000);
    expect(effects).toEqual(Path.start().effects);
  });

  test('freezes it with the correction that the model is to be told', () => {
    const turn = [step.frozen({ progress: step.NO_PROGRESS }), step.stored(), step.judged(step.ended(1))];
    const corrected = Path.start().meet(...turn, ...turn, ...turn, step.frozen({ progress: step.NO_PROGRESS }));
    const { effects } = resumeRun(carry(corrected), 5_000);
    expect(corrected.effect('freezeContext').input.correction).toBeDefined();
    expect(effects).toEqual(corrected.effects);
  });

  test('asks at the times that were set, and at once for what is overdue', () => {
    const pursuits = [
      { ordinal: 1, action: 'poll' as const, dueAt: 7_000 },
      { ordinal: 2, action: 'resend' as const, dueAt: 4_000 },
    ];
    const { effects } = resumeRun(carry(waiting, { pursuits }), 5_000);
    expect(effects).toEqual([
      { kind: 'pursue', step: 1, ordinal: 1, next: { action: 'poll', afterMs: 2_000 } },
      { kind: 'pursue', step: 1, ordinal: 2, next: { action: 'resend', afterMs: 0 } },
    ]);
  });

  test('looks at its intended end when that was due', () => {
    const looking = validating.meet(step.finishAccepted(), step.endChecked({ obstacle: 'operationOpen' }));
    const { effects } = resumeRun(carry(looking, { checkAt: 6_000 }), 5_000);
    expect(effects).toMatchObject([{ kind: 'checkEnd', check: looking.run.check, afterMs: 1_000 }]);
  });

  test('has what is left of its grace', () => {
    const { effects } = resumeRun(carry(waiting.meet(step.cancelRequested()), { graceAt: 30_000 }), 5_000);
    expect(effects).toEqual([{ kind: 'startGrace', forMs: 25_000 }]);
  });

  test('is not taken up where its form is unknown: a newer build can', () => {
    expect(() => resumeRun({ ...carry(waiting), schemaVersion: 2 }, 0)).toThrow(MachineAssertion);
  });
});

describe('what is carried', () => {
  test('stays below its limit with the largest candidates that are accepted', () => {
    const MAX_CALLS = 32;
    const batch = (round: number) =>
      step.judged(
        ...Array.from({ length: MAX_CALLS }, (_, index) =>
          step.write(index + 1, {
            tool: `a_tool_with_a_name_${String(index)}`,
            fingerprint: fingerprint(`f${String(round * 100 + index)}`.padEnd(16, '0')),
            object: fingerprint(`o${String(index)}`.padEnd(16, '0')),
            phase: 'ENDED',
            result: fingerprint(`r${String(round * 100 + index)}`.padEnd(16, '0')),
          }),
        ),
      );
    const rounds = Array.from({ length: 40 }, (_, round) => [step.frozen(), step.stored(), batch(round)]).flat();
    const { run } = Path.start({ maxSteps: 100, maxToolCalls: 10_000 }).meet(...rounds, step.frozen());
    expect(run.loops.traces.reduce((sum, { calls }) => sum + calls.length, 0)).toBeLessThanOrEqual(LOOP_CALLS);
    const ready = Path.start({ maxSteps: 100, maxToolCalls: 10_000 }).meet(...rounds);
    expect(JSON.stringify(carry(ready)).length).toBeLessThan(MAX_CARRIED_BYTES);
  });

  test('is refused above it', () => {
    const input = { waits: Array.from({ length: 2_000 }, () => waiting.run.id as never) };
    expect(() => carryRun({ run: { ...waiting.run, input }, pursuits: [] })).toThrow(/32 kB/);
  });
});

test('handed over at any moment, a run ends all the same', () => {
  let handOvers = 0;
  fc.assert(
    fc.property(picks(), (pick) => {
      const world = new World();
      for (let turn = 0; turn < 400 && !world.isOver; turn += 1) {
        if (pick([true, false, false]) && world.handOver()) handOvers += 1;
        if (pick([true, ...Array<boolean>(20).fill(false)])) world.meet(outsideEvent(world, pick));
        else if (!world.advance(pick)) throw new Error(world.explain());
      }
      if (!world.isOver && world.inFlight.length === 0) throw new Error(world.explain());
    }),
    { numRuns: 300 },
  );
  expect(handOvers).toBeGreaterThan(100);
});
