/**
 * What one more message about an operation makes of its row: pure. A message is an answer to one send (`generation`), or
 * speaks for the operation as a whole (look-up, poll, callback, a person). Rules, DESIGN.md 6:
 *
 *   1. states move along the operation table or stay; a late or early message moves nothing back;
 *   2. a refusal of one send (NOT_EXECUTED, FAILED) proves that send unexecuted and no other: while another one is open, an
 *      operation in doubt stays in doubt;
 *   3. what one send's sender does not know is no news about another send;
 *   4. "not executed" of the operation as a whole is nothing to go by while its sender may still be sending;
 *   5. word that it is under way after all, or that nobody knows, opens every send again that was proved unexecuted.
 */
import { canMove, OPERATION_STATES, type OperationState } from '../../workflows/machine/operation-transitions';
import type { OperationRow, Settlement } from '../rows';

export interface Standing {
  readonly state: OperationState;
  readonly generation: number;
  readonly openGenerations: readonly number[];
  /** The dispatch deadline of the latest generation has passed, or there was none. */
  readonly isDispatchOver: boolean;
}

export interface Resolution {
  readonly state: OperationState;
  readonly openGenerations: readonly number[];
  /** `settled`: the message's own state, and what came with it holds. `doubted`: UNKNOWN, since another send is open. */
  readonly effect: 'settled' | 'doubted' | 'none';
}

export type Message = Pick<Settlement, 'state'> & { readonly generation?: number };

export const resolve = (row: Standing, { state, generation }: Message): Resolution => {
  if (generation === undefined || !isOfOneSend(state)) return speakForAll(row, state);
  return state === 'UNKNOWN' ? doubtSend(row, generation) : refuseSend(row, generation, state);
};

const isOfOneSend = (state: Settlement['state']): state is 'NOT_EXECUTED' | 'FAILED' | 'UNKNOWN' =>
  state === 'NOT_EXECUTED' || state === 'FAILED' || state === 'UNKNOWN';

const unmoved = ({ state }: Standing, openGenerations: readonly number[]): Resolution => ({
  state,
  openGenerations,
  effect: 'none',
});

const speakForAll = (row: Standing, to: Settlement['state']): Resolution => {
  const isPremature = row.state === 'DISPATCHED' && to === 'NOT_EXECUTED' && !row.isDispatchOver;
  if (isPremature || !canMove(row.state, to)) return unmoved(row, row.openGenerations);
  return { state: to, openGenerations: LEAVES_OPEN.has(to) ? opened(row) : [], effect: 'settled' };
};

/** What one of them did not do another may have done: nobody says which send was meant. */
const opened = ({ state, generation, openGenerations }: Standing): readonly number[] =>
  state === 'NOT_EXECUTED' ? Array.from({ length: generation }, (_, index) => index + 1) : openGenerations;

const LEAVES_OPEN: ReadonlySet<OperationState> = new Set(['ACCEPTED', 'RUNNING', 'UNKNOWN', 'UNRESOLVED']);

const doubtSend = (row: Standing, generation: number): Resolution =>
  row.state === 'DISPATCHED' && generation === row.generation
    ? { state: 'UNKNOWN', openGenerations: row.openGenerations, effect: 'settled' }
    : unmoved(row, row.openGenerations);

const refuseSend = (row: Standing, generation: number, to: 'NOT_EXECUTED' | 'FAILED'): Resolution => {
  const left = row.openGenerations.filter((other) => other !== generation);
  if (row.state !== 'DISPATCHED' && row.state !== 'UNKNOWN') return unmoved(row, left);
  if (left.length === 0) return { state: to, openGenerations: left, effect: 'settled' };
  const isSending = row.state === 'DISPATCHED' && generation !== row.generation;
  return isSending ? unmoved(row, left) : { state: 'UNKNOWN', openGenerations: left, effect: 'doubted' };
};

/** Of a row: what `resolve` looks at. */
export const standingOf = (row: OperationRow, now: number): Standing => ({
  state: row.state,
  generation: row.generation,
  openGenerations: row.openGenerations,
  isDispatchOver: row.dispatchDeadlineAt === undefined || row.dispatchDeadlineAt <= now,
});

/** It has its end: no message moves it any more. */
export const isFinal = (state: OperationState): boolean => !OPERATION_STATES.some((to) => canMove(state, to));
