/**
 * Everything a scenario needs, real and apart from other files' scenarios: a database, the ticket desk as a process, the
 * offline model server, a task queue on the shared Temporal server, and worker processes.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection, WorkflowNotFoundError } from '@temporalio/client';
import { Runs } from '../../../client/runs';
import { DeskControl } from '../../../examples/tickets/desk/desk-client';
import { startDeskProcess, type DeskProcess } from '../../../examples/tickets/desk/desk-process';
import { createScript } from '../../../examples/tickets/model-script';
import { createPostgresStore } from '../../../store/postgres';
import { migrate } from '../../../store/postgres';
import type { RunRow } from '../../../store/rows';
import type { Store } from '../../../store/store';
import { startModelServer, type ModelServer, type Script } from '../../../testing';
import { SEARCH_ATTRIBUTES } from '../../../workflows/contract/messages';
import { isTerminal } from '../../../workflows/machine/states';
import { startTestDatabase, type TestDatabase } from '../databases';
import { startDevServer, workflowBundle } from '../services';
import { makeTempDir, removeDir } from '../temp-dir';
import { checkHistories, checkInvariants } from './invariants';
import { startOwnPostgres } from './own-postgres';
import { newCallbackSecret, startServiceProcess, type ServiceProcess } from './service-process';
import { startWorkerProcess, type WorkerProcess } from './worker-process';

const ROOT = join(__dirname, '..', '..', '..');
const TENANT = 'acme';
const CALLER = { tenant: TENANT, subject: 'alice', roles: ['agent-operator'] };

export interface Stage {
  readonly store: Store;
  readonly runs: Runs;
  readonly temporal: Client;
  readonly desk: DeskControl;
  readonly deskProcess: DeskProcess;
  readonly model: ModelServer;
  readonly database: TestDatabase;
  readonly tenant: string;
  readonly taskQueue: string;
  /** With which the service checks bearer tokens. */
  readonly tokenSecret: string;
  /** All that its service has logged so far. */
  readonly serviceLog: () => string;
  /** Those that were started, dead ones included. */
  readonly workers: readonly WorkerProcess[];
  /** What all of them have logged so far. */
  readonly workerLog: () => readonly Readonly<Record<string, unknown>>[];
  /** One is started with the stage; further ones take over when one dies. */
  /** The service, where the stage has one (`isServiceStarted`): started again it is at the same address. */
  readonly services: readonly ServiceProcess[];
  readonly startService: () => Promise<ServiceProcess>;
  readonly startWorker: (changes?: WorkerChanges) => Promise<WorkerProcess>;
  /** Starts the task of the agent; `data.ticket` is T100 unless given. */
  readonly start: (task?: Partial<StageTask>) => Promise<RunRow>;
  /** Waits for a terminal; explains where the run stands when it does not come. */
  readonly end: (run: RunRow, withinMs?: number) => Promise<RunRow>;
  /** Waits until the condition holds of something read again and again. */
  readonly until: <T>(read: () => Promise<T>, holds: (value: T) => boolean, withinMs?: number) => Promise<T>;
  /** After each scenario: the invariants of every run started since, then desk and model as they were at first. */
  readonly checkAndReset: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface WorkerChanges {
  /** Another module with agents than the example's. */
  readonly agents?: string;
  readonly deployment?: { readonly name: string; readonly buildId: string };
}

export interface StageTask {
  readonly agent: string;
  readonly goal: string;
  readonly data: Record<string, unknown>;
  readonly limits: Record<string, number>;
  readonly idempotencyKey: string;
}

export interface StageOptions {
  readonly script?: Script;
  readonly isWorkerStarted?: boolean;
  /** `holdfast serve`, to which the desk's callbacks go; the desk signs with the older of its two secrets. */
  readonly isServiceStarted?: boolean;
  readonly storeGraceMs?: number;
  /** 0 replays every workflow task from the start. Absent: as `HOLDFAST_TEST_CACHE` says, else the usual. */
  readonly maxCachedWorkflows?: number;
  /** Estimated events after which each run continues as new. */
  readonly continueAfterEvents?: number;
  /** For scenarios in which it goes away; else a database on the shared one. */
  readonly isPostgresOwn?: boolean;
}

