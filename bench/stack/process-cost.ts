/** CPU and memory of a process with all that it started, from Linux's process table. */
import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second: 100 on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;

interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly cpuMs: number;
  readonly rssBytes: number;
}

const readRow = (pid: number): ProcessRow | undefined => {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    // The name, in parentheses, may hold anything; the fields begin after it.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    // By proc(5), counted from the third field on: ppid 4, utime 14, stime 15, cutime 16, cstime 17, rss 24.
    const [utime = 0, stime = 0, cutime = 0, cstime = 0] = fields.slice(11, 15);
    const ticks = utime + stime + cutime + cstime;
    return {
      pid,
      parent: fields[1] ?? 0,
      cpuMs: (ticks * 1000) / TICKS_PER_SECOND,
      rssBytes: (fields[21] ?? 0) * PAGE_BYTES,
    };
  } catch {
    return undefined; // it has ended
  }
};

const familyOf = (root: number): readonly ProcessRow[] => {
  const rows = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [readRow(Number(name))] : []));
  const all = rows.filter((row) => row !== undefined);
  const family = new Set([root]);
  for (let size = 0; size !== family.size;) {
    size = family.size;
    for (const { pid, parent } of all) if (family.has(parent)) family.add(pid);
  }
  return all.filter(({ pid }) => family.has(pid));
};

/** Milliseconds of CPU that these processes and their children have used so far. */
export const cpuMsOf = (pids: readonly number[]): number =>
  pids.flatMap(familyOf).reduce((sum, { cpuMs }) => sum + cpuMs, 0);

export const rssMbOf = (pid: number): number => Math.round((readRow(pid)?.rssBytes ?? 0) / 1024 / 1024);
