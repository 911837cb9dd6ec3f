/**
 * The call table: where one call of the open candidate goes.
 *
 *   cleared  it may be sent: allowed, approved, released by the write before it, or its back-off is over
 *   asked    a person has to decide: approval, changed terms, an outcome that nobody can prove
 *   sent     its read or dispatch activity was started
 *   pended   accepted, running, unknown, not executed, or held behind another write
 *   ended    it has its result, whatever that is
 *
 * `ignore`: late or duplicate. `reject`: our own bug; no message and no activity failure reaches it.
 */
import type { Phase } from './states';

export const CALL_EVENTS = ['cleared', 'asked', 'sent', 'pended', 'ended'] as const;
export type CallEvent = (typeof CALL_EVENTS)[number];
export type CallCell = Phase | 'ignore' | 'reject';

// prettier-ignore
export const CALL_TRANSITIONS = {
  JUDGING: { cleared: 'DUE',    asked: 'ASKING', sent: 'reject',  pended: 'reject',  ended: 'ENDED'  },
  ASKING:  { cleared: 'DUE',    asked: 'ignore', sent: 'reject',  pended: 'ignore',  ended: 'ENDED'  },
  DUE:     { cleared: 'ignore', asked: 'reject', sent: 'SENDING', pended: 'PENDING', ended: 'ENDED'  },
  SENDING: { cleared: 'ignore', asked: 'ASKING', sent: 'reject',  pended: 'PENDING', ended: 'ENDED'  },
  PENDING: { cleared: 'DUE',    asked: 'ASKING', sent: 'reject',  pended: 'PENDING', ended: 'ENDED'  },
  ENDED:   { cleared: 'ignore', asked: 'ignore', sent: 'reject',  pended: 'ignore',  ended: 'ignore' },
} as const satisfies Record<Phase, Record<CallEvent, CallCell>>;
