import { join } from 'node:path';
import { Client } from 'pg';
import { StackError, errorCode } from './errors';
import { withFreshPorts } from './free-port';
import { postgresAccount } from './postgres-account';
import { prepareCluster, SUPERUSER, type Cluster } from './postgres-cluster';
import { preparePostgresHome } from './postgres-home';
import { postgresPrograms, type PostgresPrograms } from './postgres-programs';
import { clearStalePostgres } from './postgres-stale';
import { exitedEarly, notReady } from './ready-line';
import { waitFor } from './wait-for';
import { logTail, startWatched, type Stoppable, type WatchedProcess } from './watched-process';

export interface PostgresOptions {
  /** Holds the cluster and its password; made if absent. */
  readonly directory: string;
  readonly logDir: string;
  readonly runDir?: string | undefined;
  /** Made if absent. */
  readonly database: string;
  /** A port of 127.0.0.1, to come back at the same address; a free one when left out. */
  readonly port?: number | undefined;
  /** Default true. False trades safety against power loss for speed: for tests. */
  readonly isDurable?: boolean | undefined;
  readonly name?: string | undefined;
  readonly onProgress?: ((message: string) => void) | undefined;
}

export interface Postgres extends Stoppable {
  /** With the password: do not log it. */
  readonly url: string;
  readonly port: number;
  /** The postmaster. */
  readonly pid: number;
  readonly process: WatchedProcess;
  /** SIGSTOP to the server and its backends: connections hang, as with a machine that does not answer. */
  freeze(): void;
  thaw(): void;
}

const LOOPBACK = '127.0.0.1';
const READY_TIMEOUT_MS = 60_000;
const GRACE_MS = 10_000;

/**
 * Starts PostgreSQL on 127.0.0.1 and waits until it answers. Existing data is used again, whatever ended the server before.
 * It ends with this process. As root it runs as the account `postgres`. The caller holds the data directory.
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const account = await postgresAccount();
  const home = preparePostgresHome(options.directory, account);
  const programs = postgresPrograms(account);
  const isDurable = options.isDurable ?? true;
  await clearStalePostgres(join(home, 'data'));
  options.onProgress?.('Starting PostgreSQL');
  const cluster = await prepareCluster({ home, account, programs, isDurable });
  const user = account.mustSwitch ? { uid: account.uid, gid: account.gid } : undefined;
  return withFreshPorts(1, ([fresh = 0]) =>
    startOn(options.port ?? fresh, { ...options, isDurable, cluster, programs, user }),
  );
}

interface Prepared extends PostgresOptions {
  readonly cluster: Cluster;
  readonly programs: PostgresPrograms;
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
}

async function startOn(port: number, options: Prepared): Promise<Postgres> {
  const { cluster, programs, user, database, logDir, runDir, name = 'postgres' } = options;
  const server = await startWatched({
    name,
    command: programs.postgres,
    args: ['-D', cluster.dataDirectory, ...settings(port, options.isDurable ?? true)],
    logFile: join(logDir, `${name}.log`),
    runDir,
    cwd: cluster.dataDirectory,
    user,
    stopSignal: 'SIGINT', // "fast": ends connections, then the server
    graceMs: GRACE_MS,
  });
  try {
    await waitUntilReady(server, urlOf(cluster, port, 'postgres'));
    await ensureDatabase(urlOf(cluster, port, 'postgres'), database);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return {
    name,
    url: urlOf(cluster, port, database),
    port,
    pid: server.pid,
    process: server,
    freeze: () => {
      server.freeze();
    },
    thaw: () => {
      server.thaw();
    },
    stop: () => server.stop(),
    killNow: () => {
      server.killNow();
    },
  };
}

/** On the command line, so that a cluster made by an older version of ours runs with today's settings. */
function settings(port: number, isDurable: boolean): readonly string[] {
  const values = {
    port,
    listen_addresses: LOOPBACK,
    unix_socket_directories: '',
    max_connections: 200,
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    fsync: isDurable ? 'on' : 'off',
    synchronous_commit: isDurable ? 'on' : 'off',
    full_page_writes: isDurable ? 'on' : 'off',
  };
  return Object.entries(values).flatMap(([setting, value]) => ['-c', `${setting}=${value}`]);
}

function urlOf({ password }: Cluster, port: number, database: string): string {
  return `postgres://${SUPERUSER}:${password}@${LOOPBACK}:${port}/${encodeURIComponent(database)}`;
}

async function waitUntilReady(server: WatchedProcess, url: string): Promise<void> {
  let refusal: unknown;
  const decided = await waitFor(async () => {
    if (server.hasExited()) return true;
    refusal = await tryQuery(url);
    return refusal === undefined || isWrongPassword(refusal);
  }, READY_TIMEOUT_MS);
  if (!decided) throw notReady(server, READY_TIMEOUT_MS);
  if (server.hasExited()) throw portTaken(server) ?? (await exitedEarly(server));
  if (refusal === undefined) return;
  const message = 'PostgreSQL refuses the password kept beside its data: start afresh (--fresh deletes it)';
  throw new StackError('stack.postgres_data', message, { cause: refusal });
}

async function tryQuery(url: string): Promise<unknown> {
  try {
    await withClient(url, (client) => client.query('select 1'));
    return undefined;
  } catch (error) {
    return error;
  }
}

async function ensureDatabase(url: string, database: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [database]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(database)}`);
  });
}

async function withClient<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

const INVALID_PASSWORD = '28P01';

function isWrongPassword(error: unknown): boolean {
  return errorCode(error) === INVALID_PASSWORD;
}

function portTaken(server: WatchedProcess): StackError | undefined {
  if (!logTail(server.logFile, 40).includes('Address already in use')) return undefined;
  const message = "PostgreSQL's port is in use: stop what has it, or leave the port to the stack";
  return new StackError('stack.port_unavailable', message, { logFile: server.logFile });
}
