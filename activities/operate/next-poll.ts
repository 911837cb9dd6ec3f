/** When a job is asked about next, and when it counts as lost. Pure. */
import type { Tool } from '../../definition/tool';
import type { OperationRow } from '../../store/rows';

export interface PolledJob {
  readonly poll: Pick<NonNullable<Tool['poll']>, 'everyMs' | 'limitMs'> | undefined;
  readonly expectedDurationMs: number | undefined;
  readonly operation: Pick<OperationRow, 'dispatchedAt' | 'polls'>;
  /** By the database's clock. */
  readonly now: number;
  /** What the last poll said, where it decided nothing. */
  readonly answer: 'notFound' | 'cannotTell' | undefined;
}

export type PollNext = { readonly kind: 'poll'; readonly afterMs: number } | { readonly kind: 'unknown' };

/** Of a tool that only calls back: how often its row is looked at, and how long it is waited for. */
const QUIET_EVERY_MS = 60_000;
const QUIET_LIMIT_MS = 24 * 60 * 60_000;
const MAX_BACK_OFF_MS = 60_000;
const MAX_DOUBLINGS = 6;

export const nextPoll = ({ poll, expectedDurationMs = 0, operation, now, answer }: PolledJob): PollNext => {
  // The far side has never heard of it, or has forgotten it: only a look-up by key can tell more.
  if (answer === 'notFound') return { kind: 'unknown' };
  const everyMs = poll?.everyMs ?? QUIET_EVERY_MS;
  const limitMs = poll?.limitMs ?? Math.max(QUIET_LIMIT_MS, 2 * expectedDurationMs);
  const leftMs = (operation.dispatchedAt ?? now) + limitMs - now;
  if (leftMs <= 0) return { kind: 'unknown' };
  const pauseMs = answer === 'cannotTell' ? backOffMs(everyMs, operation.polls) : everyMs;
  return { kind: 'poll', afterMs: Math.min(pauseMs, leftMs) };
};

/** A status that cannot be asked for is asked for less and less often, until the limit. */
const backOffMs = (everyMs: number, polls: number): number =>
  Math.max(everyMs, Math.min(everyMs * 2 ** Math.min(polls, MAX_DOUBLINGS), MAX_BACK_OFF_MS));
