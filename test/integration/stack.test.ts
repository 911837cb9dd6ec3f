import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Client as TemporalClient, Connection } from '@temporalio/client';
import { TypedSearchAttributes, defineSearchAttributeKey } from '@temporalio/common';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { Client } from 'pg';
import { startPostgres, type Postgres, type PostgresOptions } from '../../cli/stack/postgres';
import { ProcessGroup } from '../../cli/stack/process-group';
import { processStamp, processTree } from '../../cli/stack/process-table';
import { findTemporalCli } from '../../cli/stack/temporal-binary';
import { startTemporalServer } from '../../cli/stack/temporal-server';
import { waitFor } from '../../cli/stack/wait-for';
import { createDatabase, databaseUrl, dropDatabase, startTestDatabase } from '../support/databases';
import { binarySearch } from '../support/service-broker';
import { startDevServer } from '../support/services';
import { makeTempDir, removeDir, writeScript } from '../support/temp-dir';
import { startTimeSkippingServer } from '../support/time-skipping';

const LIMIT_MS = 30_000;
const REPOSITORY = join(__dirname, '..', '..');

const RUN_STATE = defineSearchAttributeKey('RunState', 'KEYWORD');
const OPEN = new TypedSearchAttributes([{ key: RUN_STATE, value: 'open' }]);

let dir: string;
let started: ChildProcess[] = [];
const at = (...parts: string[]): string => join(dir, ...parts);
const isGone = (pid: number): boolean => processStamp(pid) === undefined;

beforeEach(() => {
  dir = makeTempDir('stack');
  started = [];
});
afterEach(() => {
  for (const child of started) child.kill('SIGKILL');
  removeDir(dir);
});

async function query(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return rows;
  } finally {
    await client.end();
  }
}

