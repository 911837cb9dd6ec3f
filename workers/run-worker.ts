/** One worker process: checks the agents, serves one task queue and relays until it is told to stop. */
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, type Worker } from '@temporalio/worker';
import { pino, type Logger } from 'pino';
import type { Settings } from '../config/settings';
import type { TemporalAddress } from '../config/temporal-connection';
import { runRelays } from '../relays/run-relays';
import type { StartTarget } from '../relays/start-workflow';
import { createPostgresStore } from '../store/postgres';
import type { Store } from '../store/store';
import { BUNDLE_PATH, requireBundle } from './bundle';
import { loadRegistry } from './load-registry';
import { createWorkerMetrics } from './metrics';
import { installRuntime } from './runtime';
import { createWorker } from './worker';

export interface WorkerTargets {
  readonly settings: Settings;
  readonly temporal: TemporalAddress;
  /** Called once the worker polls, with the names of its agents and a way to stop it, as SIGTERM does. */
  readonly onReady: (agents: readonly string[], shutDown: () => void) => void;
}

export class SettingMissing extends Error {
  override readonly name = 'SettingMissing';
  readonly code = 'settings.missing';
  constructor(readonly setting: string) {
    super(`${setting}: got nothing, expected a value: a worker cannot do without it`);
  }
}

/** Resolves when the worker has stopped (SIGTERM, SIGINT or `shutDown`) and handed over what was in flight. */
export const runWorker = async ({ settings, temporal, onReady }: WorkerTargets): Promise<void> => {
  const log = pino({ level: settings.logLevel, base: { process: 'worker', pid: process.pid } }, pino.destination(2));
  const agents = required(settings.agents, 'HOLDFAST_AGENTS');
  const url = required(settings.databaseUrl, 'DATABASE_URL');
  const model = modelOf(settings);
  const bundlePath = requireBundle(settings.workflowBundle ?? BUNDLE_PATH);
  const registry = await loadRegistry(agents);
  // Not before: an engine runtime without a worker would keep the process of a worker that cannot start alive.
  const { metricMeter } = installRuntime(log, settings.workerMetricsAddress);
  const metrics = createWorkerMetrics(metricMeter);
  const store = createPostgresStore({ url });
  const { namespace, ...connect } = temporal;
  const [connection, clientConnection] = await Promise.all([
    NativeConnection.connect(connect),
    Connection.connect(connect),
  ]);
  try {
    const { storeGraceMs, callbacks, tokenKey } = settings;
    const callbackBase = callbacks.baseUrl === undefined ? {} : { callbackBaseUrl: callbacks.baseUrl };
    const deps = { store, registry, log, model, storeGraceMs, ...callbackBase, ...(tokenKey && { tokenKey }) };
    const { taskQueue, maxCachedWorkflows, deployment } = settings;
    const worker = await createWorker({
      connection,
      namespace,
      taskQueue,
      deps,
      metrics,
      bundlePath,
      ...(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows }),
      ...(deployment === undefined ? {} : { deployment }),
    });
    const target: StartTarget = {
      temporal: new Client({ connection: clientConnection, namespace }),
      taskQueue,
    };
    const names = [...registry.agents.keys()];
    await serve({ worker, store, log, ...target }, () => {
      log.info({ agents: names }, 'worker is ready');
      onReady(names, () => {
        worker.shutdown();
      });
    });
  } finally {
    metrics.stop();
    // An open connection would keep the process alive.
    await Promise.allSettled([connection.close(), clientConnection.close(), store.close()]);
  }
};

interface Serving extends StartTarget {
  readonly worker: Worker;
  readonly store: Store;
  readonly log: Logger;
}

const serve = async ({ worker, ...relays }: Serving, onStarted: () => void): Promise<void> => {
  const stopped = worker.run();
  const stop = new AbortController();
  const relaying = runRelays({ ...relays, signal: stop.signal });
  onStarted();
  try {
    await stopped;
  } finally {
    stop.abort();
    await relaying;
  }
};

const required = (value: string | undefined, name: string): string => {
  if (value === undefined) throw new SettingMissing(name);
  return value;
};

const modelOf = ({ model: { apiKey, baseUrl } }: Settings): { apiKey: string; baseUrl?: string } => ({
  apiKey: required(apiKey, 'ANTHROPIC_API_KEY'),
  ...(baseUrl === undefined ? {} : { baseUrl }),
});
