import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { errorCode } from './errors';

/**
 * Reads the operating system's process table. Linux answers from /proc, so nothing but the kernel is needed there
 * (slim images have no `ps`); elsewhere `ps` is part of the system.
 */
const isLinux = process.platform === 'linux';

/** True also for a process of somebody else, and for a zombie that nobody has collected yet. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/**
 * A text that tells this process from any other that gets the same pid later: the boot and the start time.
 * `undefined` when there is no such process.
 */
export function processStamp(pid: number): string | undefined {
  if (!isLinux) return psLine(pid, 'lstart');
  const stat = readStat(pid);
  return stat === undefined || stat.state === 'Z' ? undefined : `${bootId()}:${stat.startTicks}`;
}

/** The pid itself, then all below it, parents before children. */
export function processTree(pid: number): readonly number[] {
  const children = childrenByParent();
  const tree = [pid];
  // The list grows while it is walked.
  for (const member of tree) tree.push(...(children.get(member) ?? []));
  return tree;
}

/** Processes whose working directory is `directory`: PostgreSQL's postmaster and all its backends work in their data directory. */
export function processesWorkingIn(directory: string): readonly number[] {
  if (isLinux) return allPids().filter((pid) => workingDirectory(pid) === directory);
  return allPids().filter((pid) => psLine(pid, 'command')?.includes(directory) === true);
}

interface Stat {
  readonly state: string;
  readonly parent: number;
  readonly startTicks: string;
}

function readStat(pid: number): Stat | undefined {
  const text = readText(`/proc/${String(pid)}/stat`);
  if (text === undefined) return undefined;
  // The second field is the program's name in parentheses and may hold blanks and parentheses itself.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, parent] = fields;
  const startTicks = fields[19];
  if (state === undefined || parent === undefined || startTicks === undefined) return undefined;
  return { state, parent: Number(parent), startTicks };
}

function bootId(): string {
  return readText('/proc/sys/kernel/random/boot_id')?.trim() ?? 'unknown-boot';
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // the process ended while we looked
  }
}

function workingDirectory(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${String(pid)}/cwd`);
  } catch {
    return undefined; // ended, or not ours to look at
  }
}

function allPids(): readonly number[] {
  if (isLinux)
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  return ps(['-A', '-o', 'pid=']).map(Number);
}

function childrenByParent(): ReadonlyMap<number, readonly number[]> {
  const children = new Map<number, number[]>();
  for (const [pid, parent] of parents()) {
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  return children;
}

function parents(): readonly (readonly [pid: number, parent: number])[] {
  if (isLinux) return allPids().map((pid) => [pid, readStat(pid)?.parent ?? -1] as const);
  return ps(['-A', '-o', 'pid=,ppid=']).map((line) => {
    const [pid = '', parent = ''] = line.trim().split(/\s+/);
    return [Number(pid), Number(parent)] as const;
  });
}

function psLine(pid: number, column: string): string | undefined {
  return ps(['-p', String(pid), '-o', `${column}=`])[0];
}

function ps(args: readonly string[]): readonly string[] {
  try {
    const lines = execFileSync('ps', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\n');
    return lines.map((line) => line.trim()).filter((line) => line !== '');
  } catch {
    return []; // ps fails when no process matches
  }
}
