/**
 * Starts everything that a run needs on this machine: what does not need one another at the same time, the worker last.
 * Whatever has been started is in the group when something fails, so that it is ended with the rest.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { environmentOfDevWorker, environmentOfOthers, readSearchPath } from '../../config/environment';
import type { Settings } from '../../config/settings';
import { migrate } from '../../store/postgres';
import { SEARCH_ATTRIBUTE_TYPES } from '../search-attribute-types';
import { errorText } from '../stack/errors';
import type { DataDirLayout } from '../stack/data-dir';
import { startPostgres } from '../stack/postgres';
import type { ProcessGroup } from '../stack/process-group';
import { findTemporalCli } from '../stack/temporal-binary';
import { startTemporalServer, type TemporalServer } from '../stack/temporal-server';
import { formatDuration } from '../view/format';
import type { DevExample } from './dev-example';
import { keepCallbackSecret, startService, type CallbackSecret } from './start-service';
import { keepTokenSecret, makeToken, tokenVariables } from './page-access';
import { startKept } from './start-kept';
import { keepTokenKey } from './token-key';

export interface StackOptions {
  readonly layout: DataDirLayout;
  readonly group: ProcessGroup;
  readonly settings: Settings;
  readonly example: DevExample;
  /** The scripted model stands in. */
  readonly isOffline: boolean;
  /** With Temporal's own web page. */
  readonly hasUi: boolean;
  readonly onProgress: (message: string) => void;
}

interface Servers {
  readonly databaseUrl: string;
  readonly temporal: TemporalServer;
  /** Absent with a real model. */
  readonly modelUrl?: string;
  /** The example's own, by name. */
  readonly processes: Readonly<Record<string, string>>;
}

export interface DevStack extends Servers {
  /** What the worker serves. */
  readonly agents: readonly string[];
  /** Where they are loaded from, and the variables in which they find the example's processes. */
  readonly agentsModule: { readonly path: string; readonly environment: Record<string, string> };
  /** In base64. */
  readonly tokenKey: string;
  readonly serviceUrl: string;
  /** The developer's, for the service and its page. */
  readonly token: string;
}

export const startStack = async (options: StackOptions): Promise<DevStack> => {
  const callbackSecret = keepCallbackSecret(options.layout.stateDir);
  const [databaseUrl, temporal, modelUrl, processes] = await Promise.all([
    timed('PostgreSQL', options, () => startDatabase(options)),
    timed('Temporal', options, () => startEngine(options)),
    options.isOffline ? timed('scripted model', options, () => startModel(options)) : undefined,
    startProcesses(options, callbackSecret),
  ]);
  const servers = { databaseUrl, temporal, processes, ...(modelUrl === undefined ? {} : { modelUrl }) };
  const { example, settings, layout } = options;
  const tokenKey = settings.tokenKey === undefined ? keepTokenKey(layout.stateDir) : encodeKey(settings.tokenKey);
  const module = { path: example.modulePathOf(example.agents), environment: addressVariables(example, servers) };
  const environment = environmentOf(options, { ...servers, agentsModule: module, tokenKey });
  const tokenSecret = keepTokenSecret(layout.stateDir);
  const serviceUrl = await timed('service', options, () =>
    startService(options, callbackSecret, { ...environment, ...tokenVariables(tokenSecret) }),
  );
  const agents = await timed('worker', options, () =>
    startWorker(options, { ...environment, HOLDFAST_CALLBACK_BASE_URL: serviceUrl }),
  );
  const token = await makeToken(tokenSecret);
  return { ...servers, agents, agentsModule: module, tokenKey, serviceUrl, token };
};

const timed = async <T>(name: string, { onProgress }: StackOptions, start: () => Promise<T>): Promise<T> => {
  const startedAt = performance.now();
  const started = await start();
  onProgress(`${name} is ready (${formatDuration(performance.now() - startedAt)})`);
  return started;
};

const startDatabase = async ({ settings, layout, group, onProgress }: StackOptions): Promise<string> => {
  const url = settings.databaseUrl ?? (await startOwnDatabase(layout, group, onProgress));
  const done = await migrate(url);
  if (done.length > 0) onProgress(`Migrated the database: ${done.join(', ')}`);
  return url;
};

const startOwnDatabase = async (
  { postgresDir, logDir, runDir }: DataDirLayout,
  group: ProcessGroup,
  onProgress: (message: string) => void,
): Promise<string> => {
  const postgres = await startPostgres({ directory: postgresDir, logDir, runDir, database: 'holdfast', onProgress });
  group.add(postgres);
  return postgres.url;
};

