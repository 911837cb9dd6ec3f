import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { findLiveStack, removeStackFile, stackFilePath, writeStackFile } from '../../../../cli/dev/stack-file';
import { makeTempDir, removeDir } from '../../../support/temp-dir';

let dir: string;
beforeEach(() => {
  dir = makeTempDir('stack-file');
});
afterEach(() => {
  removeDir(dir);
});

const STACK = {
  startedAt: '2026-05-04T10:00:00.000Z',
  databaseUrl: 'postgres://holdfast:secret@127.0.0.1:5432/holdfast',
  temporal: { address: '127.0.0.1:7233', namespace: 'default' },
  uiUrl: null,
  taskQueue: 'holdfast',
  modelUrl: 'http://127.0.0.1:9999',
  agents: ['tickets'],
  agentsModule: { path: '/app/agents.js', environment: { HOLDFAST_EXAMPLE_DESK_URL: 'http://127.0.0.1:9998' } },
  tokenKey: 'c2VjcmV0',
  processes: { desk: 'http://127.0.0.1:9998' },
  logDir: '/app/logs',
};

const change = (changes: object): void => {
  const stack: unknown = JSON.parse(readFileSync(stackFilePath(dir), 'utf8'));
  writeFileSync(stackFilePath(dir), JSON.stringify({ ...(stack as object), ...changes }));
};

test('a stack is found while the process that wrote it lives', () => {
  writeStackFile(dir, STACK);

  expect(findLiveStack(dir)).toMatchObject({ ...STACK, pid: process.pid });
});

test('its password is for its owner alone', () => {
  writeStackFile(dir, STACK);

  expect(statSync(stackFilePath(dir)).mode & 0o777).toBe(0o600);
});

test('one whose process is gone is none, also where another has its number', () => {
  writeStackFile(dir, STACK);
  change({ stamp: 'another boot:1' });

  expect(findLiveStack(dir)).toBeUndefined();
});

test.each([['{'], ['{}'], ['null']])('a file that is none (%s) is no stack', (text) => {
  writeFileSync(stackFilePath(dir), text);

  expect(findLiveStack(dir)).toBeUndefined();
});

test('removing takes only our own file', () => {
  writeStackFile(dir, STACK);
  change({ pid: 1 });
  removeStackFile(dir);
  expect(existsSync(stackFilePath(dir))).toBe(true);

  change({ pid: process.pid });
  removeStackFile(dir);
  expect(existsSync(stackFilePath(dir))).toBe(false);
  removeStackFile(dir);
});
