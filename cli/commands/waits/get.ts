/** `waits get`: all that is to be seen before a wait is answered. */
import type { Action } from '../../context';
import { renderWait, waitDocument } from '../../view/wait-view';
import { callerOf, withWaits, type OneWaitOptions } from './with-waits';

export const waitsGet: Action<OneWaitOptions> = (options, context) =>
  withWaits(context, options, async (waits) => {
    const details = await waits.get(callerOf(options), options.wait);
    const { output } = context;
    if (options.json === true) output.printJson(waitDocument(details));
    else for (const line of renderWait(details, output.colors)) output.print(line);
    return 0;
  });
