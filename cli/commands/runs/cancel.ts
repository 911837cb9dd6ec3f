/** `runs cancel`: from its return on nothing new is sent; the run's end follows. */
import type { Runs } from '../../../client/runs';
import type { Action } from '../../context';
import { CommandFailure } from '../../errors';
import { withServices } from '../../services';
import type { OneRunOptions } from './scope';

export const runsCancel: Action<OneRunOptions> = (options, context) =>
  withServices(context, async ({ runs }) => {
    const { run, tenant, json } = options;
    await cancel(runs, options);
    const { state } = await runs.get(tenant, run);
    if (json === true) context.output.printJson({ run, state, isCancelRequested: true });
    else context.output.print(`${run}: cancel asked for; nothing new is sent from now on`);
    return 0;
  });

/** The mark in the row comes first and holds, whether or not the run could be woken. */
const cancel = async (runs: Runs, { run, tenant }: OneRunOptions): Promise<void> => {
  const before = await runs.get(tenant, run);
  try {
    await runs.cancel(tenant, run);
  } catch (cause) {
    const { cancelRequestedAt } = await runs.get(tenant, run);
    if (before.terminal !== undefined || cancelRequestedAt === undefined) throw cause;
    const message = `${run}: the cancel is recorded, so nothing new is sent, but the run could not be woken: ask again when Temporal answers`;
    throw new CommandFailure('engine.unavailable', message, { cause });
  }
};
