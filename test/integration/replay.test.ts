/** What earlier releases have begun, this build goes on with: every kept history replays, and a change that breaks one is named. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Worker } from '@temporalio/worker';
import { readFixtures } from '../support/scenario/fixtures';
import { quietly } from '../support/scenario/histories';
import { workflowBundle } from '../support/services';
import { makeTempDir, removeDir } from '../support/temp-dir';

const FIXTURES = readFixtures();

let bundlePath: string;
let directory: string;
beforeAll(async () => {
  quietly();
  directory = makeTempDir('replay');
  bundlePath = await workflowBundle();
});
afterAll(() => {
  removeDir(directory);
});

/** What is wrong with each that does not replay, by its name. */
const replay = async (codePath: string): Promise<ReadonlyMap<string, string>> => {
  const faults = new Map<string, string>();
  const histories = FIXTURES.map(({ name, history }) => ({ workflowId: name, history }));
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle: { codePath } }, histories)) {
    if (error !== undefined) faults.set(workflowId, error.message);
  }
  return faults;
};

/** The bundle with one thing changed everywhere, as a careless release would. */
const changed = (from: string, to: string): string => {
  const code = readFileSync(bundlePath, 'utf8');
  if (!code.includes(from)) throw new Error(`the bundle does not hold ${from}`);
  const path = join(directory, 'changed-bundle.js');
  writeFileSync(path, code.replaceAll(from, to));
  return path;
};

test('there is a history of every kind', () => {
  const kinds = new Set(FIXTURES.map(({ name }) => name.split('.')[0]));
  expect([...kinds].sort()).toEqual([
    'amended-cancelled',
    'approval-expired',
    'approval-given',
    'approval-waiting',
    'batch-done',
    'batch-waiting',
    'continued',
    'job-done',
    'job-waiting',
    'loop-diagnosed',
    'question-answered',
    'receipt-lost',
    'stream-cut',
    'walk-through',
    'worker-lost',
  ]);
});

test('every history replays', async () => {
  expect(await replay(bundlePath)).toEqual(new Map());
});

test.each([
  ['an activity with another name', 'local.judgeCandidate(', 'local.judgeOtherwise('],
  ['a carrier that is asked for no more', 'stored.openWait(', 'stored.carry('],
])('%s is found out, with the history and the event', async (_title, from, to) => {
  const faults = await replay(changed(from, to));

  expect(faults.size).toBeGreaterThan(0);
  for (const [name, message] of faults) {
    expect(FIXTURES.map((fixture) => fixture.name)).toContain(name);
    expect(message).toMatch(/[Nn]ondeterminism/);
    expect(message).toMatch(/(event|marker)[^.]* '[^']+'/i);
  }
});
