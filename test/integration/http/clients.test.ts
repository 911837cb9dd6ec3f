/** Both clients on one store: the same calls give the same answers and the same errors. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createDirectClient } from '../../../client/direct/direct-client';
import { createService } from '../../../client/http/create-service';
import { startHttpServer, type HttpServer } from '../../../client/http/server';
import type { HoldfastClient } from '../../../client/holdfast-client';
import { createHttpClient } from '../../../client/remote/http-client';
import type { FeedItem } from '../../../client/schemas/event';
import type { RunRef } from '../../../workflows/contract/records';
import { SECRET, setHttpStage, type HttpStage } from '../../support/http/http-stage';
import { endAs, event, hashFrom, newRef, newRun, newWait, startedRun } from '../../support/store-contract/fixtures';

const CALLER = { tenant: 'acme', subject: 'ada', roles: ['viewer', 'approver', 'operator'] };
const TASK = { agent: 'tickets', goal: 'Reassign T100', data: { ticket: 'T100' } };

let stage: HttpStage;
let server: HttpServer;
let clients: Readonly<Record<'direct' | 'http', HoldfastClient>>;

beforeAll(async () => {
  stage = await setHttpStage();
  server = await startHttpServer(stage.app, { host: '127.0.0.1', port: 0 });
  const { parts } = createService({
    store: stage.store,
    temporal: stage.temporal,
    taskQueue: 'clients',
    log: stage.log,
    closing: stage.closing.signal,
    tokens: { secret: SECRET },
  });
  clients = {
    direct: createDirectClient(parts, CALLER),
    http: createHttpClient({ baseUrl: `${server.url}/`, token: () => stage.tokenOf(CALLER) }),
  };
});
afterAll(async () => {
  stage.closing.abort();
  await server.stop(0);
  await stage.close();
});

const both = async <T>(ask: (client: HoldfastClient) => Promise<T>): Promise<T> => {
  const [direct, http] = await Promise.all([ask(clients.direct), ask(clients.http)]);
  expect(http).toEqual(direct);
  return direct;
};

const SCHEMA = {
  type: 'object',
  properties: { decision: { type: 'string', enum: ['approve', 'deny'] } },
  required: ['decision'],
  additionalProperties: false,
};

const errorOf = (client: HoldfastClient, ask: (client: HoldfastClient) => Promise<unknown>): Promise<unknown> =>
  ask(client).then(
    () => 'no error',
    (error: unknown) => error,
  );

const LIMITS = { maxSteps: 9, maxTokens: 1_000, maxCostMicros: 500, maxToolCalls: 7, deadlineMs: 60_000 };

const endedRun = async (): Promise<RunRef> => {
  const ref = newRef('acme');
  await stage.store.runs.start(newRun(ref, { limits: { maxSteps: 4 } }));
  const definition = await stage.store.artifacts.putJson(ref.tenant, { limits: LIMITS });
  await stage.store.runs.open(ref, { definition, deadlineMs: 60_000 });
  await stage.store.journal.carry({ ref, events: [event(1), event(2)] });
  await stage.store.runs.commit({ ref, events: [] }, endAs(ref, 'SUCCEEDED'));
  return ref;
};

const all = async (items: AsyncIterable<FeedItem>): Promise<readonly FeedItem[]> => {
  const told: FeedItem[] = [];
  for await (const item of items) told.push(item);
  return told;
};

test('one key starts one run, whichever client asks', async () => {
  const run = await both((client) => client.start(TASK, { idempotencyKey: 'both' }));
  expect(run).toMatchObject({ agent: 'tickets', subject: 'ada' });
});

test('what is read is the same', async () => {
  const { run } = await endedRun();
  await both((client) => client.snapshot(run));
  expect(await both((client) => client.details(run))).toMatchObject({ budgets: { ...LIMITS, maxSteps: 4 } });
  await both((client) => client.list({ limit: 5, state: 'SUCCEEDED' }));
  await both((client) => client.events(run, { after: 1, limit: 1 }));
  expect(await both((client) => client.result(run))).toMatchObject({ terminal: 'SUCCEEDED' });
  const to = new Date().toISOString();
  await both((client) => client.summary({ to }));
});

test('a run that has ended is gone on with once, whichever client asks', async () => {
  const { run } = await endedRun();
  expect(await both((client) => client.reopen(run))).toMatchObject({ reopens: run, goal: 'Reassign T100' });
  const goesOn = await startedRun(stage.store, { ref: newRef('acme') });
  for (const client of Object.values(clients)) {
    expect(await errorOf(client, (each) => each.reopen(goesOn.run))).toMatchObject({ code: 'reopen.run_not_ended' });
  }
});

test('the result of a run that goes on is none', async () => {
  const { run } = await startedRun(stage.store, { ref: newRef('acme') });
  expect(await both((client) => client.result(run))).toBeUndefined();
});

test('artifacts come in parts', async () => {
  const ref = await startedRun(stage.store, { ref: newRef('acme') });
  const hash = await stage.store.artifacts.put(ref.tenant, {
    bytes: Buffer.from('0123456789'),
    mediaType: 'text/plain',
  });
  await stage.store.journal.note(ref, { eventId: 'e', body: { artifact: hash } });
  const part = await both(async (client) => {
    const { bytes, ...rest } = await client.artifact(ref.run, hash, { offset: 2, limit: 3 });
    return { text: Buffer.from(bytes).toString(), ...rest };
  });
  expect(part).toEqual({ text: '234', mediaType: 'text/plain', sizeBytes: 10 });
});

test('a run is followed to its end by both', async () => {
  const { run } = await endedRun();
  const items = await both((client) => all(client.follow(run)));
  expect(items.map(({ kind }) => kind)).toEqual(['event', 'event', 'event', 'end']);
});

test('waits are listed, the oldest first, and what cannot be answered is refused alike', async () => {
  const ref = await startedRun(stage.store, { ref: newRef('acme') });
  const plan = await stage.store.artifacts.putJson(ref.tenant, {
    schemaVersion: 1,
    kind: 'approval',
    why: 'it is a write',
    operations: [],
    isComplete: true,
  });
  const first = await stage.store.waits.open({ ref, events: [] }, newWait(ref, 1, { plan, responseSchema: SCHEMA }));
  await stage.store.waits.open({ ref, events: [] }, newWait(ref, 2, { plan }));
  const page = await both((client) => client.waits({ run: ref.run }));
  expect(page.waits.map(({ stateVersion }) => stateVersion)).toEqual([1, 2]);
  const waits = await Promise.all([clients.direct.wait(first.row.id), clients.http.wait(first.row.id)]);
  const [direct, http] = waits.map(({ remainingMs: _, ...wait }) => wait);
  expect(http).toEqual(direct);
  const response = { wait: first.row.id, id: 'r-1', response: { decision: 'approve' } };
  for (const client of Object.values(clients)) {
    expect(await errorOf(client, (each) => each.respond(ref.run, response))).toMatchObject({
      code: 'response.agent_unknown',
    });
  }
});

describe.each([
  ['run.not_found', (client: HoldfastClient) => client.snapshot('run_abcdef00')],
  ['wait.not_found', (client: HoldfastClient) => client.wait('wait_abcdef00_1_1')],
  ['run.not_found', (client: HoldfastClient) => client.cancel('run_abcdef00')],
  ['run.not_found', (client: HoldfastClient) => client.message('run_abcdef00', { kind: 'amend', text: 'x' })],
  ['run.not_found', (client: HoldfastClient) => client.artifact('run_abcdef00', hashFrom('x'))],
  ['run.not_found', (client: HoldfastClient) => all(client.follow('run_abcdef00'))],
] as const)('%s', (code, ask) => {
  test.each(['direct', 'http'] as const)('is thrown by the %s client', async (name) => {
    expect(await errorOf(clients[name], ask)).toMatchObject({ name: 'HoldfastError', code });
  });
});

test('a service that is not there, and one that is none, are told', async () => {
  const nobody = createHttpClient({ baseUrl: 'http://127.0.0.1:9', token: 'x' });
  expect(await errorOf(nobody, (client) => client.list())).toMatchObject({ code: 'service.unreachable' });
  const other = await startHttpServer({ fetch: () => new Response('{}') }, { host: '127.0.0.1', port: 0 });
  const mistaken = createHttpClient({ baseUrl: other.url, token: 'x' });
  expect(await errorOf(mistaken, (client) => client.list())).toMatchObject({ code: 'service.unreachable' });
  await other.stop(0);
});

test('followed over a connection that is cut again and again, every line comes once', async () => {
  const ref = await startedRun(stage.store, { ref: newRef('acme') });
  await stage.store.journal.carry({ ref, events: Array.from({ length: 6 }, (_, index) => event(index + 1)) });
  await stage.store.runs.commit({ ref, events: [] }, endAs(ref, 'SUCCEEDED'));
  // Ends every stream behind its second line.
  const cutting = await startHttpServer(
    {
      fetch: async (request) => {
        const response = await stage.app.fetch(request);
        if (response.body === null) return response;
        let lines = 0;
        const cut = new TransformStream<Uint8Array, Uint8Array>({
          transform: (chunk, controller) => {
            controller.enqueue(chunk);
            lines += Buffer.from(chunk).toString().startsWith('id:') ? 1 : 0;
            if (lines === 2) controller.terminate();
          },
        });
        return new Response(response.body.pipeThrough(cut), response);
      },
    },
    { host: '127.0.0.1', port: 0 },
  );
  const client = createHttpClient({ baseUrl: cutting.url, token: () => stage.tokenOf(CALLER) });
  const items = await all(client.follow(ref.run));
  expect(items.flatMap((item) => (item.kind === 'event' ? [item.event.position] : []))).toEqual([1, 2, 3, 4, 5, 6, 7]);
  await cutting.stop(0);
});
