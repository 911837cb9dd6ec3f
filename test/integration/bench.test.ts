/** The suites with tiny sizes: what they print, and that their numbers are counted. No time is asserted. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { allGone } from '../support/built-cli';
import { builtPackage } from '../support/services';
import { processTree } from '../../cli/stack/process-table';

const AMOUNT = z.number().positive();

const WAITS = z.strictObject({
  parked: z.strictObject({
    runs: z.literal(3),
    cachedWorkflows: z.literal(2),
    rssBeforeMb: AMOUNT,
    rssParkedMb: AMOUNT,
    cpuBefore: z.number().nonnegative(),
    cpuParked: z.number().nonnegative(),
  }),
  rows: z.array(
    z.strictObject({
      workload: z.enum(['response', 'callback']),
      samples: z.literal(2),
      medianMs: AMOUNT,
      p99Ms: AMOUNT,
      bareMedianMs: AMOUNT,
      bareP99Ms: AMOUNT,
      medianRatio: AMOUNT,
      p99Ratio: AMOUNT,
    }),
  ),
});

const SERVICE = z.strictObject({
  rows: z.array(
    z.strictObject({
      workload: z.enum(['start', 'snapshot', 'list', 'respond']),
      requestsPerSecond: AMOUNT,
      medianMs: AMOUNT,
      p99Ms: AMOUNT,
      ratio: AMOUNT,
    }),
  ),
  viewers: z.strictObject({
    count: z.literal(3),
    rssBeforeMb: AMOUNT,
    rssOpenMb: AMOUNT,
    rssClosedMb: AMOUNT,
    deliveredEvents: z.int().positive(),
  }),
});

let program: string;
beforeAll(async () => {
  program = join(await builtPackage(), 'bench/main.js');
});

interface Ended {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
  /** What it had started, as far as it was seen when it spoke. */
  readonly pids: readonly number[];
}

const runBench = async (args: readonly string[], onLine: (line: string, pid: number) => void = () => undefined) => {
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const pids = new Set<number>();
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (lines: string) => {
    stderr += lines;
    for (const pid of processTree(child.pid ?? 0).slice(1)) pids.add(pid);
    onLine(lines, child.pid ?? 0);
  });
  const [stdout, status]: [string, unknown[]] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const ended: Ended = { code: status[0], stdout, stderr, pids: [...pids] };
  return ended;
};

const documentOf = ({ code, stdout, stderr }: Ended): unknown => {
  if (code !== 0) throw new Error(`it ended with ${String(code)}:\n${stderr}`);
  return JSON.parse(stdout);
};

test('waits: parked runs and both ways to go on, next to the bare signal', async () => {
  const sizes = ['--parked', '3', '--cached', '2', '--samples', '2', '--watch-ms', '200'];

  const ended = await runBench(['waits', '--json', ...sizes]);

  const { rows } = WAITS.parse(documentOf(ended));
  expect(rows.map(({ workload }) => workload)).toEqual(['response', 'callback']);
  for (const row of rows) {
    expect(row.p99Ms).toBeGreaterThanOrEqual(row.medianMs);
    expect(row.medianRatio).toBeCloseTo(row.medianMs / row.bareMedianMs, 1);
  }
  expect(ended.pids.length).toBeGreaterThan(3);
  expect(await allGone(ended.pids)).toBe(true);
});

test('service: every kind of request, and viewers that all get the whole journal', async () => {
  const sizes = ['--runs', '20', '--requests', '8', '--responses', '4', '--rounds', '2', '--viewers', '3'];

  const ended = await runBench(['service', '--json', '--reads', '2', ...sizes]);

  const { rows, viewers } = SERVICE.parse(documentOf(ended));
  expect(rows.map(({ workload }) => workload)).toEqual(['snapshot', 'list', 'respond', 'start']);
  for (const { medianMs, p99Ms } of rows) expect(p99Ms).toBeGreaterThanOrEqual(medianMs);
  expect(viewers.deliveredEvents % viewers.count).toBe(0);
  expect(viewers.deliveredEvents / viewers.count).toBeGreaterThan(10);
  expect(await allGone(ended.pids)).toBe(true);
});

test('a suite that is stopped ends what it has started, and prints nothing', async () => {
  const ended = await runBench(['waits', '--json', '--parked', '3'], (line, pid) => {
    if (line.includes('warming up')) process.kill(pid, 'SIGTERM');
  });

  expect(ended).toMatchObject({ code: 143, stdout: '' });
  expect(ended.pids.length).toBeGreaterThan(3);
  expect(await allGone(ended.pids)).toBe(true);
});