const GOAL = 'Read ticket T100, reassign it to the right team by the on-call rules, then explain what was done.';
const END_WITHIN_MS = 40_000;

export const setStage = async (options: StageOptions = {}): Promise<Stage> => {
  const directory = makeTempDir('scenario');
  const [server, bundlePath, database] = await Promise.all([
    startDevServer(Object.fromEntries(Object.values(SEARCH_ATTRIBUTES).map((name) => [name, 'KEYWORD' as const]))),
    workflowBundle(),
    startDatabase(directory, options),
  ]);
  const { isServiceStarted = false } = options;
  const callbackSecrets = [newCallbackSecret(), newCallbackSecret()];
  const tokenSecret = randomBytes(32).toString('base64');
  const callbackSecretFile = join(directory, 'callback-secret');
  writeFileSync(callbackSecretFile, callbackSecrets.at(-1) ?? '', { mode: 0o600 });
  const deskProcess = await startDeskProcess({
    mainPath: join(ROOT, 'examples/tickets/desk/main.ts'),
    nodeArguments: ['-r', join(ROOT, 'test/support/ts-register.cjs')],
    ...(isServiceStarted ? { callbackSecretFile } : {}),
  });
  const model = await startModelServer({ script: options.script ?? createScript() });
  const store = createPostgresStore({ url: database.url });
  const connection = await Connection.connect({ address: server.address });
  const temporal = new Client({ connection, namespace: server.namespace });
  const taskQueue = `scenario-${randomBytes(4).toString('hex')}`;
  const { continueAfterEvents, maxCachedWorkflows = cacheOfTests() } = options;
  const target = { temporal, taskQueue, ...(continueAfterEvents === undefined ? {} : { continueAfterEvents }) };
  const runs = new Runs({ store, ...target });
  const workers: WorkerProcess[] = [];
  const started: RunRow[] = [];
  const played: RunRow[] = [];

  const services: ServiceProcess[] = [];
  const startService = async (): Promise<ServiceProcess> => {
    const service = await startServiceProcess({
      databaseUrl: database.url,
      temporalAddress: server.address,
      namespace: server.namespace,
      taskQueue,
      callbackSecrets,
      agents: join(ROOT, 'examples/tickets/agents.ts'),
      deskUrl: deskProcess.url,
      tokenSecret,
      logFile: join(directory, 'service.log'),
      port: Number(new URL(services[0]?.url ?? 'http://127.0.0.1:0').port),
    });
    services.push(service);
    return service;
  };
  if (isServiceStarted) await startService();

  const startWorker = async ({ agents, deployment }: WorkerChanges = {}): Promise<WorkerProcess> => {
    const worker = await startWorkerProcess({
      databaseUrl: database.url,
      temporalAddress: server.address,
      namespace: server.namespace,
      taskQueue,
      bundlePath,
      modelUrl: model.url,
      deskUrl: deskProcess.url,
      agents: agents ?? join(ROOT, 'examples/tickets/agents.ts'),
      logFile: join(directory, 'worker.log'),
      ...(options.storeGraceMs === undefined ? {} : { storeGraceMs: options.storeGraceMs }),
      ...(maxCachedWorkflows === undefined ? {} : { maxCachedWorkflows }),
      ...(deployment === undefined ? {} : { deployment }),
      ...(services[0] === undefined ? {} : { callbackBaseUrl: services[0].url }),
    });
    workers.push(worker);
    return worker;
  };
  if (options.isWorkerStarted !== false) await startWorker();

  const stage: Stage = {
    store,
    runs,
    temporal,
    desk: new DeskControl(deskProcess.url),
    deskProcess,
    model,
    database,
    tenant: TENANT,
    taskQueue,
    tokenSecret,
    serviceLog: () => readFileSync(join(directory, 'service.log'), 'utf8'),
    workers,
    workerLog: () => readLog(join(directory, 'worker.log')),
    services,
    startService,
    startWorker,
    start: async ({ agent = 'tickets', goal = GOAL, data = { ticket: 'T100' }, limits, idempotencyKey } = {}) => {
      const row = await runs.start(
        CALLER,
        { agent, goal, data: parseData(data), ...(limits === undefined ? {} : { limits }) },
        idempotencyKey === undefined ? {} : { idempotencyKey },
      );
      started.push(row);
      return row;
    },
    end: async (run, withinMs = END_WITHIN_MS) => {
      const read = (): Promise<RunRow> => runs.get(TENANT, run.ref.run);
      try {
        return await until(read, ({ terminal }) => terminal !== undefined && isTerminal(terminal), withinMs);
      } catch (error) {
        throw new Error(`${run.ref.run} did not end:\n${await explain(stage, run)}`, { cause: error });
      }
    },
    until,
    checkAndReset: async () => {
      // A test that failed while a worker was paused must not fail those after it.
      for (const worker of workers) worker.resume();
      const over = started.splice(0);
      played.push(...over);
      try {
        await checkInvariants(stage, ...over);
      } finally {
        await Promise.all(over.map((run) => leaveNone(stage, run)));
        await stage.desk.reset();
        model.reset();
      }
    },
    close: async () => {
      await checkHistories({ temporal, bundlePath }, played).finally(shutDown);
    },
  };
  const shutDown = async (): Promise<void> => {
    await Promise.all([...workers, ...services].map((child) => child.kill()));
    await Promise.all([model.close(), deskProcess.stop('SIGKILL')]);
    await connection.close();
    await store.close();
    await database.drop();
    removeDir(directory);
  };
  return stage;
};

