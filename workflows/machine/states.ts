/** The names of every state, phase and terminal. Types are derived from these lists; nothing writes a name twice. */

export const TERMINALS = [
  'SUCCEEDED',
  'FAILED',
  'BUDGET_EXHAUSTED',
  'EXPIRED',
  'CANCELLED',
  'CANCEL_UNKNOWN',
  'HANDED_OFF',
] as const;

export const ACTIVE_STATES = [
  'READY',
  'MODEL_RUNNING',
  'VALIDATING',
  'TOOL_RUNNING',
  'WAITING_TOOL',
  'WAITING_USER',
  'FINALIZING',
] as const;

export const STATES = [...ACTIVE_STATES, ...TERMINALS] as const;

/**
 * Where one call of the open candidate stands.
 * JUDGING no verdict yet; ASKING a wait is open for it; DUE may be sent now; SENDING its read or dispatch activity is in
 * flight; PENDING accepted, running, unknown, in back-off, or held behind another write on its object; ENDED has its result.
 */
export const PHASES = ['JUDGING', 'ASKING', 'DUE', 'SENDING', 'PENDING', 'ENDED'] as const;

export const WAIT_KINDS = ['question', 'approval', 'acceptance', 'reconciliation', 'handoff'] as const;

export type Terminal = (typeof TERMINALS)[number];
export type State = (typeof STATES)[number];
export type Phase = (typeof PHASES)[number];
export type WaitKind = (typeof WAIT_KINDS)[number];

const terminals: ReadonlySet<State> = new Set(TERMINALS);

export const isTerminal = (state: State): state is Terminal => terminals.has(state);
