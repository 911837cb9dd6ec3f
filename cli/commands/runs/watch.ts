/** `runs watch`: the journal as it grows, until the run ends; with `--json` one line of JSON for each of its lines. */
import type { Action, CliContext } from '../../context';
import { withServices, type Services } from '../../services';
import { followRun } from '../../view/follow-run';
import { renderResult } from '../../view/result-view';
import { readRecord } from '../../view/run-record';
import { watchRun } from '../../view/watch-run';
import { FOLLOW_EVERY_MS, isSuccess, type OneRunOptions } from './scope';

export const runsWatch: Action<OneRunOptions> = (options, context) =>
  withServices(context, (services) => (options.json === true ? watchAsJson : watchAsText)(options, services, context));

const watchAsText = async (
  { run, tenant }: OneRunOptions,
  services: Services,
  { output }: CliContext,
): Promise<number> => {
  const reader = { ...services, tenant };
  await watchRun({ ...reader, run, everyMs: FOLLOW_EVERY_MS, signal: never() }, output);
  const record = await readRecord(reader, run);
  for (const line of renderResult(record, output.colors)) output.print(line);
  return isSuccess(record.details.row) ? 0 : 1;
};

const watchAsJson = async (
  { run, tenant }: OneRunOptions,
  { runs }: Services,
  { output }: CliContext,
): Promise<number> => {
  let exitCode = 1;
  const following = followRun({ runs, tenant, run, everyMs: FOLLOW_EVERY_MS, signal: never() });
  for await (const { row, entries } of following) {
    for (const entry of entries) output.print(JSON.stringify(entry));
    exitCode = isSuccess(row) ? 0 : 1;
  }
  return exitCode;
};

/** Ctrl-C ends the program, which has started nothing. */
const never = (): AbortSignal => new AbortController().signal;
