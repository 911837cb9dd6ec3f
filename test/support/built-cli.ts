/** The built `holdfast` program, as a user starts it: a process with its own data directory and nothing of our shell. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { isAlive, processTree } from '../../cli/stack/process-table';
import { waitFor } from '../../cli/stack/wait-for';

export interface CliOptions {
  /** `dist/`, see `builtPackage`. */
  readonly dist: string;
  readonly dataDir: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface CliProcess {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Exit code, or the signal's name. */
  readonly ended: Promise<number | string>;
  /** Waits until standard error says so; fails with all of it where the program ends before. */
  says(words: RegExp, withinMs?: number): Promise<void>;
  /** The processes below it now; all of them, watchdogs and servers included. */
  descendants(): readonly number[];
}

export const startCli = (args: readonly string[], { dist, dataDir, env }: CliOptions): CliProcess => {
  const child = spawn(process.execPath, [join(dist, 'cli/main.js'), ...args], {
    env: { ...plainEnvironment(), HOLDFAST_DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  let isOver = false;
  // 'close' comes after the last output, 'exit' may come before it.
  const ended = once(child, 'close').then(([code, signal]: unknown[]) => {
    isOver = true;
    return typeof code === 'number' ? code : String(signal);
  });
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    ended,
    says: async (words, withinMs = 110_000) => {
      await waitFor(() => words.test(stderr) || isOver, withinMs);
      if (!words.test(stderr)) throw new Error(`it never said ${String(words)}, but:\n${stderr}`);
    },
    descendants: () => processTree(child.pid ?? 0).slice(1),
  };
};

export interface CliResult {
  readonly exitCode: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs it to its end. */
export const runCliProcess = async (args: readonly string[], options: CliOptions): Promise<CliResult> => {
  const started = startCli(args, options);
  const exitCode = await started.ended;
  return { exitCode, stdout: started.stdout(), stderr: started.stderr() };
};

export const allGone = (pids: readonly number[]): Promise<boolean> =>
  waitFor(() => pids.every((pid) => !isAlive(pid)), 20_000);

const PASSED_ON = ['PATH', 'HOME', 'HOLDFAST_CACHE_DIR', 'HOLDFAST_TEMPORAL_CLI', 'XDG_CACHE_HOME'] as const;

const plainEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    PASSED_ON.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]] as const])),
  );
