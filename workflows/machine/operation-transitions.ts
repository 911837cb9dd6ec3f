/**
 * The operation table (DESIGN.md 6): which state an operation may move to from each. Everything else leaves it where it is:
 * a late, early or contradicting message never moves an operation back. NOT_EXECUTED is a proof about the sends so far and no
 * end: what the far side says of the work afterwards is read before anything is sent again.
 */
export const OPERATION_STATES = [
  'CREATED',
  'DISPATCHED',
  'ACCEPTED',
  'RUNNING',
  'UNKNOWN',
  'UNRESOLVED',
  'NOT_EXECUTED',
  'SUCCEEDED',
  'FAILED',
  'CANCELLED',
  'REFUSED',
] as const;
export type OperationState = (typeof OPERATION_STATES)[number];

// prettier-ignore
export const OPERATION_TRANSITIONS = {
  CREATED:      ['DISPATCHED', 'CANCELLED', 'REFUSED'],
  DISPATCHED:   ['SUCCEEDED', 'FAILED', 'ACCEPTED', 'RUNNING', 'NOT_EXECUTED', 'UNKNOWN', 'CANCELLED'],
  ACCEPTED:     ['RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'UNKNOWN'],
  RUNNING:      ['SUCCEEDED', 'FAILED', 'CANCELLED', 'UNKNOWN'],
  UNKNOWN:      ['DISPATCHED', 'SUCCEEDED', 'FAILED', 'ACCEPTED', 'RUNNING', 'CANCELLED', 'NOT_EXECUTED', 'UNRESOLVED'],
  UNRESOLVED:   ['SUCCEEDED', 'FAILED', 'NOT_EXECUTED'],
  NOT_EXECUTED: ['DISPATCHED', 'FAILED', 'CANCELLED', 'SUCCEEDED', 'ACCEPTED', 'RUNNING', 'UNKNOWN'],
  SUCCEEDED:    [],
  FAILED:       [],
  CANCELLED:    [],
  REFUSED:      [],
} as const satisfies Record<OperationState, readonly OperationState[]>;

export const canMove = (from: OperationState, to: OperationState): boolean => targetsOf(from).includes(to);

const targetsOf = (from: OperationState): readonly OperationState[] => OPERATION_TRANSITIONS[from];

/** Its effect may have happened or may still happen: nobody has proved an end. */
export const isUnproved = (state: OperationState): boolean =>
  state === 'DISPATCHED' ||
  state === 'ACCEPTED' ||
  state === 'RUNNING' ||
  state === 'UNKNOWN' ||
  state === 'UNRESOLVED';

/** Never sent, or proved not to have happened: cancelling it is a decision of ours alone. */
export const isUnsent = (state: OperationState): boolean => state === 'CREATED' || state === 'NOT_EXECUTED';
