import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { withFreshPorts } from './free-port';
import { searchAttributeFlags, type SearchAttributeTypes } from './search-attributes';
import { waitForTemporal } from './temporal-ready';
import { startWatched, type Stoppable, type WatchedProcess } from './watched-process';

export interface TemporalServerOptions {
  /** The Temporal CLI; see `findTemporalCli`. */
  readonly binary: string;
  readonly logDir: string;
  readonly runDir?: string | undefined;
  /** Where everything is kept; in memory when left out. */
  readonly databaseFile?: string | undefined;
  /** A port of 127.0.0.1, to come back at the same address; a free one when left out. */
  readonly port?: number | undefined;
  readonly searchAttributes?: SearchAttributeTypes | undefined;
  /** Serve Temporal's own web page too. */
  readonly ui?: boolean | undefined;
  readonly name?: string | undefined;
  readonly readyTimeoutMs?: number | undefined;
}

export interface TemporalServer extends Stoppable {
  readonly address: string;
  readonly port: number;
  readonly namespace: string;
  readonly uiUrl?: string;
  readonly pid: number;
  readonly process: WatchedProcess;
}

const LOOPBACK = '127.0.0.1';
const NAMESPACE = 'default';
const READY_TIMEOUT_MS = 60_000;

/**
 * The stock server polls its queues 20 times a second, which makes 50 ms a hop and 1 s for a continue-as-new or a short timer.
 * Measured per step of a model and a tool: 111 ms stock, 79 ms so.
 */
const DYNAMIC_CONFIG = [
  'history.transferProcessorMaxPollRPS=1000',
  'history.timerProcessorMaxPollRPS=1000',
  'history.visibilityProcessorMaxPollRPS=1000',
  'history.workflowIdReuseMinimalInterval="0s"',
  'history.timerProcessorMaxTimeShift="10ms"',
] as const;

/** A commit is on disk when it is acknowledged, at half the price of SQLite's default journal. */
const SQLITE_PRAGMAS = ['journal_mode=WAL', 'synchronous=FULL'] as const;

interface Ports {
  readonly grpc: number;
  readonly http: number;
  readonly metrics: number;
  readonly ui: number;
}

/**
 * Starts `temporal server start-dev` on 127.0.0.1 and waits until its namespace answers. It ends with this process.
 * Started again on the same file (and port), it goes on where it was, killed or not. Only one server may use a file at a time.
 */
export function startTemporalServer(options: TemporalServerOptions): Promise<TemporalServer> {
  return withFreshPorts(4, ([fresh = 0, http = 0, metrics = 0, ui = 0]) =>
    startOn({ grpc: options.port ?? fresh, http, metrics, ui }, options),
  );
}

export function temporalServerArgs(ports: Ports, options: TemporalServerOptions): readonly string[] {
  const { databaseFile, searchAttributes = {}, ui = false } = options;
  return [
    ...['server', 'start-dev', '--ip', LOOPBACK, '--log-level', 'warn'],
    ...['--port', String(ports.grpc), '--http-port', String(ports.http), '--metrics-port', String(ports.metrics)],
    ...(ui ? ['--ui-port', String(ports.ui), '--ui-disable-news-fetch'] : ['--headless']),
    ...(databaseFile === undefined ? [] : ['--db-filename', databaseFile, ...each('--sqlite-pragma', SQLITE_PRAGMAS)]),
    ...each('--dynamic-config-value', DYNAMIC_CONFIG),
    ...searchAttributeFlags(searchAttributes),
  ];
}

async function startOn(ports: Ports, options: TemporalServerOptions): Promise<TemporalServer> {
  const { binary, databaseFile, logDir, runDir, ui = false, name = 'temporal' } = options;
  if (databaseFile !== undefined) mkdirSync(dirname(databaseFile), { recursive: true });
  const args = temporalServerArgs(ports, options);
  const server = await startWatched({ name, command: binary, args, logFile: join(logDir, `${name}.log`), runDir });
  const address = `${LOOPBACK}:${ports.grpc}`;
  try {
    await waitForTemporal(server, {
      address,
      timeoutMs: options.readyTimeoutMs ?? READY_TIMEOUT_MS,
      check: (connection) => connection.workflowService.describeNamespace({ namespace: NAMESPACE }),
    });
  } catch (error) {
    server.killNow();
    throw error;
  }
  return {
    name,
    address,
    port: ports.grpc,
    namespace: NAMESPACE,
    ...(ui ? { uiUrl: `http://${LOOPBACK}:${ports.ui}` } : {}),
    pid: server.pid,
    process: server,
    stop: () => server.stop(),
    killNow: () => {
      server.killNow();
    },
  };
}

function each(flag: string, values: readonly string[]): readonly string[] {
  return values.flatMap((value) => [flag, value]);
}
