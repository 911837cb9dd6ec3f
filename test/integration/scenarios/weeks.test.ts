/**
 * DESIGN.md 14: a run that waits for a job of weeks, on a server that skips time, the database's clock going with it. Nothing
 * grows with the wait but the number of polls.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { pino } from 'pino';
import { z } from 'zod';
import { Runs } from '../../../client/runs';
import { compileAgents } from '../../../definition/compile-agent';
import { defineAgent, defineTool } from '../../../index';
import { createPostgresStore, migrate } from '../../../store/postgres';
import type { Store } from '../../../store/store';
import { startModelServer, toolUse, turn, type ModelServer, type Script } from '../../../testing';
import { createWorker } from '../../../workers/worker';
import { QUERIES, SEARCH_ATTRIBUTES, type Snapshot } from '../../../workflows/contract/messages';
import { startTestDatabase, type TestDatabase } from '../../support/databases';
import { largestPayloadOf, MAX_PAYLOAD_BYTES, quietly, readExecutions } from '../../support/scenario/histories';
import { MODEL } from '../../support/scenario/scripted-model';
import { workflowBundle } from '../../support/services';
import { startTimeSkippingServer, type TimeSkippingServer } from '../../support/time-skipping';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 21;
const POLL_EVERY_MS = 2 * HOUR_MS;
const POLLS = (DAYS * DAY_MS) / POLL_EVERY_MS;
const LIMIT_MS = 300_000;

/** The far side: takes the job once, and says how it stands when it is asked. */
const farSide = { started: 0, asked: 0, isDone: false };

const runBatch = defineTool({
  name: 'run_batch',
  description: 'Has the batch computed, which takes weeks.',
  inputSchema: z.object({ batch: z.string() }),
  outputSchema: z.object({ batch: z.string() }),
  effect: 'write',
  risk: 'low',
  idempotency: 'key',
  target: ({ batch }) => ({ object: `batch:${batch}` }),
  execute: () => {
    farSide.started += 1;
    return Promise.resolve({ kind: 'accepted', job: 'J1' });
  },
  expectedDurationMs: DAYS * DAY_MS,
  poll: {
    everyMs: POLL_EVERY_MS,
    limitMs: 60 * DAY_MS,
    check: ({ batch }) => {
      farSide.asked += 1;
      return Promise.resolve(farSide.isDone ? { kind: 'found', output: { batch } } : { kind: 'running', job: 'J1' });
    },
  },
  facts: ({ batch }) => [{ object: `batch:${batch}`, field: 'state', value: 'computed' }],
});

const agent = defineAgent({
  name: 'batches',
  version: '1',
  instructions: 'Have the batch computed, then finish.',
  tools: [runBatch],
  policy: 'permit (principal, action, resource);',
  model: MODEL,
  budgets: { deadlineMs: 90 * DAY_MS },
  conditions: [
    {
      name: 'computed',
      check: ({ facts }) =>
        facts.find('batch:B1', 'state') === undefined
          ? { kind: 'gap', gap: { kind: 'fact', lacks: 'the computed batch' } }
          : { kind: 'met' },
    },
  ],
});

const script: Script = ({ messages }) => {
  const conversation = JSON.stringify(messages);
  const evidence = /E\d+\.\d+/.exec(conversation)?.[0];
  return evidence === undefined
    ? turn([toolUse('run_batch', { batch: 'B1' })])
    : turn([
        toolUse('finish', {
          outcome: 'done',
          answer: 'It is computed.',
          claims: [{ text: 'It is computed.', evidence: [evidence] }],
        }),
      ]);
};

let server: TimeSkippingServer;
let database: TestDatabase;
let store: Store;
let model: ModelServer;
let native: NativeConnection;
/** How far the server's time is ahead. */
let aheadMs = 0;

beforeAll(async () => {
  quietly();
  const attributes = Object.fromEntries(Object.values(SEARCH_ATTRIBUTES).map((name) => [name, 'KEYWORD' as const]));
  server = await startTimeSkippingServer(attributes);
  database = await startTestDatabase({
    migrate: async (url) => {
      await migrate(url);
    },
  });
  store = createPostgresStore({ url: database.url, clock: { offsetMs: () => aheadMs } });
  model = await startModelServer({ script });
  native = await NativeConnection.connect({ address: server.address });
}, LIMIT_MS);
afterAll(async () => {
  await native.close();
  await Promise.all([model.close(), store.close(), server.stop()]);
  await database.drop();
}, LIMIT_MS);

