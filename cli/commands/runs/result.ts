/** `runs result`: the result of a run that has ended, the same for ever, save for a resolution's next version. */
import type { Action } from '../../context';
import { CommandFailure, UsageError } from '../../errors';
import { withServices } from '../../services';
import { modelLine } from '../../view/model-line';
import { renderResult } from '../../view/result-view';
import { readRecord, type RunRecord } from '../../view/run-record';
import { buildReport } from '../../view/run-report';
import type { OneRunOptions } from './scope';

export interface ResultOptions extends OneRunOptions {
  readonly version?: number;
}

export const runsResult: Action<ResultOptions> = ({ run, tenant, json, version }, context) =>
  withServices(context, async (services) => {
    const record = await readRecord({ ...services, tenant }, run, version);
    if (record.result === undefined) throw whyNone(run, record, version);
    const { output } = context;
    output.note(output.noteColors.dim(modelLine(record.model)));
    if (json === true) output.printJson(buildReport(record));
    else for (const line of renderResult(record, output.colors)) output.print(line);
    return 0;
  });

const whyNone = (run: string, { details: { row } }: RunRecord, version: number | undefined): Error =>
  row.terminal === undefined || version === undefined
    ? notEnded(run, row.state)
    : new UsageError(`--version: got ${version}, expected a version that the result of ${run} has had`);

const notEnded = (run: string, state: string): CommandFailure =>
  new CommandFailure(
    'run.not_ended',
    `run: got ${run} in state ${state}, expected one that has ended: wait for it with \`holdfast runs watch ${run}\``,
  );
