/** JOIN: the state that the calls of the open candidate add up to. */
import type { Run } from './run';
import type { State } from './states';

export const join = (run: Pick<Run, 'calls' | 'waits' | 'ending'>): State => {
  const isAny = (...phases: readonly string[]): boolean => run.calls.some((call) => phases.includes(call.phase));
  if (isAny('DUE', 'SENDING')) return 'TOOL_RUNNING';
  if (isAny('ASKING')) return 'WAITING_USER';
  if (isAny('PENDING')) return 'WAITING_TOOL';
  // A question, or the acceptance of an intended success: an end that is due has closed them all.
  if (run.waits.length > 0) return 'WAITING_USER';
  return run.ending === undefined ? 'READY' : 'FINALIZING';
};
