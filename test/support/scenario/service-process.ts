/** The service as a process of its own, which a test may kill and start again where it was. It dies with the test. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';

const ROOT = join(__dirname, '..', '..', '..');
const READY_TIMEOUT_MS = 30_000;

export interface ServiceEnvironment {
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly callbackSecrets: readonly string[];
  readonly agents: string;
  readonly deskUrl: string;
  /** Of bearer tokens and the page, and of the tokens of waits. */
  readonly tokenSecret: string;
  readonly logFile: string;
  /** 0: any. */
  readonly port: number;
}

export interface ServiceProcess {
  readonly url: string;
  kill(): Promise<void>;
  terminate(): Promise<void>;
}

export const newCallbackSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

export const startServiceProcess = async (environment: ServiceEnvironment): Promise<ServiceProcess> => {
  const child = spawn(
    process.execPath,
    [
      '-r',
      join(ROOT, 'test/support/ts-register.cjs'),
      join(ROOT, 'test/support/scenario/service-main.ts'),
      '--exit-with-parent',
    ],
    { env: toEnv(environment), stdio: ['pipe', 'pipe', 'pipe'] },
  );
  child.stderr.pipe(createWriteStream(environment.logFile, { flags: 'a' }));
  const exited = once(child, 'exit');
  const died = exited.then(() => {
    throw new Error(`the service ended before it was ready; see ${environment.logFile}`);
  });
  died.catch(() => undefined);
  const line = once(createInterface({ input: child.stdout }), 'line', {
    signal: AbortSignal.timeout(READY_TIMEOUT_MS),
  });
  const [ready] = z.tuple([z.string()]).parse(await Promise.race([line, died]));
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    if (child.exitCode === null && child.signalCode === null) await exited;
  };
  return {
    url: z.object({ ready: z.literal(true), url: z.url() }).parse(JSON.parse(ready)).url,
    kill: () => end('SIGKILL'),
    terminate: () => end('SIGTERM'),
  };
};

const toEnv = (environment: ServiceEnvironment): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  DATABASE_URL: environment.databaseUrl,
  TEMPORAL_ADDRESS: environment.temporalAddress,
  TEMPORAL_NAMESPACE: environment.namespace,
  HOLDFAST_TASK_QUEUE: environment.taskQueue,
  HOLDFAST_PORT: String(environment.port),
  HOLDFAST_CALLBACK_SECRETS: environment.callbackSecrets.join(','),
  HOLDFAST_AGENTS: environment.agents,
  HOLDFAST_EXAMPLE_DESK_URL: environment.deskUrl,
  HOLDFAST_JWT_SECRET: environment.tokenSecret,
  HOLDFAST_TOKEN_KEY: environment.tokenSecret,
  HOLDFAST_LOG_LEVEL: 'info',
});
