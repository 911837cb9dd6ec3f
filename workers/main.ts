/** The worker process: reads the configuration, checks the agents, serves one task queue until it is told to stop. */
import { NativeConnection, Runtime, makeTelemetryFilterString } from '@temporalio/worker';
import { pino, type Logger } from 'pino';
import { loadSettings, type Settings } from '../config/settings';
import { loadTemporalAddress } from '../config/temporal-connection';
import { compileAgents } from '../definition/compile-agent';
import { createPostgresStore } from '../store/postgres/create-store';
import { endWithParent } from './end-with-parent';
import { loadAgents } from './load-agents';
import { toTemporalLogger } from './temporal-logger';
import { createWorker } from './worker';

const main = async (): Promise<void> => {
  const settings = loadSettings();
  const log = pino({ level: settings.logLevel, base: { process: 'worker', pid: process.pid } }, pino.destination(2));
  Runtime.install({
    logger: toTemporalLogger(log),
    shutdownSignals: ['SIGTERM', 'SIGINT'],
    telemetryOptions: { logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN' }) } },
  });
  const registry = compileAgents(await loadAgents(required(settings.agents, 'HOLDFAST_AGENTS')));
  const store = createPostgresStore({ url: required(settings.databaseUrl, 'DATABASE_URL') });
  const { namespace, ...connect } = loadTemporalAddress();
  const connection = await NativeConnection.connect(connect);
  try {
    const deps = { store, registry, log, model: modelOf(settings), storeGraceMs: settings.storeGraceMs };
    const worker = await createWorker({
      connection,
      namespace,
      taskQueue: settings.taskQueue,
      deps,
      ...(settings.workflowBundle === undefined ? {} : { bundlePath: settings.workflowBundle }),
    });
    const stopped = worker.run();
    sayReady(log, [...registry.agents.keys()]);
    endWithParent(() => {
      worker.shutdown();
    });
    await stopped;
  } finally {
    // An open connection would keep the process alive.
    await connection.close();
    await store.close();
  }
};

const required = (value: string | undefined, name: string): string => {
  if (value === undefined) throw new Error(`${name}: got nothing, expected a value: a worker cannot do without it`);
  return value;
};

const modelOf = ({ model: { apiKey, baseUrl } }: Settings): { apiKey: string; baseUrl?: string } => ({
  apiKey: required(apiKey, 'ANTHROPIC_API_KEY'),
  ...(baseUrl === undefined ? {} : { baseUrl }),
});

/** One line on standard output: whoever started this process may go on. */
const sayReady = (log: Logger, agents: readonly string[]): void => {
  process.stdout.write(`${JSON.stringify({ ready: true, agents })}\n`);
  log.info({ agents }, 'worker is ready');
};

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
