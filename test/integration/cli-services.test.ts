/** The built program on services that the environment names, as in production: migrate, doctor, worker, runs. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { join } from 'node:path';
import { z } from 'zod';
import { RUN_REPORT } from '../../cli/view/run-report';
import { toNewRun } from '../../client/start-request';
import { startDeskProcess, type DeskProcess } from '../../examples/tickets/desk/desk-process';
import { createScript } from '../../examples/tickets/model-script';
import { createPostgresStore } from '../../store/postgres';
import { startModelServer, type ModelServer } from '../../testing';
import { runCliProcess, startCli, type CliOptions, type CliProcess, type CliResult } from '../support/built-cli';
import { startTestDatabase, type TestDatabase } from '../support/databases';
import { builtPackage, startDevServer } from '../support/services';
import { makeTempDir, removeDir } from '../support/temp-dir';

const ROOT = join(__dirname, '..', '..');
const BUILD_LIMIT_MS = 600_000;

let dir: string;
let database: TestDatabase;
let desk: DeskProcess;
let model: ModelServer;
let options: CliOptions;
let worker: CliProcess | undefined;

beforeAll(async () => {
  const dist = await builtPackage();
  dir = makeTempDir('cli-services');
  const temporal = await startDevServer();
  // Empty: its template does not exist.
  database = await startTestDatabase({ template: 'cli_services_none' });
  desk = await startDeskProcess({
    mainPath: join(ROOT, 'examples/tickets/desk/main.ts'),
    nodeArguments: ['-r', join(ROOT, 'test/support/ts-register.cjs')],
  });
  model = await startModelServer({ script: createScript() });
  options = {
    dist,
    dataDir: join(dir, 'data'),
    env: {
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporal.address,
      TEMPORAL_NAMESPACE: temporal.namespace,
      ANTHROPIC_API_KEY: 'offline',
      ANTHROPIC_BASE_URL: model.url,
      HOLDFAST_AGENTS: join(dist, 'examples', 'tickets', 'agents.js'),
      HOLDFAST_EXAMPLE_DESK_URL: desk.url,
      HOLDFAST_TOKEN_KEY: 'a key of at least thirty-two characters',
      HOLDFAST_TASK_QUEUE: `cli-${database.name}`,
    },
  };
}, BUILD_LIMIT_MS);

afterAll(async () => {
  worker?.child.kill('SIGKILL');
  await worker?.ended;
  await Promise.all([model.close(), desk.stop('SIGKILL'), database.drop()]);
  removeDir(dir);
});

const run = (...args: string[]): Promise<CliResult> => runCliProcess(args, options);
const runWith = (env: Readonly<Record<string, string>>, ...args: string[]): Promise<CliResult> =>
  runCliProcess(args, { ...options, env: { ...options.env, ...env } });
const json = (text: string): unknown => JSON.parse(text);

const FINDINGS = z.object({
  findings: z.array(
    z.object({ check: z.string(), status: z.string(), found: z.string(), mend: z.string().optional() }),
  ),
});
const findingsOf = ({ stdout }: CliResult): Readonly<Record<string, string>> =>
  Object.fromEntries(FINDINGS.parse(json(stdout)).findings.map((each) => [each.check, each.status]));

test('a database without tables is told apart, and `migrate` is what mends it', async () => {
  const [doctor, list] = await Promise.all([run('doctor', '--json'), run('runs', 'list', '--json')]);

  expect(findingsOf(doctor)).toMatchObject({ database: 'wrong', model: 'ok', agents: 'ok', bundle: 'ok' });
  expect(doctor.stdout).toMatch(/run: npx holdfast migrate/);
  expect(list.exitCode).toBe(1);
  expect(json(list.stdout)).toMatchObject({ error: { code: 'database.not_migrated' } });
});

test('a namespace that is not there is wrong', async () => {
  const doctor = await runWith({ TEMPORAL_NAMESPACE: 'nowhere' }, 'doctor', '--json');

  expect(findingsOf(doctor)).toMatchObject({ engine: 'wrong' });
  expect(doctor.stdout).toMatch(/namespace create --namespace nowhere/);
});

test('`migrate` brings both up to date, and does nothing the second time', async () => {
  const first = await run('migrate', '--json');
  const second = await run('migrate', '--json');

  const names = ['HoldfastState', 'HoldfastTenant', 'HoldfastAgent'];
  expect(json(first.stdout)).toEqual({
    migrations: [expect.stringMatching(/^0001-/), ...anyMore(first)],
    searchAttributes: names,
  });
  expect(json(second.stdout)).toEqual({ migrations: [], searchAttributes: names });
});

const anyMore = ({ stdout }: CliResult): readonly unknown[] =>
  z
    .object({ migrations: z.array(z.string()) })
    .parse(json(stdout))
    .migrations.slice(1);

test('then nothing is wrong', async () => {
  const doctor = await run('doctor', '--json');

  expect(findingsOf(doctor)).toEqual({ database: 'ok', engine: 'ok', model: 'ok', agents: 'ok', bundle: 'ok' });
  expect(doctor.exitCode).toBe(0);
});

test('a worker serves runs until SIGTERM, and ends with exit code 0', async () => {
  worker = startCli(['worker'], options);
  await worker.says(/worker is ready/);
  expect(json(worker.stdout())).toMatchObject({ ready: true, agents: expect.arrayContaining(['tickets']) });

  const task = ['--agent', 'tickets', '--goal', 'Read ticket T100 and handle it', '--data', '{"ticket":"T100"}'];
  const { exitCode, stdout } = await run('runs', 'start', ...task, '--tenant', 'acme', '--wait', '--json');

  expect(RUN_REPORT.parse(json(stdout))).toMatchObject({ terminal: 'SUCCEEDED', model: 'scripted, offline' });
  expect(exitCode).toBe(0);
  worker.child.kill('SIGTERM');
  expect(await worker.ended).toBe(0);
});

test('an unknown agent ends its run, named', async () => {
  worker = startCli(['worker'], options);

  const { exitCode, stdout } = await run('runs', 'start', '--agent', 'nope', '--goal', 'x', '--wait', '--json');

  expect(RUN_REPORT.parse(json(stdout))).toMatchObject({ terminal: 'FAILED', reason: 'agent.unknown', model: null });
  expect(exitCode).toBe(1);
});

test('a start whose caller died between its two phases is taken up by the worker', async () => {
  const store = createPostgresStore({ url: database.url });
  const caller = { tenant: 'acme', subject: 'alice' };
  const row = toNewRun(caller, { agent: 'tickets', goal: 'Read ticket T100', data: { ticket: 'T100' } });
  await store.runs.start(row);
  await store.close();

  const { exitCode, stdout } = await run('runs', 'watch', row.ref.run, '--tenant', 'acme');

  expect(stdout).toMatch(/FINALIZING +→ SUCCEEDED/);
  expect(exitCode).toBe(0);
});

describe('people', () => {
  const OF = ['--tenant', 'people', '--subject', 'bob', '--role', 'approver'];
  let started: string;
  let wait = '';

  test('an approval is in the inbox, and is shown whole', async () => {
    const task = ['--agent', 'tickets-approval', '--goal', 'Reassign ticket T101.', '--data', '{"ticket":"T101"}'];
    const { stdout } = await run('runs', 'start', ...task, '--tenant', 'people', '--subject', 'alice', '--json');
    started = z.object({ run: z.string() }).parse(json(stdout)).run;

    const LISTED = z.object({ waits: z.array(z.object({ wait: z.string(), run: z.string() })) });
    for (let tries = 0; tries < 50 && wait === ''; tries += 1) {
      const { waits } = LISTED.parse(json((await run('waits', 'list', '--json', ...OF)).stdout));
      wait = waits.find((each) => each.run === started)?.wait ?? '';
    }
    const [shown, text] = await Promise.all([
      run('waits', 'get', wait, '--json', ...OF),
      run('waits', 'get', wait, ...OF),
    ]);

    expect(json(shown.stdout)).toMatchObject({
      wait,
      requester: 'alice',
      mayRespond: true,
      token: expect.stringMatching(/^[\w-]{43}$/),
      plan: {
        operations: [{ tool: 'reassign_ticket', target: 'ticket:T101', arguments: { team: 'identity-oncall' } }],
      },
    });
    expect(text.stdout).toMatch(/reassign_ticket on ticket:T101 at version 1, risk medium/);
  });

  test('what is wrong is refused: exit code 2 where it was asked wrongly, 1 with the verdict', async () => {
    const [bare, edited, unknown, elsewhere] = await Promise.all([
      run('waits', 'deny', wait, ...OF),
      run('waits', 'approve', wait, '--arguments', '{"ticket":"T101","team":7}', '--json', ...OF),
      run('runs', 'message', started, '--kind', 'shout', '--text', 'hello', '--json', '--tenant', 'people'),
      run('waits', 'get', wait, '--json', '--tenant', 'rival'),
    ]);

    expect(bare.exitCode).toBe(2);
    expect(bare.stderr).toMatch(/--reason/);
    expect(edited.exitCode).toBe(1);
    expect(json(edited.stdout)).toMatchObject({ verdict: 'refused', code: 'response.edit_invalid' });
    expect(unknown.exitCode).toBe(2);
    expect(json(unknown.stdout)).toMatchObject({ error: { code: 'message.kind_unknown' } });
    expect(elsewhere.exitCode).toBe(1);
    expect(json(elsewhere.stdout)).toMatchObject({ error: { code: 'wait.not_found' } });
  });

  test('approved, the run goes on to its end; the same approval again gets its verdict, a denial afterwards is refused', async () => {
    const approved = await run('waits', 'approve', wait, '--response-id', 'r1', '--json', ...OF);
    const again = await run('waits', 'approve', wait, '--response-id', 'r1', ...OF);
    const watched = await run('runs', 'watch', started, '--tenant', 'people');
    const other = await run('waits', 'deny', wait, '--reason', 'too late', ...OF);

    expect(json(approved.stdout)).toMatchObject({ response: 'r1', verdict: 'accepted', isRepeated: false });
    expect([approved.exitCode, again.exitCode, other.exitCode]).toEqual([0, 0, 1]);
    expect(again.stdout).toMatch(/accepted at .*, as before/);
    expect(other.stderr).toMatch(/has ended as SUCCEEDED.*response\.run_ended/);
    expect(watched.stdout).toMatch(/FINALIZING +→ SUCCEEDED/);
  });

  test('a new goal starts a run of its own; an amendment of one that has ended is refused', async () => {
    const goal = ['--kind', 'new_goal', '--text', 'Reassign ticket T103.', '--data', '{"ticket":"T103"}'];
    const [fresh, amend] = await Promise.all([
      run('runs', 'message', started, ...goal, '--tenant', 'people'),
      run('runs', 'message', started, '--kind', 'amend', '--text', 'more', '--json', '--tenant', 'people'),
    ]);

    expect(fresh.stdout).toMatch(/^run_[0-9a-f]{32}\n$/);
    expect(amend.exitCode).toBe(1);
    expect(json(amend.stdout)).toMatchObject({ error: { code: 'run.ended' } });
  });

  test('after the end a run is reopened once, a known end needs no resolution, and versions of the result are read', async () => {
    const GOT = z.object({ operations: z.array(z.object({ id: z.string(), tool: z.string() })) });
    const { operations } = GOT.parse(json((await run('runs', 'get', started, '--json', '--tenant', 'people')).stdout));
    const operation = operations.find(({ tool }) => tool === 'reassign_ticket')?.id ?? '';
    const word = ['--operation', operation, '--why', 'seen', '--json', ...OF];
    const [first, second, settled, misspelt, version, none] = await Promise.all([
      run('runs', 'reopen', started, ...OF),
      run('runs', 'reopen', started, '--json', ...OF),
      run('runs', 'resolve', started, '--state', 'FAILED', ...word),
      run('runs', 'resolve', started, '--state', 'DONE', ...word),
      run('runs', 'result', started, '--version', '1', '--tenant', 'people'),
      run('runs', 'result', started, '--version', '9', '--tenant', 'people'),
    ]);

    expect(first.stdout).toMatch(/^run_[0-9a-f]{32}\n$/);
    expect(json(second.stdout)).toMatchObject({ run: first.stdout.trim(), reopens: started });
    expect(json(settled.stdout)).toMatchObject({ error: { code: 'resolve.settled' } });
    expect([settled.exitCode, misspelt.exitCode]).toEqual([1, 2]);
    expect(version.stdout).toMatch(/SUCCEEDED/);
    expect(none.exitCode).toBe(2);
  });
});

test('with Temporal away nothing is started, and where it was looked for is told', async () => {
  const { exitCode, stdout } = await runWith(
    { TEMPORAL_ADDRESS: '127.0.0.1:1' },
    ...['runs', 'start', '--agent', 'tickets', '--goal', 'x', '--tenant', 'nobody', '--json'],
  );
  const list = await run('runs', 'list', '--tenant', 'nobody', '--json');

  expect(exitCode).toBe(1);
  expect(json(stdout)).toMatchObject({
    error: { code: 'engine.unavailable', message: expect.stringContaining('127.0.0.1:1') },
  });
  expect(json(list.stdout)).toEqual({ runs: [], cursor: null });
});
