/** What the runs of a period add up to. */
import { createRoute } from '@hono/zod-openapi';
import { SUMMARY, SUMMARY_QUERY } from '../../schemas/summary';
import { json, PROBLEM_RESPONSE, secured } from '../openapi';
import type { App } from '../service';

const GET = createRoute({
  method: 'get',
  path: '/v1/metrics/summary',
  operationId: 'getSummary',
  summary: 'Completion, premature finishes, stops, cost and time over a period',
  ...secured('read'),
  request: { query: SUMMARY_QUERY },
  responses: { 200: json(SUMMARY, 'About the runs that were created in the period.'), ...PROBLEM_RESPONSE },
});

export const addSummaryRoute = (app: App): void => {
  app.openapi(GET, async (c) => c.json(await c.get('client').summary(c.req.valid('query')), 200));
};
