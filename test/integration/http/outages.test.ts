/** The service while something that it needs is away, or somebody asks too often. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { createApp } from '../../../client/http/app';
import { createService } from '../../../client/http/create-service';
import { PROBLEM } from '../../../client/http/problems/problem';
import { RUN } from '../../../client/schemas/run';
import { createPostgresStore } from '../../../store/postgres';
import type { Store } from '../../../store/store';
import { SECRET, setHttpStage, type HttpStage } from '../../support/http/http-stage';

const OPERATOR = { tenant: 'acme', subject: 'olga', roles: ['operator'] };
const APPROVER = { tenant: 'acme', subject: 'anna', roles: ['approver'] };
const TASK = { agent: 'tickets', goal: 'Reassign T100', data: { ticket: 'T100' } };
/** Nobody listens there. */
const NOWHERE = '127.0.0.1:9';

let stage: HttpStage;
beforeAll(async () => {
  stage = await setHttpStage();
});
afterAll(() => stage.close());

const appOn = (store: Store, temporal: Client) => {
  const { closing, log } = stage;
  return createApp(
    createService({ store, temporal, taskQueue: 'outages', log, closing: closing.signal, tokens: { secret: SECRET } }),
  );
};

test('without the database requests are 503 and say when to come back, and the service is not ready', async () => {
  const store = createPostgresStore({ url: `postgres://nobody@${NOWHERE}/none` });
  const app = appOn(store, stage.temporal);
  const response = await stage.ask(OPERATOR, '/v1/runs', { method: 'POST', body: TASK, app });
  expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0);
  expect(PROBLEM.parse(await response.json())).toMatchObject({ status: 503, code: 'store.unavailable' });
  const ready = await app.request('/readyz');
  expect(ready.status).toBe(503);
  expect(await ready.json()).toEqual({ status: 'not ready', store: 'away', engine: 'there' });
  expect((await app.request('/healthz')).status).toBe(200);
  await store.close();
});

test('without Temporal a start counts all the same: it is answered, and its key gives the same run', async () => {
  const connection = Connection.lazy({ address: NOWHERE, connectTimeout: 500 });
  const app = appOn(stage.store, new Client({ connection }));
  const start = async () => {
    const headers = { 'Idempotency-Key': 'away' };
    const response = await stage.ask(OPERATOR, '/v1/runs', { method: 'POST', body: TASK, headers, app });
    expect(response.status).toBe(201);
    return RUN.parse(await response.json());
  };
  const run = await start();
  expect(run.state).toBe('STARTING');
  expect((await start()).run).toBe(run.run);
  const hanging = await stage.store.runs.listHangingStarts({ olderThanMs: 0, limit: 10 });
  expect(hanging.map(({ ref }) => ref.run)).toContain(run.run);
  const ready = await app.request('/readyz');
  expect(await ready.json()).toEqual({ status: 'ready', store: 'there', engine: 'away' });
  await connection.close();
});

test('who answers too often waits, and others do not', async () => {
  const app = stage.another({ limits: { responsesPerMinute: 2 } });
  const respond = (subject: string): Promise<Response> =>
    stage.ask({ ...APPROVER, subject }, '/v1/runs/run_abcdef00/responses', {
      method: 'POST',
      body: { wait: 'wait_abcdef00_1_1', response: { decision: 'approve' } },
      app,
    });
  const statuses = [await respond('anna'), await respond('anna')].map(({ status }) => status);
  expect(statuses).toEqual([404, 404]);
  const refused = await respond('anna');
  expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
  expect(PROBLEM.parse(await refused.json())).toMatchObject({ status: 429, code: 'rate.limited' });
  expect((await respond('bert')).status).toBe(404);
});

test('a limit of the service is that of its callbacks', async () => {
  const { store, temporal, log, closing } = stage;
  const callbackSecrets = [randomBytes(32)];
  const tokens = { secret: SECRET };
  const limits = { forgedCallbacksPerMinute: 2 };
  const parts = {
    store,
    temporal,
    taskQueue: 'outages',
    log,
    closing: closing.signal,
    tokens,
    callbackSecrets,
    limits,
  };
  const app = createApp(createService(parts));
  const report = async (): Promise<number> => {
    const headers = { 'Content-Type': 'application/json' };
    const { status } = await app.request('/v1/callbacks/op_abcdef00_1_1', { method: 'POST', headers, body: '{}' });
    return status;
  };
  expect([await report(), await report(), await report()]).toEqual([401, 401, 429]);
});
