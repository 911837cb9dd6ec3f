import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Effect } from '../../../../workflows/machine/effects';
import { decide } from '../../../../workflows/machine/decide';
import type { Run } from '../../../../workflows/machine/run';
import { STATES, type State } from '../../../../workflows/machine/states';
import { outsideEvent, picks, World, type Pick } from '../../../support/machine/world';

const MOST_EVENTS = 400;

/** Plays a run to its end (or its limit), with something from outside now and then. */
const play = (world: World, pick: Pick, outside: number): void => {
  const odds = [...Array<boolean>(outside).fill(true), ...Array<boolean>(20).fill(false)] as [boolean, ...boolean[]];
  for (let turn = 0; turn < MOST_EVENTS && !world.isOver; turn += 1) {
    if (outside > 0 && pick(odds)) world.meet(outsideEvent(world, pick));
    else if (!world.advance(pick)) break;
  }
};

const keyOf = (effect: Effect): string | undefined => {
  switch (effect.kind) {
    case 'callModel':
      return `attempt ${String(effect.step)}.${String(effect.attempt)}`;
    case 'read':
      return `read ${String(effect.step)}.${String(effect.ordinal)}`;
    case 'openWait':
      return effect.wait;
    default:
      return undefined;
  }
};

const forEachPlay = (check: (world: World, pick: Pick) => void, outside = 1): void => {
  fc.assert(
    fc.property(picks(), (pick) => {
      const world = new World();
      play(world, pick, outside);
      check(world, pick);
    }),
    { numRuns: 400 },
  );
};

const transitionsOf = (world: World): { before: Run | undefined; after: Run; effects: readonly Effect[] }[] =>
  world.history.map(({ decided }, index) => ({
    before: world.history[index - 1]?.decided.run,
    after: decided.run,
    effects: decided.effects,
  }));

test('a run ends, or something is in flight that will go on with it', () => {
  forEachPlay((world) => {
    if (!world.isOver && world.inFlight.length === 0) throw new Error(world.explain());
  });
});

test('without messages from outside every run ends by its own limits', () => {
  forEachPlay((world) => {
    if (!world.isOver) throw new Error(world.explain());
  }, 0);
});

test('a terminal absorbs everything', () => {
  forEachPlay((world, pick) => {
    if (!world.isOver) return;
    const { state } = world.run;
    for (let turn = 0; turn < 10; turn += 1) {
      const { run, effects } = decide(world.run, outsideEvent(world, pick));
      expect(run.state).toBe(state);
      expect(effects).toEqual([]);
    }
  });
});

test('every attempt, read and wait has its own key', () => {
  forEachPlay((world) => {
    const keys = transitionsOf(world).flatMap(({ effects }) => effects.map(keyOf).filter((key) => key !== undefined));
    expect(new Set(keys).size).toBe(keys.length);
  });
});

test('transitions are numbered without a gap and steps never go back', () => {
  forEachPlay((world) => {
    transitionsOf(world).forEach(({ after, before }, index) => {
      expect(after.seq).toBe(index + 1);
      expect(after.step).toBeGreaterThanOrEqual(before?.step ?? 1);
      expect(after.planVersion).toBeGreaterThanOrEqual(before?.planVersion ?? 1);
    });
  });
});

test('a call that had to be approved is not dispatched before it was', () => {
  forEachPlay((world) => {
    for (const { after, effects } of transitionsOf(world)) {
      for (const effect of effects) {
        if (effect.kind !== 'dispatch') continue;
        const asked = world.history.find(
          ({ event }) =>
            event.kind === 'callsJudged' &&
            event.step === effect.step &&
            event.calls.some((call) => call.ordinal === effect.ordinal && call.phase === 'ASKING'),
        );
        const call = after.calls.find(({ ordinal }) => ordinal === effect.ordinal);
        if (asked !== undefined) expect(call?.isApproved).toBe(true);
      }
    }
  });
});

test('nothing is read, dispatched or asked of the model once the run is ending', () => {
  forEachPlay((world) => {
    for (const { before, effects } of transitionsOf(world)) {
      if (before?.ending === undefined || before.ending.as === 'SUCCEEDED') continue;
      expect(effects.filter(({ kind }) => kind === 'read' || kind === 'dispatch' || kind === 'callModel')).toEqual([]);
    }
  });
});

test('two writes on one object are never in flight or unsettled together', () => {
  forEachPlay((world) => {
    for (const { after } of transitionsOf(world)) {
      const unsettled = after.calls.filter(
        (call) => call.sends > 0 && call.effect === 'write' && call.phase !== 'ENDED',
      );
      const objects = unsettled.flatMap(({ object }) => (object === undefined ? [] : [object]));
      expect(new Set(objects).size).toBe(objects.length);
    }
  });
});

test('a new step begins only when every call of the candidate before has its end', () => {
  forEachPlay((world) => {
    for (const { after, effects } of transitionsOf(world)) {
      if (!effects.some(({ kind }) => kind === 'freezeContext')) continue;
      expect(after.calls.filter((call) => call.phase !== 'ENDED')).toEqual([]);
    }
  });
});

test('the plays reach every state', () => {
  const reached = new Set<State>();
  forEachPlay((world) => {
    for (const { after } of transitionsOf(world)) reached.add(after.state);
  });
  expect([...STATES].filter((state) => !reached.has(state))).toEqual([]);
});
