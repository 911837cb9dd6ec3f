/** Whether an event answers something that the run no longer waits for. Such an event is journaled and changes nothing. */
import { findCall } from './calls';
import type { RunEvent } from './events';
import type { Run } from './run';

export const isStale = (run: Run, event: RunEvent): boolean => {
  if ('step' in event && event.step !== run.step) return true;
  if ('attempt' in event && event.attempt !== run.attempt?.number) return true;
  if ('wait' in event && !run.waits.some((wait) => wait.id === event.wait)) return true;
  if ('check' in event && event.check !== run.check) return true;
  if ('planVersion' in event && event.planVersion <= run.planVersion) return true;
  // The candidate's verdict, which names no call, comes once; later only calls have matches.
  if (event.kind === 'objectAmbiguous' && event.ordinal === undefined) return run.state !== 'VALIDATING';
  if ('ordinal' in event) {
    const call = findCall(run, event.ordinal);
    if (call === undefined || call.phase === 'ENDED') return true;
    // Something newer is known of it, and something else comes next.
    return event.kind === 'resendDue' && call.next?.action !== 'resend';
  }
  return false;
};
