/**
 * `holdfast dev`: a whole stack on this machine, and one scenario on it, shown as it happens. What it starts, it ends,
 * whatever ends it. Results go to standard output, everything about starting and ending to standard error.
 */
import type { Settings } from '../../config/settings';
import type { Action } from '../context';
import { UsageError } from '../errors';
import { forJson, type Output } from '../output';
import { openServices } from '../services';
import { commandFor } from './command-hint';
import { DEFAULT_EXAMPLE, findDevScenario, loadDevExample, type DevExample, type DevScenario } from './dev-example';
import { listScenarios } from './list-scenarios';
import { pageLink } from './page-access';
import { runScenario } from './run-scenario';
import { openSession, type Session } from './session';
import { writeStackFile } from './stack-file';
import { startStack, type DevStack } from './start-stack';
import { formatDuration } from '../view/format';

export interface DevOptions {
  readonly scenario: string;
  readonly scenarios?: true;
  readonly once?: true;
  readonly stay?: true;
  /** False: no scenario is played. */
  readonly run: boolean;
  readonly fresh?: true;
  readonly agents?: string;
  readonly offline?: true;
  /** Seconds. */
  readonly timeout: number;
  readonly json?: true;
}

export const runDev: Action<DevOptions> = async (options, { output, settings: load }) => {
  const example = await loadDevExample(options.agents ?? DEFAULT_EXAMPLE);
  if (options.scenarios === true) return listScenarios(example, options.json === true, output);
  const settings = load();
  const plan = planDev(options, { example, settings, output });
  if (options.fresh === true && settings.databaseUrl !== undefined) {
    output.note('--fresh deletes what is in HOLDFAST_DATA_DIR; the database of DATABASE_URL is left as it is.');
  }
  const session = await openSession(settings, { isFresh: options.fresh === true, output });
  try {
    return await runOn(session, plan);
  } catch (error) {
    // What fails while everything is being ended fails because of that; the exit handlers have the last word.
    if (session.isEnding()) await forever();
    throw error;
  } finally {
    await session.close();
  }
};

export interface DevPlan {
  readonly options: DevOptions;
  readonly settings: Settings;
  readonly example: DevExample;
  readonly scenario: DevScenario;
  readonly isOffline: boolean;
  /** Until a signal; else the stack ends with the run. */
  readonly isStaying: boolean;
  /** A person sits at the terminal, and may be asked. */
  readonly isAttended: boolean;
  /** For people: standard output, or with `--json` standard error. */
  readonly view: Output;
  readonly output: Output;
}

const planDev = (
  options: DevOptions,
  { example, settings, output }: Pick<DevPlan, 'example' | 'settings' | 'output'>,
): DevPlan => {
  const scenario = findDevScenario(example, options.scenario);
  if (!options.run && (options.once === true || options.json === true)) {
    throw new UsageError('--no-run: got it with --once or --json, expected it without: they tell of a run');
  }
  const isOffline = options.offline === true || settings.model.apiKey === undefined;
  if (options.run && !isOffline && scenario.modelFaults.length > 0) {
    throw new UsageError(
      `--scenario: got '${scenario.name}', which makes the model fail; a real one cannot be made to: add --offline`,
    );
  }
  const isJson = options.json === true;
  const isAttended = output.isInteractive && options.once !== true && !isJson;
  const isStaying = options.stay === true || !options.run || isAttended;
  const view = isJson ? forJson(output) : output;
  return { options, settings, example, scenario, isOffline, isStaying, isAttended, view, output };
};

const runOn = async (session: Session, plan: DevPlan): Promise<number> => {
  const { options, settings, example, isOffline, isStaying, output } = plan;
  const startedAt = performance.now();
  const onProgress = (message: string): void => {
    output.note(output.noteColors.dim(`  ${message}`));
  };
  const { layout, group } = session;
  const stack = await startStack({ layout, group, settings, example, isOffline, hasUi: isStaying, onProgress });
  tellOthers(session, plan, stack);
  output.note(output.noteColors.dim(`  The stack is ready (${formatDuration(performance.now() - startedAt)})`));
  output.note(`  The page: ${stack.serviceUrl}\n  Signed in: ${pageLink(stack.serviceUrl, stack.token)}`);
  if (!options.run) {
    output.note(`  No scenario is played. To start a run:   ${commandFor(layout.root)} runs start --help`);
    return await stayUp(session, output);
  }
  const { databaseUrl, temporal } = stack;
  const services = openServices({ databaseUrl, temporal: addressOf(temporal), taskQueue: settings.taskQueue });
  try {
    const run = runScenario({ plan, stack, services, dataDir: layout.root });
    const exitCode = await Promise.race([run, session.broken]);
    if (!isStaying) return exitCode;
    return await stayUp(session, output);
  } finally {
    await services.close();
  }
};

const stayUp = ({ broken }: Session, output: Output): Promise<never> => {
  output.note('The stack stays up; Ctrl-C ends it.');
  return broken;
};

const addressOf = ({ address, namespace }: DevStack['temporal']): { address: string; namespace: string } => ({
  address,
  namespace,
});

/** Commands that are started meanwhile find the stack by its file. */
const tellOthers = ({ layout }: Session, { settings }: DevPlan, stack: DevStack): void => {
  const { databaseUrl, temporal, modelUrl, processes, agents, agentsModule, tokenKey } = stack;
  writeStackFile(layout.root, {
    startedAt: new Date().toISOString(),
    databaseUrl,
    temporal: addressOf(temporal),
    uiUrl: temporal.uiUrl ?? null,
    taskQueue: settings.taskQueue,
    modelUrl: modelUrl ?? null,
    agents: [...agents],
    agentsModule,
    tokenKey,
    processes: { ...processes },
    logDir: layout.logDir,
  });
};

const forever = (): Promise<never> => new Promise<never>(() => undefined);
