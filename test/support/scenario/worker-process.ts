/** A worker as a process of its own, which a test may kill, pause or stop. It dies with the test. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = join(__dirname, '..', '..', '..');
const READY_TIMEOUT_MS = 60_000;

export interface WorkerEnvironment {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly bundlePath: string;
  readonly modelUrl: string;
  readonly deskUrl: string;
  readonly agents: string;
  readonly logFile: string;
  readonly storeGraceMs?: number;
  readonly maxCachedWorkflows?: number;
  readonly deployment?: { readonly name: string; readonly buildId: string };
  readonly callbackBaseUrl?: string;
}

export interface WorkerProcess {
  readonly pid: number;
  /** Sends a signal; resolves at the end for those that end it. */
  kill(): Promise<void>;
  terminate(): Promise<void>;
  pause(): void;
  resume(): void;
}

export const startWorkerProcess = async (environment: WorkerEnvironment): Promise<WorkerProcess> => {
  const child = spawn(
    process.execPath,
    ['-r', join(ROOT, 'test/support/ts-register.cjs'), join(ROOT, 'workers/main.ts'), '--exit-with-parent'],
    { env: toEnv(environment), stdio: ['pipe', 'pipe', 'pipe'] },
  );
  child.stderr.pipe(createWriteStream(environment.logFile, { flags: 'a' }));
  try {
    await readyLine(child, environment.logFile);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
  const exited = once(child, 'exit');
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    if (child.exitCode === null && child.signalCode === null) await exited;
  };
  return {
    pid: child.pid ?? 0,
    kill: () => end('SIGKILL'),
    terminate: () => end('SIGTERM'),
    pause: () => {
      child.kill('SIGSTOP');
    },
    resume: () => {
      child.kill('SIGCONT');
    },
  };
};

const toEnv = (environment: WorkerEnvironment): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  DATABASE_URL: environment.databaseUrl,
  TEMPORAL_ADDRESS: environment.temporalAddress,
  TEMPORAL_NAMESPACE: environment.namespace,
  ANTHROPIC_API_KEY: 'offline',
  ANTHROPIC_BASE_URL: environment.modelUrl,
  HOLDFAST_TASK_QUEUE: environment.taskQueue,
  HOLDFAST_WORKFLOW_BUNDLE: environment.bundlePath,
  HOLDFAST_AGENTS: environment.agents,
  HOLDFAST_EXAMPLE_DESK_URL: environment.deskUrl,
  HOLDFAST_LOG_LEVEL: 'info',
  ...(environment.callbackBaseUrl === undefined ? {} : { HOLDFAST_CALLBACK_BASE_URL: environment.callbackBaseUrl }),
  ...(environment.deployment === undefined
    ? {}
    : {
        HOLDFAST_DEPLOYMENT_NAME: environment.deployment.name,
        HOLDFAST_BUILD_ID: environment.deployment.buildId,
      }),
  ...(environment.maxCachedWorkflows === undefined
    ? {}
    : { HOLDFAST_MAX_CACHED_WORKFLOWS: String(environment.maxCachedWorkflows) }),
  ...(environment.storeGraceMs === undefined ? {} : { HOLDFAST_STORE_GRACE_MS: String(environment.storeGraceMs) }),
});

const readyLine = async (child: ChildProcess, logFile: string): Promise<void> => {
  if (child.stdout === null) throw new Error('the worker has no standard output');
  const lines = createInterface({ input: child.stdout });
  const ready = once(lines, 'line');
  const died = once(child, 'exit').then(() => {
    throw new Error(`the worker ended before it was ready; see ${logFile}`);
  });
  await Promise.race([ready, died, timeout(logFile)]);
};

const timeout = (logFile: string): Promise<never> =>
  new Promise((_resolve, reject) => {
    setTimeout(() => {
      reject(new Error(`the worker was not ready after ${String(READY_TIMEOUT_MS)} ms; see ${logFile}`));
    }, READY_TIMEOUT_MS).unref();
  });
