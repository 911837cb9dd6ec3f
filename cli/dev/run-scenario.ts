/** One scenario on a running stack: prepared, started, watched to its end, told. */
import type { RunRow } from '../../store/rows';
import type { Services } from '../services';
import { CommandFailure } from '../errors';
import { formatNumberOf, oneLine } from '../view/format';
import { SCRIPTED } from '../view/model-line';
import { readRecord } from '../view/run-record';
import { renderResult } from '../view/result-view';
import { watchRun } from '../view/watch-run';
import { prepareScenario, readEffects } from './example-control';
import { buildDevReport, type DevReport } from './judge-run';
import type { DevPlan } from './run-dev';
import type { DevStack } from './start-stack';

const TENANT = 'default';
const SUBJECT = 'developer';
const EVERY_MS = 100;

export interface ScenarioRun {
  readonly plan: DevPlan;
  readonly stack: DevStack;
  readonly services: Services;
  readonly dataDir: string;
}

/** 0 where it came out as the scenario says. */
export const runScenario = async (given: ScenarioRun): Promise<number> => {
  const { plan, stack, services } = given;
  const { example, scenario, view, output, options } = plan;
  requireAgent(given);
  await tellUnfinished(given);
  await prepareScenario(example, scenario, stack);
  const row = await startRun(given);
  tellStart(given, row);
  const reader = { ...services, tenant: TENANT };
  const { run } = row.ref;
  await watchRun({ ...reader, run, everyMs: EVERY_MS, signal: timeLimit(plan) }, view);
  const record = await readRecord(reader, run);
  if (record.details.row.terminal === undefined) tellUnended(record.details.row, plan);
  const effects = await readEffects(example, stack, row.ref.run);
  const report = buildDevReport({ scenario, record, effects });
  for (const line of ['', ...renderResult(record, view.colors), ...renderVerdict(report, given)]) view.print(line);
  if (options.json === true) output.printJson(report);
  return report.expected.isMet ? 0 : 1;
};

const requireAgent = ({ plan: { scenario }, stack: { agents } }: ScenarioRun): void => {
  if (agents.includes(scenario.agent)) return;
  throw new CommandFailure(
    'agent.unknown',
    `scenario ${scenario.name}, agent: got '${scenario.agent}', expected one of ${agents.join(', ')}`,
  );
};

/** Runs of an earlier session go on where they were: nobody is to wonder about them. */
const tellUnfinished = async ({ services, plan: { output } }: ScenarioRun): Promise<void> => {
  const { rows } = await services.runs.list(TENANT, { limit: 100 });
  const open = rows.filter(({ terminal }) => terminal === undefined).map(({ ref }) => ref.run);
  if (open.length > 0) output.note(`Runs of earlier sessions go on: ${open.join(', ')}`);
};

const startRun = ({ services, plan: { scenario } }: ScenarioRun): Promise<RunRow> => {
  const { agent, goal, data, limits } = scenario;
  const request = { agent, goal, data, ...(limits === undefined ? {} : { limits }) };
  return services.runs.start({ tenant: TENANT, subject: SUBJECT }, request);
};

const tellStart = ({ plan: { view, scenario, isOffline } }: ScenarioRun, { ref, agent, task }: RunRow): void => {
  const { bold, dim } = view.colors;
  view.print(`${bold(scenario.name)} ${dim(`(${scenario.id})`)}  ${scenario.title}`);
  view.print(`${bold(ref.run)}  agent ${agent}  ${dim(`model: ${isOffline ? SCRIPTED : 'real'}`)}`);
  view.print(`  “${oneLine(task.goal, 200)}”`);
  view.print('');
};

const tellUnended = ({ state }: RunRow, { options, output }: DevPlan): void => {
  output.note(
    `The run did not end within ${options.timeout} s (--timeout) and is in ${state}; the next stack goes on with it.`,
  );
};

/** A stack that stays up lets a run take its time. */
const timeLimit = ({ isStaying, options }: DevPlan): AbortSignal =>
  isStaying ? new AbortController().signal : AbortSignal.timeout(options.timeout * 1000);

const renderVerdict = (
  report: DevReport,
  { plan: { view, isStaying }, stack, dataDir }: ScenarioRun,
): readonly string[] => {
  const { bold, dim, green, red } = view.colors;
  const { expected, desk, run } = report;
  const effects = desk.effects.length === 0 ? ['    none'] : desk.effects.map((each) => `    ${describeEffect(each)}`);
  const verdict = expected.isMet
    ? green(`  As the scenario says: ${expected.terminal}, ${formatNumberOf(desk.effects.length, 'effect')}`)
    : red(`  Not as the scenario says: ${expected.differences.join('; ')}`);
  const look = isStaying
    ? [
        `    ${stack.serviceUrl}/runs/${run}`,
        `    npx holdfast runs get ${run}`,
        ...(stack.temporal.uiUrl === undefined
          ? []
          : [`    ${stack.temporal.uiUrl}/namespaces/${stack.temporal.namespace}/workflows/${run}`]),
      ]
    : [`    npx holdfast dev --stay   and, while it runs,   npx holdfast runs get ${run}`];
  return [
    bold(`  Effects outside ${dim('(counted there)')}`),
    ...effects,
    verdict,
    bold('  Look further'),
    ...look,
    `    data and logs in ${dataDir}`,
  ];
};

/** Whatever the example lists, by name: `kind reassign  ticket T100  …`. */
const describeEffect = (effect: DevReport['desk']['effects'][number]): string =>
  Object.entries(effect)
    .map(([name, value]) => `${name} ${oneLine(typeof value === 'string' ? value : JSON.stringify(value), 80)}`)
    .join('  ');
