/** Signals and queries of an agent run. Signals only wake it: what they are about is in the store already. */
import type { Run } from '../machine/run';
import type { Terminal } from '../machine/states';
import type { OperationId, WaitId } from './ids';

export const AGENT_RUN = 'agentRun';
export const SIGNALS = { respond: 'respond', toolEvent: 'toolEvent', message: 'message', cancel: 'cancel' } as const;
export const QUERIES = { snapshot: 'snapshot' } as const;

export interface RespondSignal {
  readonly wait: WaitId;
}
export interface ToolEventSignal {
  readonly operation: OperationId;
}

/** What the workflow returns. Its engine status is Completed whatever the terminal. */
export interface RunOutcome {
  readonly terminal: Terminal;
  readonly reason: string;
}

export type Snapshot = Pick<
  Run,
  'id' | 'state' | 'seq' | 'step' | 'attempt' | 'calls' | 'waits' | 'totals' | 'planVersion' | 'ending'
>;

/** Search attributes of a run, all of type Keyword. */
export const SEARCH_ATTRIBUTES = { state: 'HoldfastState', tenant: 'HoldfastTenant', agent: 'HoldfastAgent' } as const;