const startEngine = async ({ settings, layout, group, hasUi, onProgress }: StackOptions): Promise<TemporalServer> => {
  const { cacheDir, temporalCli } = settings;
  const { path } = await findTemporalCli({
    override: temporalCli,
    searchPath: readSearchPath(),
    cacheDir,
    onProgress,
  });
  onProgress('Starting Temporal');
  const server = await startTemporalServer({
    binary: path,
    logDir: layout.logDir,
    runDir: layout.runDir,
    databaseFile: layout.temporalDatabase,
    searchAttributes: SEARCH_ATTRIBUTE_TYPES,
    ui: hasUi,
  });
  group.add(server);
  return server;
};

const READY = z.object({ url: z.url() });

// Below cli/dev in the sources and in the build alike.
const PACKAGE_DIR = join(__dirname, '..', '..');

const startModel = async ({ group, example }: StackOptions): Promise<string> => {
  const { ready } = await group.startScript({
    name: 'model',
    script: join(PACKAGE_DIR, 'testing', 'model-server', 'main.js'),
    args: ['--script', example.modulePathOf(example.script)],
    env: environmentOfOthers(),
  });
  return READY.parse(ready).url;
};

const startProcesses = async (options: StackOptions, { file }: CallbackSecret): Promise<Servers['processes']> => {
  const { example, layout } = options;
  const started = example.processes.map(({ name, script, args }) =>
    timed(name, options, async () => {
      const dataDir = join(layout.stateDir, name);
      mkdirSync(dataDir, { recursive: true });
      const fill = (arg: string, port: number): string =>
        arg.replaceAll('{data}', dataDir).replaceAll('{callbackSecretFile}', file).replaceAll('{port}', String(port));
      const url = await startKept(options, {
        name,
        canTakePort: args.some((arg) => arg.includes('{port}')),
        lost: 'what it kept in memory alone is gone, it starts from its seed or from its files',
        at: (port) => ({
          script: example.modulePathOf(script),
          args: args.map((arg) => fill(arg, port)),
          env: environmentOfOthers(),
        }),
      });
      return [name, url] as const;
    }),
  );
  return Object.fromEntries(await Promise.all(started));
};

const WORKER_READY = z.object({ agents: z.array(z.string()) });

const encodeKey = (key: Uint8Array): string => Buffer.from(key).toString('base64');

type DevEnvironment = Parameters<typeof environmentOfDevWorker>[0];

/** Of the service and the worker alike. */
const environmentOf = (
  { settings, layout }: StackOptions,
  servers: Omit<DevStack, 'agents' | 'serviceUrl' | 'token'>,
): DevEnvironment => ({
  DATABASE_URL: servers.databaseUrl,
  TEMPORAL_CONFIG_FILE: writeEmptyProfile(layout),
  TEMPORAL_ADDRESS: servers.temporal.address,
  TEMPORAL_NAMESPACE: servers.temporal.namespace,
  HOLDFAST_TASK_QUEUE: settings.taskQueue,
  HOLDFAST_AGENTS: servers.agentsModule.path,
  HOLDFAST_TOKEN_KEY: servers.tokenKey,
  ...modelVariables(servers),
  ...servers.agentsModule.environment,
});

const startWorker = async (options: StackOptions, environment: DevEnvironment): Promise<readonly string[]> => {
  const { ready } = await options.group.startScript({
    name: 'worker',
    script: join(PACKAGE_DIR, 'workers', 'main.js'),
    args: ['--exit-with-parent'],
    env: environmentOfDevWorker(environment),
    onKilled: () => {
      void replaceWorker(options, environment);
      return true;
    },
  });
  return WORKER_READY.parse(ready).agents;
};

/** Whoever kills it wants to see that nothing is lost by that. One that cannot start breaks the stack by its own end. */
const replaceWorker = async (options: StackOptions, environment: DevEnvironment): Promise<void> => {
  const { onProgress } = options;
  onProgress('The worker was killed: another one takes over');
  try {
    await timed('worker', options, () => startWorker(options, environment));
  } catch (error) {
    onProgress(`No other worker has started: ${errorText(error)}`);
  }
};

/** Temporal's reader of profiles fails on a file without any. */
const writeEmptyProfile = ({ stateDir }: DataDirLayout): string => {
  const path = join(stateDir, 'temporal.toml');
  writeFileSync(path, '[profile.default]\n');
  return path;
};

/** The scripted model takes any key, but the SDK wants one; nobody's real key is to reach it. */
const modelVariables = ({ modelUrl }: Servers): Readonly<Record<string, string | undefined>> =>
  modelUrl === undefined
    ? {}
    : { ANTHROPIC_API_KEY: 'offline', ANTHROPIC_AUTH_TOKEN: undefined, ANTHROPIC_BASE_URL: modelUrl };

const addressVariables = (example: DevExample, { processes }: Pick<Servers, 'processes'>): Record<string, string> =>
  Object.fromEntries(
    example.processes.flatMap(({ name, urlVariable }) => {
      const url = processes[name];
      return urlVariable === undefined || url === undefined ? [] : [[urlVariable, url] as const];
    }),
  );
