/** What moves a run on: cancel. */
import { createRoute } from '@hono/zod-openapi';
import { RUN } from '../../schemas/run';
import { json, PROBLEM_RESPONSE, secured } from '../openapi';
import type { App } from '../service';
import { RUN_PARAM } from './runs';

const CANCEL = createRoute({
  method: 'post',
  path: '/v1/runs/{run}/cancel',
  operationId: 'cancelRun',
  summary: 'Cancel a run',
  ...secured('operate'),
  request: { params: RUN_PARAM },
  responses: {
    202: json(RUN, 'Nothing new is sent from now on; the run ends as CANCELLED or CANCEL_UNKNOWN.'),
    ...PROBLEM_RESPONSE,
  },
});

export const addControlRoutes = (app: App): void => {
  app.openapi(CANCEL, async (c) => {
    const { run } = c.req.valid('param');
    const client = c.get('client');
    await client.cancel(run);
    return c.json(await client.snapshot(run), 202);
  });
};
