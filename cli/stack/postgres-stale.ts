import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { StackError } from './errors';
import { processesWorkingIn } from './process-table';
import { waitFor } from './wait-for';

const SHUTDOWN_LIMIT_MS = 10_000;
const KILL_LIMIT_MS = 5_000;

/**
 * Clears what a server left that was killed, or that outlived its stack. Only a process that works in `dataDirectory`
 * (as the postmaster and its backends do) is ended; a pid file that names any other process is merely deleted, as that
 * process got the number after the server's end. Call it only while holding the data directory. Returns whether a server
 * was ended.
 */
export async function clearStalePostgres(dataDirectory: string): Promise<boolean> {
  const pidFile = join(dataDirectory, 'postmaster.pid');
  const pid = postmasterPid(pidFile);
  const works = (): readonly number[] => processesWorkingIn(dataDirectory);
  const ours = works();
  if (ours.length > 0) {
    signal(ours, 'SIGCONT');
    // The postmaster ends its backends; those of a dead postmaster end by themselves.
    if (pid !== undefined && ours.includes(pid)) signal([pid], 'SIGINT');
    await endBy(works);
  }
  if (existsSync(pidFile)) rmSync(pidFile);
  return ours.length > 0;
}

async function endBy(works: () => readonly number[]): Promise<void> {
  if (await waitFor(() => works().length === 0, SHUTDOWN_LIMIT_MS)) return;
  signal(works(), 'SIGKILL');
  if (await waitFor(() => works().length === 0, KILL_LIMIT_MS)) return;
  const pids = works();
  throw new StackError('stack.postgres_data', `an older PostgreSQL does not end (pids ${pids.join(', ')})`, { pids });
}

function postmasterPid(pidFile: string): number | undefined {
  if (!existsSync(pidFile)) return undefined;
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n', 1)[0]);
  return Number.isInteger(pid) && pid > 1 ? pid : undefined;
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // ended in between
    }
  }
}
