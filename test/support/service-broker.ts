import { createServer, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../cli/stack/postgres';
import { ProcessGroup } from '../../cli/stack/process-group';
import { defaultCacheDir, findTemporalCli, type BinarySearchOptions } from '../../cli/stack/temporal-binary';
import { runCommand } from '../../cli/stack/run-command';
import { startTemporalServer } from '../../cli/stack/temporal-server';
import { writeBundle } from '../../workers/bundle';
import { makeTempDir, removeDir } from './temp-dir';

/** Where test files find the broker. */
export const BROKER_VARIABLE = 'HOLDFAST_TEST_BROKER';

export interface ServiceBroker {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Owns the servers that all integration files of one jest run share: one PostgreSQL, one Temporal server. It lives in
 * jest's main process, so that they outlive the workers, and starts each one only when the first test asks for it.
 * They end with jest, however jest ends.
 */
export async function startServiceBroker(): Promise<ServiceBroker> {
  const directory = makeTempDir('services');
  const group = new ProcessGroup({ logDir: join(directory, 'logs') });
  const services: Readonly<Record<string, () => Promise<object>>> = {
    '/postgres': lazily(() => sharedPostgres(group, directory)),
    '/temporal': lazily(() => sharedTemporal(group, directory)),
    '/dist': lazily(buildDist),
    '/bundle': lazily(async () => ({ path: await writeBundle(join(directory, 'workflow-bundle.js')) })),
  };
  const server = createServer((request, response) => {
    const start = services[request.url ?? ''];
    if (start === undefined) answer(response, 404, { error: 'no such service' });
    else
      start().then(
        (found) => answer(response, 200, found),
        (error: unknown) => answer(response, 500, { error: String(error) }),
      );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await group.stop();
      removeDir(directory);
    },
  };
}

/** How tests look for Temporal's programs: as the command line does. */
export function binarySearch(): BinarySearchOptions {
  const { HOLDFAST_CACHE_DIR, XDG_CACHE_HOME, PATH } = process.env;
  const cacheDir = defaultCacheDir({
    holdfastCacheDir: HOLDFAST_CACHE_DIR,
    xdgCacheHome: XDG_CACHE_HOME,
    home: homedir(),
  });
  return {
    cacheDir,
    searchPath: PATH,
    onProgress: (message) => {
      process.stderr.write(`${message}\n`);
    },
  };
}

async function sharedPostgres(group: ProcessGroup, directory: string): Promise<object> {
  const server = await startPostgres({
    directory: join(directory, 'postgres'),
    logDir: join(directory, 'logs'),
    database: 'postgres',
    isDurable: false,
  });
  group.add(server);
  return { url: server.url };
}

async function sharedTemporal(group: ProcessGroup, directory: string): Promise<object> {
  const override = process.env['HOLDFAST_TEMPORAL_CLI'];
  const { path } = await findTemporalCli({ ...binarySearch(), override });
  const server = await startTemporalServer({ binary: path, logDir: join(directory, 'logs') });
  group.add(server);
  return { address: server.address, namespace: server.namespace };
}

const ROOT = join(__dirname, '..', '..');
const BUILD_LIMIT_MS = 10 * 60_000;

/** What `npm run build` makes; nothing to do where it is up to date. */
async function buildDist(): Promise<object> {
  const script = join(ROOT, 'scripts', 'build.mjs');
  const { code, stdout, stderr, failure } = await runCommand(process.execPath, [script], { timeoutMs: BUILD_LIMIT_MS });
  if (code !== 0) throw new Error(`the build failed (${failure ?? String(code)}):\n${stdout}${stderr}`);
  return { path: join(ROOT, 'dist') };
}

function lazily<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined;
  return () => (started ??= start());
}

function answer(response: ServerResponse, status: number, body: object): void {
  // A kept connection may be closed by us in the moment in which a busy test sends on it.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body));
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a TCP address');
  return address.port;
}
