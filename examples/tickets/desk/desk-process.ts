/** Starts the desk as a process of its own and tells when it listens and how it ended. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';

const READY_TIMEOUT_MS = 20_000;
const readySchema = z.object({ ready: z.literal(true), url: z.url() });

export interface DeskProcessOptions {
  /** The compiled `main.js`, or `main.ts` where `nodeArguments` make Node read TypeScript. */
  readonly mainPath: string;
  readonly nodeArguments?: readonly string[];
  readonly port?: number;
  readonly dataDirectory?: string;
  readonly callbackSecretFile?: string;
}

export interface DeskExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface DeskProcess {
  readonly url: string;
  readonly pid: number;
  readonly exited: Promise<DeskExit>;
  /** Sends the signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<DeskExit>;
}

export class DeskStartError extends Error {
  override readonly name = 'DeskStartError';
  readonly code = 'desk.start_failed';
}

/** The desk ends with this process: it holds the other end of a pipe. */
export async function startDeskProcess(options: DeskProcessOptions): Promise<DeskProcess> {
  const child = spawn(process.execPath, [...(options.nodeArguments ?? []), options.mainPath, ...flagsOf(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = exitOf(child);
  const url = await Promise.race([readyUrl(child), exited.then(failStart)]).catch((error: unknown) => {
    child.kill('SIGKILL');
    if (error instanceof DeskStartError) throw error;
    throw new DeskStartError(`the desk did not say that it is ready: ${String(error)}`, { cause: error });
  });
  if (child.pid === undefined) throw new DeskStartError('the desk has no process id');
  return {
    url,
    pid: child.pid,
    exited,
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return exited;
    },
  };
}

function flagsOf({ port = 0, dataDirectory, callbackSecretFile }: DeskProcessOptions): readonly string[] {
  return [
    '--port',
    String(port),
    '--exit-with-parent',
    ...(dataDirectory === undefined ? [] : ['--data', dataDirectory]),
    ...(callbackSecretFile === undefined ? [] : ['--callback-secret-file', callbackSecretFile]),
  ];
}

function exitOf(child: ChildProcess): Promise<DeskExit> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      resolve({ code, signal });
    });
  });
}

async function readyUrl({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new DeskStartError('the desk has no standard output');
  const lines = createInterface({ input: stdout });
  const received: unknown[] = await once(lines, 'line', { signal: AbortSignal.timeout(READY_TIMEOUT_MS) });
  lines.close();
  stdout.resume();
  return readySchema.parse(JSON.parse(String(received[0]))).url;
}

function failStart({ code, signal }: DeskExit): never {
  throw new DeskStartError(`the desk ended before it was ready: code ${String(code)}, signal ${String(signal)}`);
}
