/** One scenario on a running stack: prepared, started, watched to its end, told. */
import type { RunRow } from '../../store/rows';
import type { Services } from '../services';
import { CommandFailure } from '../errors';
import { formatNumberOf, oneLine } from '../view/format';
import { SCRIPTED } from '../view/model-line';
import { createPatience, type Patience } from '../view/patience';
import { readRecord, type RunRecord } from '../view/run-record';
import { renderResult } from '../view/result-view';
import { watchRun } from '../view/watch-run';
import { commandFor } from './command-hint';
import { prepareScenario, readEffects, type ExampleEffect } from './example-control';
import { buildDevReport, type DevReport } from './judge-run';
import { answererOf, attendRun, NOBODY_ASKED, SCENARIO_SUBJECT } from './people/attend-run';
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
  const signal = timeLimit(plan);
  const patiently = patienceOf(plan, signal);
  await patiently(() => tellUnfinished(given));
  await prepareScenario(example, scenario, stack);
  const row = await startRun(given);
  tellStart(given, row);
  const reader = { ...services, tenant: TENANT };
  const { run } = row.ref;
  const { afterPage, unasked } = attendRun(given, run, { signal, patiently });
  await watchRun({ ...reader, run, everyMs: EVERY_MS, signal, patiently, afterPage }, view);
  const record = await patiently(() => readRecord(reader, run));
  if (record.details.row.terminal === undefined) tellUnended(record.details.row, plan);
  const [effects, waits] = await Promise.all([
    readEffects(example, stack, run),
    patiently(() => reportWaits(services, record.details.waits)),
  ]);
  const report = buildDevReport({ scenario, record, effects, waits, unasked: unasked().map(({ kind }) => kind) });
  for (const line of ['', ...renderResult(record, view.colors), ...renderVerdict(report, given)]) view.print(line);
  if (options.json === true) output.printJson(report);
  return report.expected.isMet ? 0 : 1;
};

const reportWaits = ({ store }: Services, waits: RunRecord['details']['waits']): Promise<DevReport['waits']> =>
  Promise.all(
    waits.map(async ({ ref, id, kind, state, responseId }) => {
      const responses = responseId === undefined ? [] : await store.waits.responses(ref, id);
      const answeredBy = responses.find((each) => each.id === responseId)?.principal.subject ?? null;
      return { id, kind, state, answeredBy };
    }),
  );

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

const AWAY_EVERY_MS = 500;

const patienceOf = ({ output }: DevPlan, signal: AbortSignal): Patience =>
  createPatience({
    everyMs: AWAY_EVERY_MS,
    signal,
    onAway: () => {
      output.note('The database is away, waiting');
    },
    onBack: () => {
      output.note('The database is back');
    },
  });

const renderVerdict = (report: DevReport, { plan, stack, dataDir }: ScenarioRun): readonly string[] => {
  const { view, isStaying } = plan;
  const { bold, dim } = view.colors;
  const { desk, run } = report;
  const command = commandFor(dataDir);
  const look = isStaying
    ? [
        `    ${stack.serviceUrl}/runs/${run}`,
        `    ${command} runs get ${run}`,
        ...(stack.temporal.uiUrl === undefined
          ? []
          : [`    ${stack.temporal.uiUrl}/namespaces/${stack.temporal.namespace}/workflows/${run}`]),
      ]
    : [`    ${command} dev --stay   and, while it runs,   ${command} runs get ${run}`];
  return [
    bold(`  Effects outside ${desk.effects === null ? '' : dim('(counted there)')}`.trimEnd()),
    ...renderEffects(report),
    ...renderWaits(report, plan),
    describeVerdict(report, plan),
    bold('  Look further'),
    ...look,
    `    data and logs in ${dataDir}`,
  ];
};

const renderEffects = ({ desk: { effects } }: DevReport): readonly string[] => {
  if (effects === null) return ['    not counted: the example names no effectsPath'];
  return effects.length === 0 ? ['    none'] : effects.map((each) => `    ${describeEffect(each)}`);
};

const renderWaits = ({ waits }: DevReport, { view: { colors } }: DevPlan): readonly string[] =>
  waits.length === 0
    ? []
    : [
        colors.bold('  Asked of people'),
        ...waits.map(({ id, kind, state, answeredBy }) => {
          const who = answeredBy === SCENARIO_SUBJECT ? NOBODY_ASKED : `answered by ${oneLine(answeredBy ?? 'nobody')}`;
          return `    ${kind} ${id}  ${state}  ${colors.yellow(who)}`;
        }),
      ];

const describeVerdict = ({ expected, desk, waits }: DevReport, plan: DevPlan): string => {
  const { green, red, yellow } = plan.view.colors;
  const differences = expected.differences.join('; ');
  if (expected.isMet) {
    const effects =
      desk.effects === null || expected.effects === null
        ? 'effects not compared'
        : formatNumberOf(desk.effects.length, 'effect');
    return green(`  As the scenario says: ${expected.terminal}, ${effects}`);
  }
  return answererOf(plan) !== 'scenario' && waits.length > 0
    ? yellow(`  Not as the scenario says, which has answers of its own: ${differences}`)
    : red(`  Not as the scenario says: ${differences}`);
};

/** Whatever the example lists, by name: `kind reassign  ticket T100  …`. */
const describeEffect = (effect: ExampleEffect): string =>
  Object.entries(effect)
    .map(([name, value]) => `${name} ${oneLine(typeof value === 'string' ? value : JSON.stringify(value), 80)}`)
    .join('  ');
