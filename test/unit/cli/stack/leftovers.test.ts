import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endLeftovers, forgetProcess, recordProcess } from '../../../../cli/stack/leftovers';
import { isAlive, processStamp, processTree, processesWorkingIn } from '../../../../cli/stack/process-table';
import { makeTempDir, removeDir } from '../../../support/temp-dir';

let dir: string;
let children: ChildProcess[] = [];

beforeEach(() => {
  dir = makeTempDir('leftovers');
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  removeDir(dir);
});

async function start(command: string, ...args: string[]): Promise<number> {
  const child = spawn(command, args, { cwd: dir, stdio: 'ignore' });
  children.push(child);
  await once(child, 'spawn');
  return child.pid ?? 0;
}

test('a recorded process that still runs is ended, by its own stop signal', async () => {
  const pid = await start('sleep', '60');
  const ended = once(children[0] ?? process, 'exit');
  recordProcess(dir, { name: 'postgres', pid, stopSignal: 'SIGINT' });

  expect(await endLeftovers(dir)).toEqual(['postgres']);

  expect(await ended).toEqual([null, 'SIGINT']);
  expect(readdirSync(dir)).toEqual([]);
});

test('a process that merely has the recorded number is left alone', async () => {
  const pid = await start('sleep', '60');
  writeFileSync(join(dir, 'worker.json'), JSON.stringify({ pid, stamp: 'another-boot:1', stopSignal: 'SIGTERM' }));

  expect(await endLeftovers(dir)).toEqual([]);

  expect(isAlive(pid)).toBe(true);
  expect(readdirSync(dir)).toEqual([]);
});

test.each(['', '{"pid":', '{"pid":1,"stamp":"x","stopSignal":"SIGSTOP"}'])(
  'a record that is not whole (%j) ends nothing',
  async (content) => {
    writeFileSync(join(dir, 'worker.json'), content);

    expect(await endLeftovers(dir)).toEqual([]);
  },
);

test('a process forgets only its own record', async () => {
  const pid = await start('sleep', '60');
  recordProcess(dir, { name: 'worker', pid, stopSignal: 'SIGTERM' });

  forgetProcess(dir, 'worker', pid + 1);
  expect(readdirSync(dir)).toEqual(['worker.json']);
  forgetProcess(dir, 'worker', pid);
  expect(readdirSync(dir)).toEqual([]);
});

test('the process table tells a process from others, its children, and where it works', async () => {
  const pid = await start('sh', '-c', 'sleep 60 & wait');
  const stamp = processStamp(pid);

  expect(stamp).toBe(processStamp(pid));
  expect(stamp).not.toBe(processStamp(process.pid));
  expect(processStamp(999_999_999)).toBeUndefined();
  expect(processTree(process.pid)).toContain(pid);
  expect(processesWorkingIn(dir)).toContain(pid);
  for (const member of processTree(pid)) process.kill(member, 'SIGKILL');
});
