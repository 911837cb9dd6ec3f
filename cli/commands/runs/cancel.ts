/** `runs cancel`: from its return on nothing new is sent; the run's end follows. */
import type { Action } from '../../context';
import { withServices } from '../../services';
import type { OneRunOptions } from './scope';

/** The mark in the row holds, whether or not the run could be woken at once. */
export const runsCancel: Action<OneRunOptions> = (options, context) =>
  withServices(context, async ({ runs }) => {
    const { run, tenant, json } = options;
    const { output } = context;
    const { isSignalled } = await runs.cancel(tenant, run);
    const { state } = await runs.get(tenant, run);
    if (json === true) output.printJson({ run, state, isCancelRequested: true, isSignalled });
    else output.print(`${run}: cancel asked for; nothing new is sent from now on`);
    if (!isSignalled) output.note('the run could not be woken at once: a worker does it when Temporal answers');
    return 0;
  });
