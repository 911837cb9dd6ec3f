/** `runs get`: all that is recorded of one run. */
import type { Action } from '../../context';
import { withServices } from '../../services';
import { getDocument } from '../../view/details-document';
import { renderDetails } from '../../view/details-view';
import { readRecord } from '../../view/run-record';
import type { OneRunOptions } from './scope';

export const runsGet: Action<OneRunOptions> = ({ run, tenant, json }, context) =>
  withServices(context, async (services) => {
    const record = await readRecord({ ...services, tenant }, run);
    const { output } = context;
    if (json === true) output.printJson(getDocument(record));
    else for (const line of renderDetails(record, output.colors)) output.print(line);
    return 0;
  });
