/** The operation table against DESIGN.md 6, edge by edge. */
import { describe, expect, test } from '@jest/globals';
import {
  canMove,
  isUnproved,
  isUnsent,
  OPERATION_STATES,
  OPERATION_TRANSITIONS,
  type OperationState,
} from '../../../../workflows/machine/operation-transitions';

// prettier-ignore
const EDGES: readonly (readonly [from: OperationState, to: OperationState, fact: string])[] = [
  ['CREATED', 'DISPATCHED', 'is sent'],
  ['CREATED', 'CANCELLED', 'is called off before it was sent'],
  ['CREATED', 'REFUSED', 'is refused by policy before it was sent'],
  ['DISPATCHED', 'SUCCEEDED', 'is answered with its result'],
  ['DISPATCHED', 'FAILED', 'is answered with a refusal of the far side'],
  ['DISPATCHED', 'ACCEPTED', 'becomes a job'],
  ['DISPATCHED', 'RUNNING', 'becomes a job that runs already'],
  ['DISPATCHED', 'NOT_EXECUTED', 'never reached the far side'],
  ['DISPATCHED', 'UNKNOWN', 'gets no answer'],
  ['DISPATCHED', 'CANCELLED', 'is cancelled at the far side'],
  ['ACCEPTED', 'RUNNING', 'begins'],
  ['ACCEPTED', 'SUCCEEDED', 'is done without having been seen running'],
  ['ACCEPTED', 'FAILED', 'fails without having been seen running'],
  ['ACCEPTED', 'CANCELLED', 'is cancelled before it began'],
  ['ACCEPTED', 'UNKNOWN', 'is a job that nobody has heard of'],
  ['RUNNING', 'SUCCEEDED', 'is done'],
  ['RUNNING', 'FAILED', 'fails'],
  ['RUNNING', 'CANCELLED', 'is cancelled while it runs'],
  ['RUNNING', 'UNKNOWN', 'is polled too often'],
  ['UNKNOWN', 'DISPATCHED', 'is sent again with the same key'],
  ['UNKNOWN', 'SUCCEEDED', 'is found done'],
  ['UNKNOWN', 'FAILED', 'is found failed'],
  ['UNKNOWN', 'ACCEPTED', 'is found accepted'],
  ['UNKNOWN', 'RUNNING', 'is found running'],
  ['UNKNOWN', 'CANCELLED', 'is found cancelled'],
  ['UNKNOWN', 'NOT_EXECUTED', 'is proved not executed'],
  ['UNKNOWN', 'UNRESOLVED', 'goes to a person'],
  ['UNRESOLVED', 'SUCCEEDED', 'is done, says a person'],
  ['UNRESOLVED', 'FAILED', 'has failed, says a person'],
  ['UNRESOLVED', 'NOT_EXECUTED', 'was not executed, says a person'],
  ['NOT_EXECUTED', 'DISPATCHED', 'is sent again'],
  ['NOT_EXECUTED', 'FAILED', 'is given up'],
  ['NOT_EXECUTED', 'CANCELLED', 'is called off after its back-off began'],
  ['NOT_EXECUTED', 'SUCCEEDED', 'is reported done before it is sent again'],
  ['NOT_EXECUTED', 'ACCEPTED', 'has been accepted, says its sender later'],
  ['NOT_EXECUTED', 'RUNNING', 'is reported to be running before it is sent again'],
  ['NOT_EXECUTED', 'UNKNOWN', 'is reported about, without saying what became of it'],
];

const ENDS: readonly OperationState[] = ['SUCCEEDED', 'FAILED', 'CANCELLED', 'REFUSED'];

const isEdge = (from: OperationState, to: OperationState): boolean => EDGES.some(([a, b]) => a === from && b === to);

describe('an operation', () => {
  test.each(EDGES)('%s → %s: %s', (from, to) => {
    expect(canMove(from, to)).toBe(true);
  });

  test('moves nowhere else', () => {
    const pairs = OPERATION_STATES.flatMap((from) => OPERATION_STATES.map((to) => [from, to] as const));
    expect(pairs.filter(([from, to]) => canMove(from, to) && !isEdge(from, to))).toEqual([]);
    expect(EDGES).toHaveLength(pairs.filter(([from, to]) => canMove(from, to)).length);
  });

  test('never leaves its end, and is never created again', () => {
    for (const end of ENDS) expect(OPERATION_TRANSITIONS[end]).toEqual([]);
    expect(OPERATION_STATES.filter((from) => canMove(from, 'CREATED'))).toEqual([]);
  });

  test('never stays where it is by moving: the same again is no news', () => {
    expect(OPERATION_STATES.filter((state) => canMove(state, state))).toEqual([]);
  });

  test('can reach an end from wherever it is', () => {
    const reaches = (from: OperationState, seen: readonly OperationState[]): boolean =>
      ENDS.includes(from) ||
      OPERATION_STATES.some((to) => canMove(from, to) && !seen.includes(to) && reaches(to, [...seen, to]));
    expect(OPERATION_STATES.filter((state) => !reaches(state, [state]))).toEqual([]);
  });

  test('that was sent is never called off by us: only a look at the far side can say that it was cancelled', () => {
    expect(OPERATION_STATES.filter((state) => isUnsent(state))).toEqual(['CREATED', 'NOT_EXECUTED']);
    expect(canMove('UNRESOLVED', 'CANCELLED')).toBe(false);
  });

  test('is unsent, unproved or ended, and only one of them', () => {
    for (const state of OPERATION_STATES) {
      const is = [isUnsent(state), isUnproved(state), ENDS.includes(state)];
      expect([state, is.filter(Boolean).length]).toEqual([state, 1]);
    }
  });
});
