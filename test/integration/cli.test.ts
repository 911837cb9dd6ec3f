/** The built program as a user runs it. Each stack takes seconds to start, so one serves many facts. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { DEV_REPORT, type DevReport } from '../../cli/dev/judge-run';
import { stackFilePath } from '../../cli/dev/stack-file';
import { RUN_REPORT } from '../../cli/view/run-report';
import { allGone, runCliProcess, startCli, type CliProcess, type CliResult } from '../support/built-cli';
import { builtPackage } from '../support/services';
import { makeTempDir, removeDir } from '../support/temp-dir';

const BUILD_LIMIT_MS = 600_000;

let dist: string;
let dir: string;
let dataDir: string;
const started: CliProcess[] = [];

beforeAll(async () => {
  dist = await builtPackage();
  dir = makeTempDir('cli');
  dataDir = join(dir, 'data');
}, BUILD_LIMIT_MS);

afterAll(async () => {
  for (const { child } of started) child.kill('SIGTERM');
  await Promise.all(started.map(({ ended }) => ended));
  removeDir(dir);
});

const start = (...args: string[]): CliProcess => {
  const cli = startCli(args, { dist, dataDir });
  started.push(cli);
  return cli;
};
const run = (...args: string[]): Promise<CliResult> => runCliProcess(args, { dist, dataDir });

const json = (text: string): unknown => JSON.parse(text);
const PROCESS = z.object({ pid: z.int() });

describe('one run and out', () => {
  let cli: CliProcess;
  let descendants: readonly number[];
  let exitCode: number | string;
  let report: DevReport;

  beforeAll(async () => {
    cli = start('dev', '--once', '--json', '--scenario', 'normal');
    await cli.says(/The stack is ready/);
    descendants = cli.descendants();
    exitCode = await cli.ended;
    report = DEV_REPORT.parse(json(cli.stdout()));
  });

  test('T100 succeeds with one effect, and the exit code says so', () => {
    expect({ exitCode, differences: report.expected.differences }).toEqual({ exitCode: 0, differences: [] });
    expect(report).toMatchObject({ terminal: 'SUCCEEDED', reason: 'finish.done', model: 'scripted, offline' });
    expect(report.desk.effects).toHaveLength(1);
  });

  test('the one write was sent once, under the key that the desk has', () => {
    const writes = report.operations.filter(({ effect }) => effect === 'write');

    expect(writes).toMatchObject([{ tool: 'reassign_ticket', state: 'SUCCEEDED', generation: 1 }]);
    expect(report.desk.effects?.[0]).toMatchObject({ key: writes[0]?.id, kind: 'reassign', ticket: 'T100' });
  });

  test('each claim cites evidence of an operation, and states run from READY to the end', () => {
    const evidence = report.operations.map((operation) => operation.evidence);
    const cited = report.result?.claims.flatMap((claim) => claim.evidence) ?? [];

    expect(cited.length).toBeGreaterThan(0);
    expect(evidence).toEqual(expect.arrayContaining(cited));
    expect(report.states.at(0)?.state).toBe('READY');
    expect(report.states.at(-1)?.state).toBe('SUCCEEDED');
    expect(report.ledger).toMatchObject({ steps: report.steps, attempts: report.attempts });
  });

  test('what is shown meanwhile goes to standard error, one line for each transition', () => {
    expect(cli.stderr()).toMatch(/MODEL_RUNNING → VALIDATING +candidate\.stored +step 1 {2}attempt 1/);
    expect(cli.stderr()).toMatch(/call\.dispatch\.ended +step \d+ {2}call 1 reassign_ticket SUCCEEDED E/);
  });

  test('nothing is left: no process, no record of one, no stack that others would find', async () => {
    expect(descendants.length).toBeGreaterThan(8);
    expect(await allGone(descendants)).toBe(true);
    expect(readdirSync(join(dataDir, 'run'))).toEqual([]);
    expect(existsSync(stackFilePath(dataDir))).toBe(false);
    expect(existsSync(join(dataDir, 'stack.lock'))).toBe(false);
  });

  test('the worker’s log is in the data directory, as JSON', () => {
    const lines = readFileSync(join(dataDir, 'logs', 'worker.log'), 'utf8')
      .trim()
      .split('\n');

    expect(
      lines.map(json).filter((line) => z.object({ msg: z.string() }).safeParse(line).success).length,
    ).toBeGreaterThan(0);
  });

  describe('the stack again, on the same data', () => {
    let stack: CliProcess;
    let second: string;

    beforeAll(async () => {
      stack = start('dev', '--stay', '--scenario', 'lost-receipt');
      await stack.says(/stays up/);
      second = /run_[\w-]+/.exec(stack.stdout())?.[0] ?? '';
    });

    test('a lost receipt is one effect all the same, shown as it happened', () => {
      expect(stack.stdout()).toMatch(/call\.dispatch\.ended +step \d+ {2}call 1 reassign_ticket UNKNOWN/);
      expect(stack.stdout()).toMatch(/As the scenario says: SUCCEEDED, 1 effect\n/);
      expect(stack.stdout()).toContain('model: scripted, offline');
    });

    test('the first run is still there, with its result', async () => {
      const result = await run('runs', 'result', report.run, '--json');

      expect(result.exitCode).toBe(0);
      expect(RUN_REPORT.parse(json(result.stdout)).result).toEqual(report.result);
      expect(result.stderr).toMatch(/using the development stack of process \d+/);
    });

    test('runs are listed, the newest first', async () => {
      const { stdout } = await run('runs', 'list', '--json');

      expect(json(stdout)).toMatchObject({ runs: [{ run: second, terminal: 'SUCCEEDED' }, { run: report.run }] });
    });

    test('a run is shown down to its operations, with its limits', async () => {
      const { exitCode: code, stdout } = await run('runs', 'get', report.run);

      expect(code).toBe(0);
      expect(stdout).toMatch(/Step 1 .*\n +attempt 1 STORED/);
      expect(stdout).toMatch(/op_\S+_3_1 {2}reassign_ticket {2}ticket:T100 {2}SUCCEEDED/);
      expect(stdout).toMatch(/steps +4 of 20/);
    });

    test('watching a run that has ended shows all of its journal, as text or as lines of JSON', async () => {
      const [text, lines] = await Promise.all([
        run('runs', 'watch', report.run),
        run('runs', 'watch', report.run, '--json'),
      ]);

      expect([text.exitCode, lines.exitCode]).toEqual([0, 0]);
      expect(text.stdout).toMatch(/READY +→ MODEL_RUNNING[^]*FINALIZING +→ SUCCEEDED/);
      const positions = lines.stdout
        .trim()
        .split('\n')
        .map((line) => z.object({ position: z.number() }).parse(json(line)).position);
      expect(positions).toEqual(positions.map((_, index) => index + 1));
    });

    test('a run is started, waited for, and found again under its key', async () => {
      const args = ['runs', 'start', '--agent', 'tickets', '--goal', 'Read ticket T101 and handle it', '--json'];
      const task = [...args, '--data', '{"ticket":"T101"}', '--idempotency-key', 'again'];

      const waited = await run(...task, '--wait');
      const again = await run(...task);
      const other = await run(...args, '--idempotency-key', 'again');

      const { run: id, terminal } = RUN_REPORT.parse(json(waited.stdout));
      expect({ exitCode: waited.exitCode, terminal }).toEqual({ exitCode: 0, terminal: 'SUCCEEDED' });
      expect(json(again.stdout)).toMatchObject({ run: id, state: 'SUCCEEDED' });
      expect(other.exitCode).toBe(1);
      expect(json(other.stdout)).toMatchObject({ error: { code: 'run.body_differs' } });
    });

    test('a run that has ended cannot be cancelled', async () => {
      const { exitCode: code, stdout } = await run('runs', 'cancel', report.run, '--json');

      expect(code).toBe(1);
      expect(json(stdout)).toMatchObject({ error: { code: 'run.ended' } });
    });

    test('another tenant’s run is none', async () => {
      const { exitCode: code, stdout } = await run('runs', 'get', report.run, '--tenant', 'other', '--json');

      expect(code).toBe(1);
      expect(json(stdout)).toMatchObject({ error: { code: 'run.not_found' } });
    });

    test.each([
      [
        'an unknown agent',
        ['runs', 'start', '--agent', 'nope', '--goal', 'x'],
        /--agent: got 'nope', expected one of tickets/,
      ],
      [
        'data that is no object',
        ['runs', 'start', '--agent', 'tickets', '--goal', 'x', '--data', '[1]'],
        /--data: got \[1\]/,
      ],
      [
        'a limit that is none',
        ['runs', 'start', '--agent', 'tickets', '--goal', 'x', '--limits', '{"maxSteps":0}'],
        /limits\.maxSteps: got 0/,
      ],
      ['an id that is none', ['runs', 'get', 'run'], /run: got "run", expected a run id/],
      ['an unknown state', ['runs', 'list', '--state', 'HAPPY'], /--state: got 'HAPPY', expected one of STARTING/],
      ['a cursor that no page gave', ['runs', 'list', '--cursor', 'x'], /cursor: got "x"/],
    ])('%s is wrong usage', async (_, args, words) => {
      const { exitCode: code, stdout, stderr } = await run(...args);

      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(words);
    });

    test('the worker that somebody kills is replaced, and the next run is served', async () => {
      const { pid } = PROCESS.parse(json(readFileSync(join(dataDir, 'run', 'worker.json'), 'utf8')));
      process.kill(pid, 'SIGKILL');
      const task = ['--agent', 'tickets', '--goal', 'Read ticket T101 and handle it', '--data', '{"ticket":"T101"}'];

      const waited = await run('runs', 'start', ...task, '--wait', '--json');

      expect(RUN_REPORT.parse(json(waited.stdout))).toMatchObject({ terminal: 'SUCCEEDED' });
      expect(stack.stderr()).toMatch(/The worker was killed: another one takes over/);
    });

    test('the doctor finds nothing wrong', async () => {
      const { exitCode: code, stdout } = await run('doctor', '--json');

      expect(json(stdout)).toMatchObject({ isHealthy: true });
      expect(code).toBe(0);
    });

    test('a second stack on the same data is refused, and the first is named', async () => {
      const { exitCode: code, stdout } = await run('dev', '--once', '--json');

      expect(code).toBe(1);
      expect(json(stdout)).toMatchObject({
        error: { code: 'stack.data_dir_locked', message: expect.stringContaining(String(stack.child.pid)) },
      });
    });

    test('SIGINT twice ends everything at once', async () => {
      const all = stack.descendants();
      expect(all.length).toBeGreaterThan(8);

      stack.child.kill('SIGINT');
      await stack.says(/SIGINT: ending the stack/);
      stack.child.kill('SIGINT');

      expect(await stack.ended).toBe(130);
      expect(await allGone(all)).toBe(true);
      expect(existsSync(stackFilePath(dataDir))).toBe(false);
      expect(existsSync(join(dataDir, 'stack.lock'))).toBe(false);
    });
  });

  test('where a person is asked and nobody is there, the scenario answers, and that is said', async () => {
    const asked = await run('dev', '--once', '--json', '--scenario', 'missing-input');
    const { terminal, waits, expected } = DEV_REPORT.parse(json(asked.stdout));

    expect({ exitCode: asked.exitCode, terminal, differences: expected.differences }).toEqual({
      exitCode: 0,
      terminal: 'SUCCEEDED',
      differences: [],
    });
    expect(waits).toMatchObject([{ kind: 'question', state: 'CONSUMED', answeredBy: 'scenario' }]);
    expect(asked.stderr).toMatch(/nobody was asked: \{"ticket":100\} → ticket: got 100, expected a text/);
    expect(asked.stderr).toMatch(/nobody was asked: \{"ticket":"T100"\} → accepted/);
  });
});

test('without a run the stack comes up, says how to start one on its data, and stays', async () => {
  const emptyDir = join(dir, 'no-run');
  const cli = startCli(['dev', '--no-run'], { dist, dataDir: emptyDir });
  started.push(cli);
  await cli.says(/The stack stays up/);

  const { stdout } = await runCliProcess(['runs', 'list', '--json'], { dist, dataDir: emptyDir });
  cli.child.kill('SIGINT');

  expect(stdout).not.toContain('run_');
  expect(cli.stderr()).toContain(`HOLDFAST_DATA_DIR=${emptyDir} npx holdfast runs start`);
  expect(await cli.ended).toBe(130);
  expect(cli.stdout()).toBe('');
});

test('SIGINT while the stack starts ends what there is', async () => {
  const cli = startCli(['dev', '--once', '--json'], { dist, dataDir: join(dir, 'early') });
  started.push(cli);
  await cli.says(/Starting Temporal/);
  const descendants = cli.descendants();

  cli.child.kill('SIGINT');

  expect(await cli.ended).toBe(130);
  expect(cli.stdout()).toBe('');
  expect(await allGone(descendants)).toBe(true);
});

test('an example of one’s own runs, and an effect that its scenario does not expect fails it', async () => {
  const folder = join(dir, 'example');
  mkdirSync(folder);
  const built = join(dist, 'examples', 'tickets');
  for (const module of ['agents', 'model-script']) {
    writeFileSync(join(folder, `${module}.js`), `module.exports = require(${JSON.stringify(join(built, module))});`);
  }
  mkdirSync(join(folder, 'desk'));
  writeFileSync(join(folder, 'desk', 'main.js'), `require(${JSON.stringify(join(built, 'desk', 'main.js'))});`);
  writeFileSync(
    join(folder, 'dev-example.js'),
    `const { devExample } = require(${JSON.stringify(join(built, 'dev-example.js'))});
     const [scenario] = devExample.scenarios;
     const expected = { ...scenario.expected, effects: [] };
     exports.devExample = { ...devExample, scenarios: [{ ...scenario, name: 'hopeful', expected }] };`,
  );

  const { exitCode, stdout } = await run(
    'dev',
    '--once',
    '--json',
    '--fresh',
    '--agents',
    folder,
    '--scenario',
    'hopeful',
  );

  const report = DEV_REPORT.parse(json(stdout));
  expect(report).toMatchObject({
    terminal: 'SUCCEEDED',
    expected: { isMet: false, differences: ['1 effect, expected 0'] },
  });
  expect(exitCode).toBe(1);
});
