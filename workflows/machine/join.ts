/** JOIN: the state that the calls of the open candidate add up to. */
import type { Run } from './run';
import type { State } from './states';

export const join = (run: Run): State => {
  const isAny = (...phases: readonly string[]): boolean => run.calls.some((call) => phases.includes(call.phase));
  if (isAny('DUE', 'SENDING')) return 'TOOL_RUNNING';
  if (isAny('ASKING')) return 'WAITING_USER';
  if (isAny('PENDING')) return 'WAITING_TOOL';
  if (run.ending !== undefined) return 'FINALIZING';
  return run.waits.length > 0 ? 'WAITING_USER' : 'READY';
};
