/** A worker as a process of its own that serves its figures; it dies with the test, and a test may give it any environment. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../../cli/stack/free-port';
import { startDevServer, workflowBundle } from '../services';
import type { Stage } from '../scenario/stage';

const ROOT = join(__dirname, '..', '..', '..');
const READY_TIMEOUT_MS = 60_000;

export interface MeteredWorker {
  readonly address: string;
  /** All that it has logged. */
  readonly log: () => string;
  readonly scrape: () => Promise<string>;
  readonly kill: () => Promise<void>;
}

/** Rejects with what it logged where it ends before it is ready. */
export const startMeteredWorker = async (
  stage: Stage,
  changes: Readonly<Record<string, string>> = {},
): Promise<MeteredWorker> => {
  const [server, bundlePath, port] = await Promise.all([startDevServer(), workflowBundle(), freePort()]);
  const address = changes['HOLDFAST_WORKER_METRICS_ADDRESS'] ?? `127.0.0.1:${String(port)}`;
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    DATABASE_URL: stage.database.url,
    TEMPORAL_ADDRESS: server.address,
    TEMPORAL_NAMESPACE: server.namespace,
    ANTHROPIC_API_KEY: 'offline',
    ANTHROPIC_BASE_URL: stage.model.url,
    HOLDFAST_TASK_QUEUE: stage.taskQueue,
    HOLDFAST_WORKFLOW_BUNDLE: bundlePath,
    HOLDFAST_AGENTS: join(ROOT, 'examples/tickets/agents.ts'),
    HOLDFAST_EXAMPLE_DESK_URL: stage.deskProcess.url,
    HOLDFAST_WORKER_METRICS_ADDRESS: address,
    ...changes,
  };
  const program = ['-r', join(ROOT, 'test/support/ts-register.cjs'), join(ROOT, 'workers/main.ts')];
  const child = spawn(process.execPath, [...program, '--exit-with-parent'], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  let logged = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    logged += text;
  });
  const exited = once(child, 'close');
  const died = exited.then(() => {
    throw new Error(`the worker ended before it was ready:\n${logged}`);
  });
  died.catch(() => undefined);
  const signal = AbortSignal.timeout(READY_TIMEOUT_MS);
  try {
    await Promise.race([once(createInterface({ input: child.stdout }), 'line', { signal }), died]);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  return {
    address,
    log: () => logged,
    scrape: async () => (await fetch(`http://${address}/metrics`)).text(),
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
};
