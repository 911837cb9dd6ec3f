/** Waits: what people are asked, and their answers. */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import { WAIT_ID } from '../../schemas/common';
import { RECEIPT, RESPONSE, WAIT, WAIT_PAGE, WAIT_QUERY } from '../../schemas/wait';
import { limitRate } from '../middleware/limit-rate';
import { requireAccess } from '../middleware/authenticate';
import { json, jsonBody, PROBLEM_RESPONSE, secured } from '../openapi';
import type { App, Service } from '../service';
import { RUN_PARAM } from './runs';

const LIST = createRoute({
  method: 'get',
  path: '/v1/waits',
  operationId: 'listWaits',
  summary: 'List waits, the oldest first',
  ...secured('read'),
  request: { query: WAIT_QUERY },
  responses: { 200: json(WAIT_PAGE, 'A page; without `cursor` it is the last.'), ...PROBLEM_RESPONSE },
});

const GET = createRoute({
  method: 'get',
  path: '/v1/waits/{wait}',
  operationId: 'getWait',
  summary: 'Look at a wait, with its exact plan or question',
  ...secured('read'),
  request: { params: z.object({ wait: WAIT_ID }) },
  responses: { 200: json(WAIT, 'All that is to be seen before it is answered.'), ...PROBLEM_RESPONSE },
});

const respondRoute = ({ limits }: Service) =>
  createRoute({
    method: 'post',
    path: '/v1/runs/{run}/responses',
    operationId: 'respond',
    summary: 'Answer a wait',
    ...secured('respond'),
    middleware: [
      requireAccess('respond'),
      limitRate({
        perMinute: limits.responsesPerMinute,
        keyOf: (c) => JSON.stringify([c.get('caller').tenant, c.get('caller').subject]),
      }),
    ],
    request: { params: RUN_PARAM, body: jsonBody(RESPONSE) },
    responses: {
      200: json(RECEIPT, 'It was accepted. A refusal is a problem with its own code.'),
      ...PROBLEM_RESPONSE,
    },
  });

export const addWaitRoutes = (app: App, service: Service): void => {
  app.openapi(LIST, async (c) => c.json(await c.get('client').waits(c.req.valid('query')), 200));
  app.openapi(GET, async (c) => c.json(await c.get('client').wait(c.req.valid('param').wait), 200));
  app.openapi(respondRoute(service), async (c) =>
    c.json(await c.get('client').respond(c.req.valid('param').run, c.req.valid('json')), 200),
  );
};
