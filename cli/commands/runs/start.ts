/** `runs start`: one task for one agent, and on `--wait` its way to the end. */
import type { StartRequest } from '../../../client/start-request';
import type { RunRow } from '../../../store/rows';
import type { Action, CliContext } from '../../context';
import { UsageError } from '../../errors';
import { forJson } from '../../output';
import { readJsonOption } from '../../read-json-option';
import { withServices, type Services } from '../../services';
import { renderResult } from '../../view/result-view';
import { readRecord } from '../../view/run-record';
import { buildReport } from '../../view/run-report';
import { watchRun } from '../../view/watch-run';
import { FOLLOW_EVERY_MS, isSuccess, type ScopeOptions } from './scope';

export interface StartOptions extends ScopeOptions {
  readonly agent: string;
  readonly goal: string;
  readonly data?: string;
  readonly limits?: string;
  readonly role: readonly string[];
  readonly idempotencyKey?: string;
  readonly wait?: true;
}

export const runsStart: Action<StartOptions> = (options, context) => {
  const request = toRequest(options);
  return withServices(context, async (services) => {
    requireKnownAgent(options.agent, services);
    await services.requireEngine();
    const { tenant, subject, role, idempotencyKey } = options;
    const caller = { tenant, subject, roles: role };
    const row = await services.runs.start(caller, request, idempotencyKey === undefined ? {} : { idempotencyKey });
    return options.wait === true ? waitForEnd(row, { services, options, context }) : tellStarted(row, options, context);
  });
};

const toRequest = ({ agent, goal, data, limits }: StartOptions): StartRequest => ({
  agent,
  goal,
  ...(data === undefined ? {} : { data: readJsonOption('--data', data) }),
  ...(limits === undefined ? {} : { limits: readJsonOption('--limits', limits) }),
});

/** The development stack says what its worker serves; elsewhere a worker finds out, and the run ends as `agent.unknown`. */
const requireKnownAgent = (agent: string, { stack }: Services): void => {
  if (stack === undefined || stack.agents.includes(agent)) return;
  throw new UsageError(`--agent: got '${agent}', expected one of ${stack.agents.join(', ')}`);
};

const tellStarted = (row: RunRow, { json, tenant }: StartOptions, { output }: CliContext): number => {
  const { run } = row.ref;
  if (json === true) output.printJson({ run, tenant, state: row.state });
  else {
    output.print(run);
    output.note(`watch it with: npx holdfast runs watch ${run}${tenant === 'default' ? '' : ` --tenant ${tenant}`}`);
  }
  return 0;
};

interface Waiting {
  readonly services: Services;
  readonly options: StartOptions;
  readonly context: CliContext;
}

const waitForEnd = async (row: RunRow, { services, options, context: { output } }: Waiting): Promise<number> => {
  const { tenant, json } = options;
  const { run } = row.ref;
  const reader = { ...services, tenant };
  output.note(run);
  const signal = new AbortController().signal;
  await watchRun({ ...reader, run, everyMs: FOLLOW_EVERY_MS, signal }, json === true ? forJson(output) : output);
  const record = await readRecord(reader, run);
  if (json === true) output.printJson(buildReport(record));
  else for (const line of renderResult(record, output.colors)) output.print(line);
  return isSuccess(record.details.row) ? 0 : 1;
};
