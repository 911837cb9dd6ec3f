/** `runs get`, `runs watch` and `runs result`: what is recorded of one run. */
import { getDocument } from '../../view/details-document';
import { renderDetails } from '../../view/details-view';
import { followRun } from '../../view/follow-run';
import { modelLine } from '../../view/model-line';
import { renderResult } from '../../view/result-view';
import { readRecord } from '../../view/run-record';
import { buildReport } from '../../view/run-report';
import { watchRun } from '../../view/watch-run';
import type { Action, CliContext } from '../../context';
import { CommandFailure } from '../../errors';
import { withServices, type Services } from '../../services';
import { isSuccess, type ScopeOptions } from './scope';

export interface ReadOptions extends ScopeOptions {
  readonly run: string;
}

export const runsGet: Action<ReadOptions> = ({ run, tenant, json }, context) =>
  withServices(context, async (services) => {
    const record = await readRecord({ ...services, tenant }, run);
    const { output } = context;
    if (json === true) output.printJson(getDocument(record));
    else for (const line of renderDetails(record, output.colors)) output.print(line);
    return 0;
  });

export const runsResult: Action<ReadOptions> = ({ run, tenant, json }, context) =>
  withServices(context, async (services) => {
    const record = await readRecord({ ...services, tenant }, run);
    const { row } = record.details;
    if (record.result === undefined) {
      const mend = `wait for it with \`holdfast runs watch ${run}\``;
      throw new CommandFailure(
        'run.not_ended',
        `run: got ${run} in state ${row.state}, expected one that has ended: ${mend}`,
      );
    }
    const { output } = context;
    output.note(output.noteColors.dim(modelLine(record.model)));
    if (json === true) output.printJson(buildReport(record));
    else for (const line of renderResult(record, output.colors)) output.print(line);
    return 0;
  });

const EVERY_MS = 250;

/** With `--json` one line of JSON for each line of the journal. */
export const runsWatch: Action<ReadOptions> = (options, context) =>
  withServices(context, async (services) => {
    const { run, tenant } = options;
    const reader = { ...services, tenant };
    if (options.json === true) return watchAsLines(options, services, context);
    const signal = new AbortController().signal;
    await watchRun({ ...reader, run, everyMs: EVERY_MS, signal }, context.output);
    const record = await readRecord(reader, run);
    for (const line of renderResult(record, context.output.colors)) context.output.print(line);
    return isSuccess(record.details.row) ? 0 : 1;
  });

const watchAsLines = async (
  { run, tenant }: ReadOptions,
  { runs }: Services,
  { output }: CliContext,
): Promise<number> => {
  const signal = new AbortController().signal;
  let exitCode = 1;
  for await (const { row, entries } of followRun({ runs, tenant, run, everyMs: EVERY_MS, signal })) {
    for (const entry of entries) output.print(JSON.stringify(entry));
    exitCode = isSuccess(row) ? 0 : 1;
  }
  return exitCode;
};
