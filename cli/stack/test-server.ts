import { join } from 'node:path';
import { withFreshPorts } from './free-port';
import { registerSearchAttributes, type SearchAttributeTypes } from './search-attributes';
import { waitForTemporal } from './temporal-ready';
import { startWatched, type Stoppable, type WatchedProcess } from './watched-process';

export interface TestServerOptions {
  /** See `findTestServer`. */
  readonly binary: string;
  readonly logDir: string;
  readonly runDir?: string | undefined;
  /** It refuses workflows that use others. */
  readonly searchAttributes?: SearchAttributeTypes | undefined;
  readonly name?: string | undefined;
  readonly readyTimeoutMs?: number | undefined;
}

export interface TestServer extends Stoppable {
  readonly address: string;
  readonly namespace: string;
  readonly pid: number;
  readonly process: WatchedProcess;
}

const LOOPBACK = '127.0.0.1';
const NAMESPACE = 'default';
const READY_TIMEOUT_MS = 30_000;

/** Starts the time-skipping test server, in memory, on a free port; it ends with this process. */
export function startTestServer(options: TestServerOptions): Promise<TestServer> {
  return withFreshPorts(1, ([port = 0]) => startOn(port, options));
}

async function startOn(port: number, options: TestServerOptions): Promise<TestServer> {
  const { binary, logDir, runDir, searchAttributes = {}, name = 'temporal-test-server' } = options;
  const args = [String(port), '--enable-time-skipping'];
  const logFile = join(logDir, `${name}.log`);
  const server = await startWatched({ name, command: binary, args, logFile, runDir, graceMs: 2_000 });
  const address = `${LOOPBACK}:${port}`;
  try {
    await waitForTemporal(server, {
      address,
      timeoutMs: options.readyTimeoutMs ?? READY_TIMEOUT_MS,
      check: (connection) => registerSearchAttributes(connection, NAMESPACE, searchAttributes),
    });
  } catch (error) {
    server.killNow();
    throw error;
  }
  return {
    name,
    address,
    namespace: NAMESPACE,
    pid: server.pid,
    process: server,
    stop: () => server.stop(),
    killNow: () => {
      server.killNow();
    },
  };
}
