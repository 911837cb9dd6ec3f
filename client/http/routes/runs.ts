/** Runs: start, list, look at. */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import { CALLER_ID, RUN_ID } from '../../schemas/common';
import { DETAILS } from '../../schemas/details';
import { RUN, RUN_PAGE, RUN_QUERY } from '../../schemas/run';
import { START_REQUEST } from '../../start-request';
import { given } from '../../views/time';
import { json, jsonBody, PROBLEM_RESPONSE, secured } from '../openapi';
import type { App } from '../service';

export const RUN_PARAM = z.object({ run: RUN_ID });

const START = createRoute({
  method: 'post',
  path: '/v1/runs',
  operationId: 'startRun',
  summary: 'Start a run',
  ...secured('operate'),
  request: {
    headers: z.object({
      'idempotency-key': CALLER_ID.optional().meta({
        description: 'The same key and body give the same run, as often as they are sent; another body is refused.',
      }),
    }),
    body: jsonBody(START_REQUEST),
  },
  responses: { 201: json(RUN, 'The run, as it stands now.'), ...PROBLEM_RESPONSE },
});

const LIST = createRoute({
  method: 'get',
  path: '/v1/runs',
  operationId: 'listRuns',
  summary: 'List runs, the newest first',
  ...secured('read'),
  request: { query: RUN_QUERY },
  responses: { 200: json(RUN_PAGE, 'A page; without `cursor` it is the last.'), ...PROBLEM_RESPONSE },
});

const GET = createRoute({
  method: 'get',
  path: '/v1/runs/{run}',
  operationId: 'getRun',
  summary: 'Look at a run',
  ...secured('read'),
  request: { params: RUN_PARAM },
  responses: { 200: json(RUN, 'The run as it is recorded.'), ...PROBLEM_RESPONSE },
});

const GET_DETAILS = createRoute({
  method: 'get',
  path: '/v1/runs/{run}/details',
  operationId: 'getRunDetails',
  summary: 'Everything that is recorded of a run',
  ...secured('read'),
  request: { params: RUN_PARAM },
  responses: {
    200: json(DETAILS, 'Attempts, decisions, operations, waits and ledger, in order.'),
    ...PROBLEM_RESPONSE,
  },
});

export const addRunRoutes = (app: App): void => {
  app.openapi(START, async (c) => {
    const { 'idempotency-key': idempotencyKey } = c.req.valid('header');
    const run = await c.get('client').start(c.req.valid('json'), given({ idempotencyKey }));
    return c.json(run, 201, { Location: `/v1/runs/${run.run}` });
  });
  app.openapi(LIST, async (c) => c.json(await c.get('client').list(c.req.valid('query')), 200));
  app.openapi(GET, async (c) => c.json(await c.get('client').snapshot(c.req.valid('param').run), 200));
  app.openapi(GET_DETAILS, async (c) => c.json(await c.get('client').details(c.req.valid('param').run), 200));
};
