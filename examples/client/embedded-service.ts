/**
 * A service of one's own that starts runs without `holdfast serve`: it needs the database and Temporal alone.
 *
 *   POST /tickets/T100/triage          starts a run, once for each Idempotency-Key; answers 202 and where to look
 *   GET  /tickets/T100/triage/run_…    how far it is, and its result once it has ended
 *
 *   DATABASE_URL=… HOLDFAST_TENANT=… PORT=3000 node dist/examples/client/embedded-service.js
 */
import { serve } from '@hono/node-server';
import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { Hono } from 'hono';
import { createDirectClient, createDirectParts, HoldfastError, type Caller, type HoldfastClient } from '../../client';
import { createPostgresStore } from '../../store/postgres';

// eslint-disable-next-line no-restricted-syntax -- a service of a user's own, outside of config/
const { DATABASE_URL = '', HOLDFAST_TASK_QUEUE = 'holdfast', HOLDFAST_TENANT = 'local', PORT = '3000' } = process.env;

/** Permission is checked for whoever is named here. A service that signs its users in names them, not itself. */
const CALLER: Caller = { tenant: HOLDFAST_TENANT, subject: 'triage-service', roles: ['agent-operator'] };

const STATUS: Readonly<Record<string, 400 | 404 | 409>> = {
  'input.invalid': 400,
  'run.not_found': 404,
  'run.body_differs': 409,
};

const createApp = (client: HoldfastClient): Hono => {
  const app = new Hono();
  app.post('/tickets/:id/triage', async (c) => {
    const ticket = c.req.param('id');
    const idempotencyKey = c.req.header('Idempotency-Key');
    if (idempotencyKey === undefined) return c.json({ error: 'Idempotency-Key: got nothing' }, 400);
    const goal = `Give ticket ${ticket} to the right team, and explain why.`;
    const { run, state } = await client.start(
      { agent: 'tickets', goal, data: { ticket } },
      { idempotencyKey: `triage:${idempotencyKey}` },
    );
    return c.json({ run, state }, 202, { Location: `/tickets/${encodeURIComponent(ticket)}/triage/${run}` });
  });
  app.get('/tickets/:id/triage/:run', async (c) => {
    const { run, data, state, totals } = await client.snapshot(c.req.param('run'));
    if (data['ticket'] !== c.req.param('id')) return c.json({ error: 'this run is about another ticket' }, 404);
    const result = await client.result(run);
    return c.json({ run, state, steps: totals.steps, ...(result && { answer: result.answer, claims: result.claims }) });
  });
  app.onError((error, c) => {
    const status = error instanceof HoldfastError ? STATUS[error.code] : undefined;
    if (status !== undefined) return c.json({ error: error.message }, status);
    console.error(error);
    return c.json({ error: 'it could not be done now' }, 503);
  });
  return app;
};

const main = async (): Promise<void> => {
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
  const connection = await Connection.connect(connectionOptions);
  const store = createPostgresStore({ url: DATABASE_URL });
  const temporal = new Client({ connection, namespace });
  const parts = createDirectParts({ store, temporal, taskQueue: HOLDFAST_TASK_QUEUE });
  const app = createApp(createDirectClient(parts, CALLER));
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(PORT) }, ({ port }) => {
    console.log(`http://127.0.0.1:${String(port)}`);
  });
  process.once('SIGTERM', () => {
    server.close(() => {
      void Promise.all([store.close(), connection.close()]);
    });
  });
};

main().catch((error: unknown) => {
  console.error(String(error));
  process.exitCode = 1;
});
