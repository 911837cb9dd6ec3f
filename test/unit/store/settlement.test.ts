import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { resolve, type Message, type Standing } from '../../../store/postgres/settlement';
import { canMove, OPERATION_STATES, type OperationState } from '../../../workflows/machine/operation-transitions';

const dispatched = (generation: number, openGenerations: readonly number[]): Standing => ({
  state: 'DISPATCHED',
  generation,
  openGenerations,
  isDispatchOver: false,
});

describe('an answer to one send', () => {
  test.each(['NOT_EXECUTED', 'FAILED'] as const)('%s settles the only send', (state) => {
    expect(resolve(dispatched(1, [1]), { state, generation: 1 })).toEqual({
      state,
      openGenerations: [],
      effect: 'settled',
    });
  });

  test.each(['NOT_EXECUTED', 'FAILED'] as const)(
    '%s of the second send leaves UNKNOWN while the first is open',
    (state) => {
      expect(resolve(dispatched(2, [1, 2]), { state, generation: 2 })).toEqual({
        state: 'UNKNOWN',
        openGenerations: [1],
        effect: 'doubted',
      });
    },
  );

  test('a late refusal of the first send leaves the second alone', () => {
    const standing = resolve(dispatched(2, [1, 2]), { state: 'NOT_EXECUTED', generation: 1 });
    expect(standing).toEqual({ state: 'DISPATCHED', openGenerations: [2], effect: 'none' });
    const last = resolve({ ...dispatched(2, [2]), state: 'UNKNOWN' }, { state: 'NOT_EXECUTED', generation: 2 });
    expect(last).toEqual({ state: 'NOT_EXECUTED', openGenerations: [], effect: 'settled' });
  });

  test('success of an earlier send settles all', () => {
    expect(resolve(dispatched(3, [1, 3]), { state: 'SUCCEEDED', generation: 1 })).toEqual({
      state: 'SUCCEEDED',
      openGenerations: [],
      effect: 'settled',
    });
  });

  test('a lost receipt is no news where the job is known already, or a later send is under way', () => {
    const accepted = { ...dispatched(1, [1]), state: 'ACCEPTED' as const };
    expect(resolve(accepted, { state: 'UNKNOWN', generation: 1 }).effect).toBe('none');
    expect(resolve(dispatched(2, [1, 2]), { state: 'UNKNOWN', generation: 1 }).effect).toBe('none');
  });

  test('a refusal moves nothing that a person is asked about', () => {
    const asked = { ...dispatched(1, [1]), state: 'UNRESOLVED' as const };
    expect(resolve(asked, { state: 'NOT_EXECUTED', generation: 1 })).toEqual({
      state: 'UNRESOLVED',
      openGenerations: [],
      effect: 'none',
    });
  });
});

describe('a word about the whole operation', () => {
  test('"not executed" counts only after the dispatch deadline', () => {
    const sending = dispatched(1, [1]);
    expect(resolve(sending, { state: 'NOT_EXECUTED' }).effect).toBe('none');
    expect(resolve({ ...sending, isDispatchOver: true }, { state: 'NOT_EXECUTED' })).toEqual({
      state: 'NOT_EXECUTED',
      openGenerations: [],
      effect: 'settled',
    });
  });

  test('a look-up that finds it settles every send', () => {
    const unknown = { ...dispatched(2, [1, 2]), state: 'UNKNOWN' as const };
    expect(resolve(unknown, { state: 'SUCCEEDED' })).toEqual({
      state: 'SUCCEEDED',
      openGenerations: [],
      effect: 'settled',
    });
  });
});

describe('a word that contradicts the proof that nothing was executed', () => {
  const unexecuted: Standing = { state: 'NOT_EXECUTED', generation: 2, openGenerations: [], isDispatchOver: true };

  test.each(['UNKNOWN', 'RUNNING', 'ACCEPTED'] as const)('%s: every send is open again', (state) => {
    expect(resolve(unexecuted, { state })).toEqual({ state, openGenerations: [1, 2], effect: 'settled' });
    // So that the refusal of a third one proves nothing about those before.
    const third = { ...dispatched(3, [1, 2, 3]) };
    expect(resolve(third, { state: 'NOT_EXECUTED', generation: 3 })).toMatchObject({ state: 'UNKNOWN' });
  });

  test('"done" is its end', () => {
    expect(resolve(unexecuted, { state: 'SUCCEEDED' })).toEqual({
      state: 'SUCCEEDED',
      openGenerations: [],
      effect: 'settled',
    });
  });

  test('what one send does not know is no such word', () => {
    expect(resolve(unexecuted, { state: 'UNKNOWN', generation: 2 }).effect).toBe('none');
  });
});

const states: fc.Arbitrary<OperationState> = fc.constantFrom(...OPERATION_STATES);
const messages: fc.Arbitrary<Message> = fc.record(
  {
    state: fc.constantFrom(
      ...([
        'SUCCEEDED',
        'FAILED',
        'ACCEPTED',
        'RUNNING',
        'NOT_EXECUTED',
        'UNKNOWN',
        'UNRESOLVED',
        'CANCELLED',
      ] as const),
    ),
    generation: fc.integer({ min: 1, max: 4 }),
  },
  { requiredKeys: ['state'] },
);

test('whatever comes, a state stays or moves along the table, and sends are only closed where nothing was proved wrong', () => {
  fc.assert(
    fc.property(states, fc.subarray([1, 2, 3, 4]), fc.boolean(), messages, (state, open, isDispatchOver, message) => {
      const standing = { state, generation: 4, openGenerations: open, isDispatchOver };
      const next = resolve(standing, message);
      expect(next.state === state || canMove(state, next.state)).toBe(true);
      if (state !== 'NOT_EXECUTED') expect(open).toEqual(expect.arrayContaining([...next.openGenerations]));
      if (next.effect === 'none') expect(next.state).toBe(state);
    }),
  );
});

test('one send refused never ends an operation that another send may have done', () => {
  fc.assert(
    fc.property(
      states,
      fc.subarray([1, 2, 3, 4], { minLength: 2 }),
      fc.boolean(),
      messages,
      (state, open, over, message) => {
        fc.pre(message.generation !== undefined && (message.state === 'FAILED' || message.state === 'NOT_EXECUTED'));
        const { state: next } = resolve({ state, generation: 4, openGenerations: open, isDispatchOver: over }, message);
        expect(next === state || next === 'UNKNOWN').toBe(true);
      },
    ),
  );
});