describe('PostgreSQL', () => {
  // One cluster for the whole block: making one is the slow part.
  let clusterDir: string;
  let options: PostgresOptions;
  let server: Postgres;
  beforeAll(async () => {
    clusterDir = makeTempDir('cluster');
    options = {
      directory: join(clusterDir, 'postgres'),
      logDir: join(clusterDir, 'logs'),
      runDir: join(clusterDir, 'run'),
      database: 'holdfast',
    };
    server = await startPostgres(options);
  });
  afterAll(async () => {
    await server.stop();
    removeDir(clusterDir);
  });

  test('is durable, listens on loopback alone, and asks for the password', async () => {
    const [settings] = await query(
      server.url,
      `select current_setting('fsync') fsync, current_setting('listen_addresses') addresses,
              current_setting('unix_socket_directories') sockets, current_database() database`,
    );

    expect(settings).toEqual({ fsync: 'on', addresses: '127.0.0.1', sockets: '', database: 'holdfast' });
    expect(statSync(join(options.directory, 'password')).mode & 0o777).toBe(0o600);
    await expect(query(server.url.replace(/:[^:@]*@/, ':wrong@'), 'select 1')).rejects.toMatchObject({ code: '28P01' });
  });

  test('keeps its data over stop and start, at the same port', async () => {
    await query(server.url, 'create table kept as select 42 as answer');
    const { url, port } = server;
    await server.stop();

    server = await startPostgres({ ...options, port });

    expect(server.url).toBe(url);
    expect(await query(url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('comes back after SIGKILL with what was committed', async () => {
    await query(server.url, 'create table survived as select 1 as n');
    process.kill(server.pid, 'SIGKILL');
    await server.process.exited;

    server = await startPostgres(options);

    expect(await query(server.url, 'select n from survived')).toEqual([{ n: 1 }]);
  });

  test('ends an older server on its own data, and no process that merely has its number', async () => {
    const orphan = server; // still runs, as after its stack's and its watchdog's end
    server = await startPostgres(options);
    expect(isGone(orphan.pid)).toBe(true);

    await server.stop();
    const innocent = spawn('sleep', ['60']);
    started.push(innocent);
    writeFileSync(join(options.directory, 'data', 'postmaster.pid'), `${innocent.pid ?? 0}\n`, { mode: 0o600 });
    server = await startPostgres(options);

    expect(innocent.exitCode ?? innocent.signalCode).toBeNull();
    expect(await query(server.url, 'select 1 as up')).toEqual([{ up: 1 }]);
  });

  test('hangs while frozen and goes on when thawed', async () => {
    const client = new Client({ connectionString: server.url });
    await client.connect();
    server.freeze();
    let answered = false;
    const answer = client.query('select 1').then(() => (answered = true));
    const isStopped = (): Promise<boolean> =>
      Promise.resolve(/State:\s+T/.test(readFileSync(`/proc/${server.pid}/status`, 'utf8')));

    // On a busy machine the signal takes effect a moment later.
    expect(await waitFor(isStopped, 5_000)).toBe(true);
    const late = new Client({ connectionString: server.url, connectionTimeoutMillis: 200 });
    await expect(late.connect()).rejects.toThrow(/timeout/);
    expect(answered).toBe(false);
    server.thaw();
    await answer;
    await client.end();
  });

  test('refuses the data of another version, and says how to mend', async () => {
    await server.stop();
    const versionFile = join(options.directory, 'data', 'PG_VERSION');
    writeFileSync(versionFile, '17\n');

    await expect(startPostgres(options)).rejects.toMatchObject({
      type: 'stack.postgres_data',
      message: expect.stringMatching(/version 17.*--fresh/),
    });
    writeFileSync(versionFile, '18\n');
    server = await startPostgres(options);
  });
});

describe('Temporal', () => {
  test('goes on after SIGKILL on the same file and port, with its search attributes', async () => {
    const { path: binary } = await findTemporalCli(binarySearch());
    const options = {
      binary,
      logDir: at('logs'),
      databaseFile: at('db', 'temporal.db'),
      searchAttributes: { RunState: 'KEYWORD' },
    } as const;
    const first = await startTemporalServer({ ...options, ui: true });
    expect((await fetch(first.uiUrl ?? '')).status).toBe(200);
    const connection = await Connection.connect({ address: first.address });
    const client = new TemporalClient({ connection });
    await client.workflow.start('nobody', { workflowId: 'w1', taskQueue: 'q', typedSearchAttributes: OPEN });
    process.kill(first.pid, 'SIGKILL');
    await first.process.exited;

    const second = await startTemporalServer({ ...options, port: first.port });

    expect(second.address).toBe(first.address);
    const description = await client.workflow.getHandle('w1').describe();
    expect(description.status.name).toBe('RUNNING');
    expect(description.typedSearchAttributes.get(RUN_STATE)).toBe('open');
    await connection.close();
    await second.stop();
    expect(isGone(second.pid)).toBe(true);
  });

  test('a program that ends at once is reported with the end of its log', async () => {
    const binary = writeScript(at('temporal'), 'echo "unknown flag $1"; exit 2');

    await expect(startTemporalServer({ binary, logDir: at('logs') })).rejects.toMatchObject({
      type: 'stack.process_exited',
      message: expect.stringMatching(/exit code 2 .*\n.*unknown flag server/),
    });
  });

  test('the test server skips a day and knows our search attributes', async () => {
    const server = await startTimeSkippingServer({ RunState: 'KEYWORD' });
    const now = async (): Promise<number> =>
      Number((await server.connection.testService?.getCurrentTime({}))?.time?.seconds);
    const before = await now();

    await server.workflows.start('nobody', { workflowId: 'w1', taskQueue: 'q', typedSearchAttributes: OPEN });
    await server.skip(86_400_000);

    expect((await now()) - before).toBeGreaterThanOrEqual(86_400);
    await server.stop();
    expect(isGone(server.pid)).toBe(true);
  });
});

describe('the servers that test files share', () => {
  test('are the same at each call, and search attributes may be asked for twice', async () => {
    const [first, second] = await Promise.all([
      startDevServer({ RunState: 'KEYWORD' }),
      startDevServer({ RunState: 'KEYWORD', Tags: 'KEYWORD_LIST' }),
    ]);

    expect(first).toEqual(second);
  });

  test('a test database is a copy of the template, which is made once', async () => {
    let migrations = 0;
    const migrate = async (url: string): Promise<void> => {
      migrations += 1;
      await query(url, 'create table made (n int)');
    };
    const template = 'stack_test_template';

    const databases = await Promise.all([1, 2].map(() => startTestDatabase({ migrate, template })));

    expect(migrations).toBe(1);
    for (const { url } of databases) expect(await query(url, 'select * from made')).toEqual([]);
    await createDatabase('stack_test_named', template);
    expect(await query(await databaseUrl('stack_test_named'), 'select * from made')).toEqual([]);
    await dropDatabase('stack_test_named');
    await Promise.all(databases.map((database) => database.drop()));
    await expect(query(databases[0]?.url ?? '', 'select 1')).rejects.toMatchObject({ code: '3D000' });
  });
});

/** Says that it is ready, notes the order of endings, and ends on SIGTERM, unless it is `stubborn`. */
const CHILD = `
const { appendFileSync } = require('node:fs');
const [name, order] = process.argv.slice(2);
console.log('some words first');
console.log(JSON.stringify({ ready: true, name }));
process.on('SIGTERM', () => { appendFileSync(order, name + '\\n'); process.exit(0); });
setInterval(() => {}, 1000);
`;
const STUBBORN = CHILD.replace('process.exit(0);', '');
const BUSY = CHILD.replace('setInterval(() => {}, 1000);', "process.stdout.write('', () => { for (;;); });");

function writeChild(source: string): string {
  const path = at('child.cjs');
  writeFileSync(path, source);
  return path;
}

describe('a group of processes', () => {
  test('ends last what started first, and nothing starts afterwards', async () => {
    const script = writeChild(CHILD);
    const group = new ProcessGroup({ logDir: at('logs') });
    const children = [];
    for (const name of ['one', 'two', 'three']) {
      children.push(await group.startScript({ name, script, args: [name, at('order')] }));
    }
    expect(children.map(({ ready }) => ready['name'])).toEqual(['one', 'two', 'three']);

    await Promise.all([group.stop(), group.stop()]);

    expect(readFileSync(at('order'), 'utf8')).toBe('three\ntwo\none\n');
    expect(children.every(({ process: { pid } }) => isGone(pid))).toBe(true);
    await expect(group.startScript({ name: 'four', script })).rejects.toThrow('is ending');
  });

  test('ends by SIGKILL what outstays its grace', async () => {
    const group = new ProcessGroup({ logDir: at('logs'), graceMs: 200 });
    const child = await group.startScript({ name: 'one', script: writeChild(STUBBORN), args: ['one', at('order')] });

    await group.stop();

    expect(readFileSync(at('order'), 'utf8')).toBe('one\n');
    expect((await child.process.exited).code).toBe(137);
  });

  test('tells of a child that ends before it is ready, with its log', async () => {
    const group = new ProcessGroup({ logDir: at('logs') });
    const script = writeChild("console.error('no such table'); process.exit(3);");

    await expect(group.startScript({ name: 'one', script })).rejects.toMatchObject({
      type: 'stack.process_exited',
      message: expect.stringMatching(/exit code 3 .*\n.*no such table/),
    });
  });

  test('tells of a child that is not ready in time, and still ends it', async () => {
    const group = new ProcessGroup({ logDir: at('logs') });
    const script = writeChild(
      `require('node:fs').writeFileSync(${JSON.stringify(at('pid'))}, String(process.pid)); setInterval(() => {}, 1000);`,
    );

    await expect(group.startScript({ name: 'one', script, readyTimeoutMs: 2_000 })).rejects.toMatchObject({
      type: 'stack.process_not_ready',
    });
    await group.stop();

    expect(isGone(Number(readFileSync(at('pid'), 'utf8')))).toBe(true);
  });

  test('reports an end that nobody asked for, by its exit code', async () => {
    const ended: unknown[] = [];
    const group = new ProcessGroup({
      logDir: at('logs'),
      onUnexpectedExit: (name, status) => ended.push([name, status.code]),
    });
    const child = await group.startScript({ name: 'one', script: writeChild(CHILD), args: ['one', at('order')] });

    child.process.signal('SIGKILL');

    expect(await waitFor(() => ended.length > 0, LIMIT_MS)).toBe(true);
    expect(ended).toEqual([['one', 137]]);
  });

  test('leaves one that was killed to whoever started it, but not one that failed by itself', async () => {
    const told: unknown[] = [];
    const group = new ProcessGroup({
      logDir: at('logs'),
      onUnexpectedExit: (name, { code }) => told.push([name, code]),
    });
    const onKilled = (): boolean => told.push('killed') === 1;
    const start = async (name: string, source: string) =>
      group.startScript({ name, script: writeChild(source), args: [name, at('order')], onKilled });
    const child = await start('one', CHILD);
    child.process.signal('SIGKILL');
    expect(await waitFor(() => told.length > 0, LIMIT_MS)).toBe(true);
    await expect(start('two', 'process.exit(3);')).rejects.toMatchObject({ type: 'stack.process_exited' });

    expect(await waitFor(() => told.length > 1, LIMIT_MS)).toBe(true);
    expect(told).toEqual(['killed', ['two', 3]]);
  });
});

interface ParentSettings {
  readonly graceMs?: number;
  /** With the real servers. */
  readonly temporalBinary?: string;
}

interface Parent {
  readonly process: ChildProcess;
  readonly pids: Readonly<Record<string, number>>;
  readonly left: readonly string[];
  readonly everyone: readonly number[];
  /** Exit code, or the signal's name. */
  readonly ended: Promise<unknown>;
  line(): Promise<string>;
  allGone(): Promise<boolean>;
}

async function startParent(source: string, settings: ParentSettings = {}): Promise<Parent> {
  const { graceMs = 1_000, temporalBinary } = settings;
  const register = join(REPOSITORY, 'test/support/ts-register.cjs');
  const script = join(REPOSITORY, 'test/support/stack-parent.ts');
  const args = [
    at('data'),
    writeChild(source),
    String(graceMs),
    ...(temporalBinary === undefined ? [] : [temporalBinary]),
  ];
  const child = spawn(process.execPath, ['-r', register, script, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  started.push(child);
  const ended = once(child, 'exit').then(([code, signal]: unknown[]) => code ?? signal);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => String((await lines.next()).value);
  const { pids, left } = JSON.parse(await line()) as Pick<Parent, 'pids' | 'left'>;
  // With watchdogs and PostgreSQL's backends.
  const everyone = processTree(child.pid ?? 0).slice(1);
  const allGone = (): Promise<boolean> => waitFor(() => everyone.every(isGone), LIMIT_MS);
  return { process: child, pids, left, everyone, ended, line, allGone };
}

describe('whatever ends the parent, nothing is left', () => {
  test('SIGINT ends in order, and frees the data directory', async () => {
    const parent = await startParent(CHILD);

    parent.process.kill('SIGINT');

    expect(await parent.ended).toBe(130);
    expect(await parent.allGone()).toBe(true);
    expect(readFileSync(at('data', 'state', 'order'), 'utf8')).toBe('second\nfirst\n');
    expect(() => statSync(at('data', 'stack.lock'))).toThrow('ENOENT');
  });

  test('a second SIGINT does not wait for anybody', async () => {
    const parent = await startParent(STUBBORN, { graceMs: 60_000 });
    parent.process.kill('SIGINT');
    const noted = await waitFor(
      () => statSync(at('data', 'state', 'order'), { throwIfNoEntry: false }) !== undefined,
      LIMIT_MS,
    );
    expect(noted).toBe(true);

    parent.process.kill('SIGINT');

    expect(await parent.ended).toBe(130); // long before the grace of a minute
    expect(await parent.allGone()).toBe(true);
  });

  test.each([
    ['process.exit', 'exit', 7],
    ['an uncaught exception', 'throw', 1],
    ['an unhandled rejection', 'reject', 1],
  ])('%s', async (_, order, code) => {
    const parent = await startParent(CHILD);

    parent.process.stdin?.write(`${order}\n`);

    expect(await parent.ended).toBe(code);
    expect(await parent.allGone()).toBe(true);
  });

  test('SIGKILL, with children too busy to notice', async () => {
    const parent = await startParent(BUSY);

    parent.process.kill('SIGKILL');

    expect(await parent.ended).toBe('SIGKILL');
    expect(await parent.allGone()).toBe(true);
  });

  test('SIGKILL with the real servers, PostgreSQL frozen; the next stack goes on with their data', async () => {
    const { path: temporalBinary } = await findTemporalCli(binarySearch());
    const first = await startParent(CHILD, { temporalBinary });
    expect(first.everyone.length).toBeGreaterThan(8);
    first.process.kill('SIGUSR2');
    expect(await first.line()).toBe('{"frozen":true}');

    first.process.kill('SIGKILL');
    await first.ended;
    const second = await startParent(CHILD, { temporalBinary }); // at once: the first one's children may still be ending

    expect(await first.allGone()).toBe(true);
    second.process.kill('SIGTERM');
    expect(await second.ended).toBe(143);
    expect(await second.allGone()).toBe(true);
  });
});