/** A run that a failed test left behind would send and ask in the midst of the next one. */
const leaveNone = async ({ runs, temporal }: Stage, { ref }: RunRow): Promise<void> => {
  const { terminal } = await runs.get(ref.tenant, ref.run);
  if (terminal !== undefined) return;
  const handle = temporal.workflow.getHandle(ref.run);
  await handle.terminate('its test is over').catch((error: unknown) => {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  });
};

const readLog = (file: string): readonly Readonly<Record<string, unknown>>[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [parseLine(line)] : []));

const parseLine = (line: string): Readonly<Record<string, unknown>> => JSON.parse(line) as Record<string, unknown>;

const cacheOfTests = (): number | undefined => {
  const size = process.env['HOLDFAST_TEST_CACHE'];
  return size === undefined || size === '' ? undefined : Number(size);
};

const startDatabase = (directory: string, { isPostgresOwn = false }: StageOptions): Promise<TestDatabase> =>
  isPostgresOwn
    ? startOwnPostgres(directory)
    : startTestDatabase({
        migrate: async (url) => {
          await migrate(url);
        },
      });

const parseData = (data: Record<string, unknown>): Record<string, never> => data as Record<string, never>;

/** Soon at first, and less often what takes long: who asks all the time keeps those busy that it waits for. */
const FIRST_POLL_MS = 25;
const POLL_MS = 100;

const until = async <T>(read: () => Promise<T>, holds: (value: T) => boolean, withinMs = 20_000): Promise<T> => {
  const deadline = Date.now() + withinMs;
  for (let pauseMs = FIRST_POLL_MS; ; pauseMs = Math.min(pauseMs * 1.25, POLL_MS)) {
    const value = await read();
    if (holds(value)) return value;
    if (Date.now() > deadline) throw new Error(`not within ${String(withinMs)} ms; last: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
};

/** What a person would look at first: the journal, the operations, what the desk saw, the script's failures. */
const explain = async ({ runs, desk, model, temporal }: Stage, { ref }: RunRow): Promise<string> => {
  const details = await runs.details(TENANT, ref.run);
  const events = await runs.events(TENANT, ref.run, { after: 0, limit: 200 });
  const described = await temporal.workflow.getHandle(ref.run).describe();
  return JSON.stringify(
    {
      row: details.row,
      engine: described.status.name,
      pending: described.raw.pendingActivities,
      journal: events.map(({ body: { from, event, to, rule } }) => JSON.stringify([from, event, to, rule])),
      attempts: details.attempts.map(({ step, attempt, state, outcome }) => ({ step, attempt, state, outcome })),
      operations: details.operations.map(({ id, tool, state, generation, code }) => ({
        id,
        tool,
        state,
        generation,
        code,
      })),
      effects: await desk.effects(),
      scriptFailures: model.scriptFailures,
    },
    undefined,
    1,
  );
};
