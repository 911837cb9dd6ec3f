import { describe, expect, test } from '@jest/globals';
import { nextLook, type LookedAt } from '../../../../activities/reconcile/next-look';
import { MAX_LOOKS, MAX_PAUSE_MS, RECONCILED_FOR_MS } from '../../../../workflows/contract/reconcile';
import { parseArtifactHash } from '../../../../workflows/contract/ids';

const pending = (afterMs: number): LookedAt['outcome'] => ({
  kind: 'pending',
  state: 'UNKNOWN',
  next: { action: 'lookUp', afterMs },
});
const unresolved: LookedAt['outcome'] = { kind: 'unresolved', plan: parseArtifactHash('a'.repeat(64)) };
const at = (changes: Partial<LookedAt> = {}): LookedAt => ({
  outcome: pending(0),
  look: 1,
  sinceEndMs: 0,
  canAsk: true,
  ...changes,
});

describe('the next look at an operation of a run that has ended', () => {
  test('is none once its end is known, whenever that is', () => {
    const outcome = { kind: 'settled', state: 'SUCCEEDED' } as const;
    expect(nextLook(at({ outcome, look: MAX_LOOKS, sinceEndMs: RECONCILED_FOR_MS, canAsk: false }))).toEqual({
      kind: 'settled',
      state: 'SUCCEEDED',
    });
  });

  test('comes later each time, up to an hour, and no sooner than what is asked allows', () => {
    const pauses = Array.from({ length: 20 }, (_, index) => nextLook(at({ look: index + 1 })));
    expect(pauses.slice(0, 3)).toEqual([1_000, 2_000, 4_000].map((afterMs) => ({ kind: 'open', afterMs })));
    expect(pauses.at(-1)).toEqual({ kind: 'open', afterMs: MAX_PAUSE_MS });
    expect(nextLook(at({ outcome: pending(90_000) }))).toEqual({ kind: 'open', afterMs: 90_000 });
  });

  test('goes on where a person would be asked, as long as the far side can be asked', () => {
    expect(nextLook(at({ outcome: unresolved }))).toMatchObject({ kind: 'open' });
    expect(nextLook(at({ outcome: unresolved, canAsk: false }))).toEqual({ kind: 'giveUp' });
  });

  test('ends after two weeks, and after so many', () => {
    expect(nextLook(at({ look: 300, sinceEndMs: RECONCILED_FOR_MS - 5 }))).toEqual({ kind: 'open', afterMs: 5 });
    expect(nextLook(at({ look: 300, sinceEndMs: RECONCILED_FOR_MS }))).toEqual({ kind: 'giveUp' });
    expect(nextLook(at({ look: MAX_LOOKS }))).toEqual({ kind: 'giveUp' });
  });

  test('by back-off alone all of them fit into the limit, and their history into one execution', () => {
    let sinceEndMs = 0;
    let look = 1;
    for (; ; look += 1) {
      const next = nextLook(at({ look, sinceEndMs }));
      if (next.kind !== 'open') break;
      sinceEndMs += next.afterMs;
    }
    expect(look).toBeLessThan(MAX_LOOKS);
    const EVENTS_OF_ONE_LOOK = 11;
    expect(MAX_LOOKS * EVENTS_OF_ONE_LOOK).toBeLessThan(5_000);
  });
});
