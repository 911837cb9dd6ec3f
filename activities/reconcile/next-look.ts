/** Whether an operation of a run that has ended is asked about again, and when. Pure. */
import type { OperationOutcome } from '../../workflows/machine/events';
import { FIRST_PAUSE_MS, MAX_LOOKS, MAX_PAUSE_MS, RECONCILED_FOR_MS } from '../../workflows/contract/reconcile';

export interface LookedAt {
  readonly outcome: OperationOutcome;
  readonly look: number;
  /** By the database's clock. */
  readonly sinceEndMs: number;
  /** Whether the far side offers, by this worker's tool, a way to ask. A worker without the tool leaves it to another. */
  readonly canAsk: boolean;
}

export type NextLook =
  | { readonly kind: 'settled'; readonly state: string }
  | { readonly kind: 'open'; readonly afterMs: number }
  | { readonly kind: 'giveUp' };

export const nextLook = ({ outcome, look, sinceEndMs, canAsk }: LookedAt): NextLook => {
  if (outcome.kind === 'settled') return { kind: 'settled', state: outcome.state };
  const leftMs = RECONCILED_FOR_MS - sinceEndMs;
  if (leftMs <= 0 || look >= MAX_LOOKS) return { kind: 'giveUp' };
  // Where a person would be asked while the run goes on, the far side is asked on: nothing presses any more.
  if (outcome.kind !== 'pending' && !canAsk) return { kind: 'giveUp' };
  const dueMs = outcome.kind === 'pending' ? outcome.next.afterMs : 0;
  return { kind: 'open', afterMs: Math.min(Math.max(pauseMs(look), dueMs), leftMs) };
};

const pauseMs = (look: number): number => Math.min(FIRST_PAUSE_MS * 2 ** Math.min(look - 1, 30), MAX_PAUSE_MS);
