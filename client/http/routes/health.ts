/** For those who run the service: whether it lives, whether it can serve, its figures. No token, and nothing of any tenant. */
import { createRoute } from '@hono/zod-openapi';
import { z } from 'zod';
import { json, PROBLEM_RESPONSE } from '../openapi';
import type { App, Service } from '../service';

const LIVE = createRoute({
  method: 'get',
  path: '/healthz',
  operationId: 'getHealth',
  summary: 'Whether the process answers',
  responses: { 200: json(z.object({ status: z.literal('live') }), 'It does.') },
});

const READINESS = z
  .object({
    status: z.enum(['ready', 'not ready']),
    store: z.enum(['there', 'away']),
    engine: z.enum(['there', 'away']).meta({
      description: 'Without it, starts, responses and callbacks are stored, and take effect once it is back.',
    }),
  })
  .meta({ id: 'Readiness' });

const READY = createRoute({
  method: 'get',
  path: '/readyz',
  operationId: 'getReadiness',
  summary: 'Whether requests can be served: the database answers, and the service is not being stopped',
  responses: { 200: json(READINESS, 'They can.'), 503: json(READINESS, 'They cannot.') },
});

const METRICS = createRoute({
  method: 'get',
  path: '/metrics',
  operationId: 'getMetrics',
  summary: 'Figures of this process, for Prometheus',
  responses: {
    200: { description: 'Text format.', content: { 'text/plain': { schema: z.string() } } },
    ...PROBLEM_RESPONSE,
  },
});

export const addHealthRoutes = (app: App, service: Service): void => {
  app.openapi(LIVE, (c) => c.json({ status: 'live' as const }, 200));
  app.openapi(READY, async (c) => {
    const [isStoreThere, isEngineThere] = await Promise.all([
      holds(service.parts.store.ping()),
      service.isEngineThere(),
    ]);
    const isReady = isStoreThere && !service.closing.aborted;
    const status = isReady ? ('ready' as const) : ('not ready' as const);
    return c.json({ status, store: presence(isStoreThere), engine: presence(isEngineThere) }, isReady ? 200 : 503);
  });
  app.openapi(METRICS, async (c) => {
    const { contentType, text } = await service.metrics.render();
    return c.text(text, 200, { 'Content-Type': contentType });
  });
};

const presence = (isThere: boolean): 'there' | 'away' => (isThere ? 'there' : 'away');

const holds = (promise: Promise<void>): Promise<boolean> =>
  promise.then(
    () => true,
    () => false,
  );
