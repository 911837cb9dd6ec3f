/** How long a read waits before it is tried again, if at all. Pure. */
import type { ReadFault } from './classify-tool-error';

const BASE_MS = 500;
/** A far side that asks for longer is told to the model instead of being waited for. */
export const MAX_READ_WAIT_MS = 60_000;

interface Tried {
  /** How often it was tried already: 1, 2, 3… */
  readonly tries: number;
  /** The run's deadline and the present, ms since the epoch; the deadline is judged by the workflow in the end. */
  readonly deadlineAt?: number | undefined;
  readonly now?: number;
}

/** Undefined where waiting so long is of no use: the run would be over, or the wait is longer than a read may take. */
export const retryAfterMs = (
  { retryAfterMs: asked = 0 }: Pick<ReadFault, 'retryAfterMs'>,
  { tries, deadlineAt, now = Date.now() }: Tried,
): number | undefined => {
  const waitMs = Math.max(asked, BASE_MS * 2 ** (tries - 1));
  if (waitMs > MAX_READ_WAIT_MS) return undefined;
  return deadlineAt !== undefined && now + waitMs >= deadlineAt ? undefined : waitMs;
};
