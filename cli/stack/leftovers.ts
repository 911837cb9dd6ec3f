import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, processStamp, processTree } from './process-table';
import { waitFor } from './wait-for';

/**
 * Children of a stack that was killed end by themselves within their grace (watchdog-script.ts), yet the next stack may
 * come sooner, or find one whose watchdog was killed too. So each running child is recorded with its pid and its start
 * time, and whoever opens the data directory ends what is left first. Two servers on one database would corrupt it.
 */
interface ProcessRecord {
  readonly pid: number;
  readonly stamp: string;
  readonly stopSignal: NodeJS.Signals;
}

const STOP_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGQUIT'];

const GRACE_MS = 5_000;

export interface RunningProcess {
  readonly name: string;
  readonly pid: number;
  readonly stopSignal: NodeJS.Signals;
}

export function recordProcess(runDir: string, { name, pid, stopSignal }: RunningProcess): void {
  const stamp = processStamp(pid);
  if (stamp === undefined) return; // ended already
  mkdirSync(runDir, { recursive: true });
  writeFileSync(recordPath(runDir, name), JSON.stringify({ pid, stamp, stopSignal } satisfies ProcessRecord));
}

export function forgetProcess(runDir: string, name: string, pid: number): void {
  const path = recordPath(runDir, name);
  if (readRecord(path)?.pid === pid) rmSync(path, { force: true });
}

/** Ends the recorded processes that still run, SIGKILL after a grace; returns their names. Call it only while holding the data directory. */
export async function endLeftovers(runDir: string): Promise<readonly string[]> {
  const files = readdirSync(runDir).filter((file) => file.endsWith('.json'));
  const ended = await Promise.all(files.map((file) => endLeftover(join(runDir, file))));
  return files.filter((_, index) => ended[index]).map((file) => file.slice(0, -'.json'.length));
}

async function endLeftover(path: string): Promise<boolean> {
  const record = readRecord(path);
  const runs = record !== undefined && processStamp(record.pid) === record.stamp;
  if (runs) await endProcess(record);
  rmSync(path, { force: true });
  return runs;
}

async function endProcess({ pid, stamp, stopSignal }: ProcessRecord): Promise<void> {
  const tree = processTree(pid);
  const gone = (): boolean => processStamp(pid) !== stamp;
  signalEach(tree, 'SIGCONT');
  signalEach([pid], stopSignal);
  if (await waitFor(gone, GRACE_MS)) return;
  signalEach(tree, 'SIGKILL');
  await waitFor(gone, GRACE_MS);
}

function signalEach(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids.filter(isAlive)) {
    try {
      process.kill(pid, signal);
    } catch {
      // ended in between
    }
  }
}

function readRecord(path: string): ProcessRecord | undefined {
  try {
    return parseRecord(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined; // gone, or cut short by a crash
  }
}

function parseRecord(value: unknown): ProcessRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { pid, stamp, stopSignal: given } = value as Partial<Record<keyof ProcessRecord, unknown>>;
  const stopSignal = STOP_SIGNALS.find((signal) => signal === given);
  if (typeof pid !== 'number' || typeof stamp !== 'string' || stopSignal === undefined) return undefined;
  return { pid, stamp, stopSignal };
}

function recordPath(runDir: string, name: string): string {
  return join(runDir, `${name}.json`);
}
