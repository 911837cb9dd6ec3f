/** What moves a run on, or goes on after its end: messages, cancel, resolutions, reopening. */
import { createRoute } from '@hono/zod-openapi';
import { REOPEN_REQUEST } from '../../reopen';
import { RESOLVE_REQUEST } from '../../resolve';
import { MESSAGE, MESSAGE_RECEIPT, RESOLUTION } from '../../schemas/change';
import { RUN } from '../../schemas/run';
import { json, jsonBody, PROBLEM_RESPONSE, secured } from '../openapi';
import type { App } from '../service';
import { RUN_PARAM } from './runs';

const SEND_MESSAGE = createRoute({
  method: 'post',
  path: '/v1/runs/{run}/messages',
  operationId: 'sendMessage',
  summary: 'Change the plan of a run, take back what it asks about, or start a linked one',
  ...secured('operate'),
  request: { params: RUN_PARAM, body: jsonBody(MESSAGE) },
  responses: { 200: json(MESSAGE_RECEIPT, 'It was accepted.'), ...PROBLEM_RESPONSE },
});

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

const RESOLVE = createRoute({
  method: 'post',
  path: '/v1/runs/{run}/resolutions',
  operationId: 'resolveOperation',
  summary: 'Say what became of an operation, after the end of its run',
  ...secured('operate'),
  request: { params: RUN_PARAM, body: jsonBody(RESOLVE_REQUEST) },
  responses: { 200: json(RESOLUTION, 'The result has a further version; the terminal stays.'), ...PROBLEM_RESPONSE },
});

const REOPEN = createRoute({
  method: 'post',
  path: '/v1/runs/{run}/reopen',
  operationId: 'reopenRun',
  summary: 'Go on where a run has ended, in another run with its facts, operations and account',
  ...secured('operate'),
  request: { params: RUN_PARAM, body: jsonBody(REOPEN_REQUEST) },
  responses: { 201: json(RUN, 'The run that goes on; the same request again is the same run.'), ...PROBLEM_RESPONSE },
});

export const addControlRoutes = (app: App): void => {
  app.openapi(SEND_MESSAGE, async (c) =>
    c.json(await c.get('client').message(c.req.valid('param').run, c.req.valid('json')), 200),
  );
  app.openapi(CANCEL, async (c) => {
    const { run } = c.req.valid('param');
    const client = c.get('client');
    await client.cancel(run);
    return c.json(await client.snapshot(run), 202);
  });
  app.openapi(RESOLVE, async (c) =>
    c.json(await c.get('client').resolve(c.req.valid('param').run, c.req.valid('json')), 200),
  );
  app.openapi(REOPEN, async (c) => {
    const run = await c.get('client').reopen(c.req.valid('param').run, c.req.valid('json'));
    return c.json(run, 201, { Location: `/v1/runs/${run.run}` });
  });
};
