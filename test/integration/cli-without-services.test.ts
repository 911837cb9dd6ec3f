/** The built program where there is nothing for it to run on: what is missing is named. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { runCliProcess, type CliResult } from '../support/built-cli';
import { builtPackage } from '../support/services';
import { makeTempDir, removeDir } from '../support/temp-dir';

const BUILD_LIMIT_MS = 600_000;

let dist: string;
let dir: string;

beforeAll(async () => {
  dist = await builtPackage();
  dir = makeTempDir('cli');
}, BUILD_LIMIT_MS);

afterAll(() => {
  removeDir(dir);
});

const runWith = (env: Readonly<Record<string, string>>, ...args: string[]): Promise<CliResult> =>
  runCliProcess(args, { dist, dataDir: join(dir, 'data'), env });
const json = (text: string): unknown => JSON.parse(text);

test('an unknown scenario is wrong usage', async () => {
  const { exitCode, stderr } = await runWith({}, 'dev', '--scenario', 'nope');

  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/--scenario: got 'nope', expected one of the example tickets: normal, /);
});

test('a wrong setting is wrong usage, and named', async () => {
  const { exitCode, stderr } = await runWith({ HOLDFAST_LOG_LEVEL: 'loud' }, 'runs', 'list');

  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/HOLDFAST_LOG_LEVEL: got "loud"/);
});

test('a fault of the model is not asked of a real one', async () => {
  const { exitCode, stderr } = await runWith({ ANTHROPIC_API_KEY: 'x' }, 'dev', '--scenario', 'refused');

  expect(exitCode).toBe(2);
  expect(stderr).toMatch(/--scenario: got 'refused'.*--offline/);
});

test('runs need services, and the way to them is told', async () => {
  const { exitCode, stderr } = await runWith({}, 'runs', 'list');

  expect(exitCode).toBe(1);
  expect(stderr).toMatch(/DATABASE_URL: got nothing[^]*holdfast dev/);
});

test('a database that does not answer is told by its address, without the password', async () => {
  const env = { DATABASE_URL: 'postgres://me:secret@127.0.0.1:1/holdfast' };

  const { exitCode, stdout, stderr } = await runWith(env, 'runs', 'list', '--json');

  expect(exitCode).toBe(1);
  expect(json(stdout)).toMatchObject({ error: { code: 'database.unavailable' } });
  expect(stderr).toMatch(/no answer at 127\.0\.0\.1:1\/holdfast/);
  expect(stdout + stderr).not.toContain('secret');
});

test('the doctor names all that is missing, and how to mend it', async () => {
  const env = { TEMPORAL_ADDRESS: '127.0.0.1:1', DATABASE_URL: 'postgres://me:secret@127.0.0.1:1/holdfast' };

  const { exitCode, stdout } = await runWith(env, 'doctor', '--json');

  expect(exitCode).toBe(1);
  expect(json(stdout)).toEqual({
    isHealthy: false,
    findings: [
      {
        check: 'database',
        status: 'wrong',
        found: expect.stringMatching(/127\.0\.0\.1:1\/holdfast/),
        mend: expect.stringMatching(/DATABASE_URL/),
      },
      {
        check: 'engine',
        status: 'wrong',
        found: expect.stringMatching(/127\.0\.0\.1:1/),
        mend: expect.stringMatching(/TEMPORAL_ADDRESS/),
      },
      {
        check: 'model',
        status: 'wrong',
        found: expect.stringMatching(/ANTHROPIC_API_KEY is not set/),
        mend: expect.any(String),
      },
      { check: 'agents', status: 'wrong', found: expect.any(String), mend: expect.stringMatching(/HOLDFAST_AGENTS/) },
      { check: 'bundle', status: 'ok', found: expect.any(String) },
    ],
  });
});

test('a worker says what it lacks', async () => {
  const agents = join(dist, 'examples', 'tickets', 'agents.js');

  const [nothing, noDatabase, noBundle] = await Promise.all([
    runWith({}, 'worker'),
    runWith({}, 'worker', '--agents', agents),
    runWith(
      {
        DATABASE_URL: 'postgres://me:secret@127.0.0.1:1/holdfast',
        ANTHROPIC_API_KEY: 'x',
        HOLDFAST_WORKFLOW_BUNDLE: join(dir, 'none.js'),
      },
      ...['worker', '--agents', agents],
    ),
  ]);

  expect([nothing.exitCode, noDatabase.exitCode, noBundle.exitCode]).toEqual([2, 2, 1]);
  expect(nothing.stderr).toMatch(/--agents: got nothing/);
  expect(noDatabase.stderr).toMatch(/DATABASE_URL: got nothing/);
  expect(noBundle.stderr).toMatch(/workflow bundle: got nothing at .*none\.js.*npm run bundle/);
});