const keepUp = async (): Promise<void> => {
  const { time } = (await server.connection.testService?.getCurrentTime({})) ?? {};
  aheadMs = Math.max(aheadMs, Number(time?.seconds) * 1_000 - Date.now());
};

test(
  'a job that is polled for three weeks: as often as declared, in bounded histories, and then the run goes on',
  async () => {
    const taskQueue = `weeks-${randomUUID()}`;
    const client = new Client({ connection: server.connection, namespace: server.namespace });
    const runs = new Runs({ store, temporal: client, taskQueue });
    const worker = await createWorker({
      connection: native,
      namespace: server.namespace,
      taskQueue,
      bundlePath: await workflowBundle(),
      deps: {
        store,
        registry: compileAgents([agent]),
        model: { apiKey: 'sk-offline', baseUrl: model.url },
        log: pino({ level: 'silent' }),
        storeGraceMs: 20_000,
      },
    });
    await worker.runUntil(async () => {
      const caller = { tenant: 'acme', subject: 'alice', roles: [] };
      const { ref } = await runs.start(caller, { agent: 'batches', goal: 'Compute B1.', data: {} });
      await until(async () => (await store.runs.get(ref))?.state === 'WAITING_TOOL');
      const asked = model.requests.length;

      const workflow = client.workflow.getHandle(ref.run);
      const seq = async (): Promise<number> => (await workflow.query<Snapshot>(QUERIES.snapshot)).seq;
      const isIdle = async (): Promise<boolean> =>
        ((await workflow.describe()).raw.pendingActivities ?? []).length === 0;
      // Its timer is set once its machine has taken the poll's answer up; only then time may pass on.
      await until(isIdle);
      const before = await seq();
      let taken = before;
      for (let poll = 0; poll < POLLS; poll += 1) {
        await server.skip(POLL_EVERY_MS);
        await keepUp();
        await until(async () => (await seq()) > taken && (await isIdle()));
        taken = await seq();
      }

      const polled = farSide.asked;
      // One in each of the pauses that are declared. The server's clock runs on beside what is skipped, so that one more may fit.
      expect(taken - before).toBeGreaterThanOrEqual(POLLS);
      expect(taken - before).toBeLessThanOrEqual(POLLS + 2);
      // On a busy machine time is skipped while an activity is under way, which is then repeated.
      expect(polled).toBeGreaterThanOrEqual(POLLS);
      expect(polled).toBeLessThanOrEqual(2 * POLLS);
      // The server's clock is read in whole seconds.
      expect(aheadMs).toBeGreaterThanOrEqual(DAYS * DAY_MS - 1_000);
      expect(await store.runs.get(ref)).toMatchObject({ state: 'WAITING_TOOL' });
      expect(model.requests).toHaveLength(asked);

      farSide.isDone = true;
      await server.skip(POLL_EVERY_MS);
      await until(async () => (await store.runs.get(ref))?.terminal !== undefined);

      expect(await store.runs.get(ref)).toMatchObject({ terminal: 'SUCCEEDED', reason: 'finish.done' });
      const [operation] = await store.operations.list(ref);
      expect(operation).toMatchObject({ state: 'SUCCEEDED', generation: 1, polls: farSide.asked, job: 'J1' });
      expect(farSide.started).toBe(1);

      const histories = (await readExecutions(client, ref.run)).map(({ history }) => history);
      // 252 polls at some eleven events each.
      expect(histories.length).toBeGreaterThanOrEqual(2);
      for (const history of histories) {
        expect(history.events?.length).toBeLessThan(MAX_EVENTS);
        expect(largestPayloadOf(history)).toBeLessThanOrEqual(MAX_PAYLOAD_BYTES);
      }
    });
  },
  LIMIT_MS,
);

/** A run continues as new at an estimate of 2,000; what is in flight then still comes to its end. */
const MAX_EVENTS = 2_500;

const until = async (holds: () => Promise<boolean>): Promise<void> => {
  const deadline = Date.now() + 60_000;
  while (!(await holds().catch(() => false))) {
    if (Date.now() > deadline) throw new Error('not within a minute');
    await delay(50);
  }
};
