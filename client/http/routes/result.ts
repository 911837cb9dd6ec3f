/** The result: 202 while there is none, then the same for ever (a resolution adds a version). */
import { createRoute } from '@hono/zod-openapi';
import { NOT_ENDED, RESULT } from '../../schemas/result';
import { json, PROBLEM_RESPONSE, secured } from '../openapi';
import type { App } from '../service';
import { RUN_PARAM } from './runs';

const GET = createRoute({
  method: 'get',
  path: '/v1/runs/{run}/result',
  operationId: 'getResult',
  summary: 'Read the result of a run',
  ...secured('read'),
  request: { params: RUN_PARAM },
  responses: {
    200: json(RESULT, 'The newest version; `version` rises with each resolution.'),
    202: json(NOT_ENDED, 'The run goes on: ask again, or follow its events.'),
    ...PROBLEM_RESPONSE,
  },
});

export const addResultRoute = (app: App): void => {
  app.openapi(GET, async (c) => {
    const { run } = c.req.valid('param');
    const client = c.get('client');
    const result = await client.result(run);
    if (result !== undefined) return c.json(result, 200);
    const { state } = await client.snapshot(run);
    return c.json({ run, state }, 202, { 'Retry-After': '1' });
  });
};
