import { closeSync, openSync, readSync } from 'node:fs';
import { StackError } from './errors';
import { waitFor } from './wait-for';
import { logTail, type WatchedProcess } from './watched-process';

/** What a child tells once it serves: one line of JSON, `{"ready":true,...}`, on its standard output. */
export type ReadyLine = Readonly<Record<string, unknown>> & { readonly ready: true };

/**
 * Waits for the child's ready line in its log, where its output goes; other lines are skipped.
 * Throws `stack.process_exited` or `stack.process_not_ready`, with the end of the log.
 */
export async function waitForReadyLine(child: WatchedProcess, timeoutMs: number): Promise<ReadyLine> {
  const reader = new LogReader(child.logFile);
  let found: ReadyLine | undefined;
  const look = (): boolean => {
    // Asked before reading: what the child wrote before it ended is read then, too.
    const ended = child.hasExited();
    found ??= reader.newLines().map(parseReadyLine).find(isDefined);
    return found !== undefined || ended;
  };
  const decided = await waitFor(look, timeoutMs);
  if (found !== undefined) return found;
  throw decided ? await exitedEarly(child) : notReady(child, timeoutMs);
}

export function parseReadyLine(line: string): ReadyLine | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    const isReady = typeof value === 'object' && value !== null && 'ready' in value && value.ready === true;
    return isReady ? (value as ReadyLine) : undefined;
  } catch {
    return undefined; // some other output that begins with a brace
  }
}

export async function exitedEarly(child: WatchedProcess): Promise<StackError> {
  const { code } = await child.exited;
  const message = `${child.name} ended with exit code ${String(code)} before it was ready; ${logHint(child)}`;
  return new StackError('stack.process_exited', message, { name: child.name, code, logFile: child.logFile });
}

export function notReady(child: WatchedProcess, timeoutMs: number): StackError {
  const message = `${child.name} was not ready within ${String(timeoutMs)} ms; ${logHint(child)}`;
  return new StackError('stack.process_not_ready', message, { name: child.name, timeoutMs, logFile: child.logFile });
}

function logHint(child: WatchedProcess): string {
  const tail = logTail(child.logFile);
  return tail === '' ? `its log ${child.logFile} is empty` : `the end of its log (${child.logFile}):\n${tail}`;
}

function isDefined<T>(value: T | undefined): value is T {
  return value !== undefined;
}

const CHUNK_BYTES = 64 * 1024;

class LogReader {
  private offset = 0;
  private rest = '';

  constructor(private readonly path: string) {}

  newLines(): readonly string[] {
    const lines = (this.rest + this.readOn()).split('\n');
    this.rest = lines.pop() ?? '';
    return lines.map((line) => line.trim());
  }

  private readOn(): string {
    const file = openSync(this.path, 'r');
    try {
      const buffer = Buffer.alloc(CHUNK_BYTES);
      const length = readSync(file, buffer, 0, CHUNK_BYTES, this.offset);
      this.offset += length;
      return buffer.toString('utf8', 0, length);
    } finally {
      closeSync(file);
    }
  }
}
