import { execFile } from 'node:child_process';

export interface CommandResult {
  /** `undefined` when the program could not be started or was ended by a signal. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
  /** Why it could not be started, or that it took too long. */
  readonly failure: string | undefined;
}

export interface CommandOptions {
  readonly timeoutMs: number;
  readonly cwd?: string;
}

/** Runs a program to its end and tells what came out; never throws. */
export function runCommand(program: string, args: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const { timeoutMs, cwd } = options;
  return new Promise((resolve) => {
    const settings = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 16 * 1024 * 1024, cwd } as const;
    execFile(program, args, settings, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : undefined;
      resolve({ code, stdout, stderr, failure: failureOf(error, timeoutMs) });
    });
  });
}

function failureOf(error: Error | null, timeoutMs: number): string | undefined {
  if (error === null) return undefined;
  if ('killed' in error && error.killed === true) return `took longer than ${timeoutMs / 1000} s`;
  const code = 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'no such program';
  if (code === 'EACCES') return 'not executable (permission denied)';
  return typeof code === 'number' ? undefined : error.message;
}

/** The last line that says something: where programs put the reason. */
export function lastLine(text: string): string {
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return lines.at(-1) ?? '';
}
