/** `runs result`: the result of a run that has ended, the same for ever, save for a resolution's next version. */
import type { Action } from '../../context';
import { CommandFailure } from '../../errors';
import { withServices } from '../../services';
import { modelLine } from '../../view/model-line';
import { renderResult } from '../../view/result-view';
import { readRecord } from '../../view/run-record';
import { buildReport } from '../../view/run-report';
import type { OneRunOptions } from './scope';

export const runsResult: Action<OneRunOptions> = ({ run, tenant, json }, context) =>
  withServices(context, async (services) => {
    const record = await readRecord({ ...services, tenant }, run);
    if (record.result === undefined) throw notEnded(run, record.details.row.state);
    const { output } = context;
    output.note(output.noteColors.dim(modelLine(record.model)));
    if (json === true) output.printJson(buildReport(record));
    else for (const line of renderResult(record, output.colors)) output.print(line);
    return 0;
  });

const notEnded = (run: string, state: string): CommandFailure =>
  new CommandFailure(
    'run.not_ended',
    `run: got ${run} in state ${state}, expected one that has ended: wait for it with \`holdfast runs watch ${run}\``,
  );
