import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { StackError, errorCode } from './errors';
import { processStamp } from './process-table';

export interface LockHolder {
  readonly pid: number;
  /** Boot and start time of the process: a later process with the same pid is not the holder. */
  readonly stamp: string;
  readonly host: string;
}

export interface DataDirLock {
  /** Idempotent; synchronous, so that an exit handler can call it. */
  release(): void;
}

const MAX_TAKEOVERS = 5;

/**
 * Takes `path` for this process, or throws `stack.data_dir_locked` with the process that has it.
 * The lock of a process that is gone (SIGKILL, power loss) is taken over.
 *
 * The file appears with its content in one step (`link`), and a dead holder's file is moved away before a new one is
 * laid: of two processes that find the same dead holder, only one moves that very file, and the other sees that it moved
 * something else and puts it back.
 */
export function lockDataDir(path: string): DataDirLock {
  const mine: LockHolder = { pid: process.pid, stamp: processStamp(process.pid) ?? 'unknown', host: hostname() };
  for (let attempt = 0; attempt < MAX_TAKEOVERS; attempt += 1) {
    if (tryCreate(path, JSON.stringify(mine))) return { release: () => releaseIfMine(path, mine) };
    const text = readLock(path);
    if (text === undefined) continue;
    const holder = parseHolder(text);
    if (holder !== undefined && mayBeAlive(holder)) throw lockedBy(path, holder);
    moveAway(path, text);
  }
  throw lockedBy(path, parseHolder(readLock(path) ?? ''));
}

function tryCreate(path: string, content: string): boolean {
  const draft = `${path}.${uniqueSuffix()}`;
  writeFileSync(draft, content, { mode: 0o600 });
  try {
    linkSync(draft, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

function moveAway(path: string, deadContent: string): void {
  const aside = `${path}.${uniqueSuffix()}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return; // another process was quicker
    throw error;
  }
  if (readLock(aside) !== deadContent) restore(aside, path);
  rmSync(aside, { force: true });
}

function restore(aside: string, path: string): void {
  try {
    linkSync(aside, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

function releaseIfMine(path: string, mine: LockHolder): void {
  if (readLock(path) === JSON.stringify(mine)) rmSync(path, { force: true });
}

/** A holder on another host (a shared volume) cannot be looked at, so it counts as alive. */
function mayBeAlive(holder: LockHolder): boolean {
  return holder.host !== hostname() || processStamp(holder.pid) === holder.stamp;
}

function lockedBy(path: string, holder: LockHolder | undefined): StackError {
  const here = holder?.host === hostname();
  const who = holder === undefined ? 'another process' : `process ${String(holder.pid)} on host ${holder.host}`;
  const mend = here
    ? 'stop that one first, or set HOLDFAST_DATA_DIR to another directory'
    : `if that one is certainly gone, delete ${path}; else set HOLDFAST_DATA_DIR to another directory`;
  return new StackError('stack.data_dir_locked', `the data directory is in use by ${who} (${path}): ${mend}`, {
    path,
    holder,
  });
}

function parseHolder(text: string): LockHolder | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const { pid, stamp, host } = value as Partial<Record<keyof LockHolder, unknown>>;
    if (typeof pid !== 'number' || typeof stamp !== 'string' || typeof host !== 'string') return undefined;
    return { pid, stamp, host };
  } catch {
    return undefined; // a half-written file of a machine that lost power: nobody holds it
  }
}

function readLock(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function uniqueSuffix(): string {
  return `${String(process.pid)}-${randomBytes(4).toString('hex')}`;
}
