/** What to do about an operation that is proved not to have happened. Pure. */
import type { OperationRow } from '../../store/rows';
import type { ErrorCode } from '../../workflows/contract/errors';
import { MAX_GENERATIONS } from './next-for-unknown';

export interface Unsent {
  readonly operation: Pick<OperationRow, 'generation' | 'notBeforeAt' | 'code'>;
  /** By the database's clock. */
  readonly now: number;
  /** Of the run. */
  readonly deadlineAt?: number | undefined;
  /** Set where nothing is sent for it any more. */
  readonly stoppedWith?: ErrorCode | undefined;
}

export type UnsentNext =
  | { readonly kind: 'resend'; readonly afterMs: number }
  | { readonly kind: 'settled'; readonly state: 'CANCELLED' | 'FAILED'; readonly code: ErrorCode };

/** Back-off inside the run's deadline; what cannot be sent in time has failed, with the reason why it was not executed. */
export const nextForUnsent = ({ operation, now, deadlineAt = Infinity, stoppedWith }: Unsent): UnsentNext => {
  const { generation, notBeforeAt = now, code = 'UNAVAILABLE' } = operation;
  if (stoppedWith !== undefined) return { kind: 'settled', state: 'CANCELLED', code: stoppedWith };
  const afterMs = Math.max(0, notBeforeAt - now);
  if (generation >= MAX_GENERATIONS || now + afterMs >= deadlineAt) return { kind: 'settled', state: 'FAILED', code };
  return { kind: 'resend', afterMs };
};

const BASE_MS = 500;
const MAX_MS = 30_000;

/** How long a send that was refused waits for the next one; never less than the far side asked for. */
export const sendBackOffMs = (generation: number, retryAfterMs = 0): number =>
  Math.max(retryAfterMs, Math.min(BASE_MS * 2 ** Math.max(0, generation - 1), MAX_MS));
