/**
 * The service as a value: `app.request(…)` is a request to it, without a port. What every request goes through is here, in
 * order; what a route does is in `routes/`, and what a client can do at all in `holdfast-client.ts`.
 *
 *   1. Whatever is thrown becomes one RFC 9457 problem, in one place.
 *   2. Below /v1 nothing is looked at before the caller is known; a route's role is required before its input is.
 *   3. Another tenant's thing is not found, exactly as if it did not exist.
 */
import { OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { timeout } from 'hono/timeout';
import { addPage } from '../web/add-page';
import { createMetrics } from './metrics';
import { authenticate } from './middleware/authenticate';
import { protect } from './middleware/protect';
import { record } from './middleware/record';
import { noteProblem } from './problems/note-problem';
import { fromZod, ProblemError, toProblemError, toProblemResponse } from './problems/problem';
import { addArtifactRoute } from './routes/artifacts';
import { addControlRoutes } from './routes/control';
import { addEventRoutes } from './routes/events';
import { addHealthRoutes } from './routes/health';
import { addResultRoute } from './routes/result';
import { addRunRoutes } from './routes/runs';
import { addSummaryRoute } from './routes/summary';
import { addWaitRoutes } from './routes/waits';
import { DEFAULT_SERVICE_LIMITS, type App, type AppEnv, type Service, type ServiceDeps } from './service';
import { describeApi, type ApiDocument } from './describe-api';

const PLACES = {
  json: 'body',
  form: 'body',
  query: 'query',
  param: 'path',
  header: 'headers',
  cookie: 'cookies',
} as const;

/** A whole service, made of what it is given; it opens nothing itself. */
export const createApp = (deps: ServiceDeps): App => {
  const streams = new Set<unknown>();
  const service: Service = {
    ...deps,
    streams,
    limits: { ...DEFAULT_SERVICE_LIMITS, ...deps.limits },
    isPageSecure: deps.isPageSecure ?? true,
    metrics: createMetrics(() => streams.size),
  };
  const app: App = new OpenAPIHono<AppEnv>({
    defaultHook: (result) => {
      if (!result.success) throw fromZod(result.error, PLACES[result.target]);
    },
  });
  app.onError((error, c) => answerProblem(service, c, error));
  // Answered, not thrown: what checks methods looks at the answer.
  app.notFound((c) => answerProblem(service, c, new ProblemError('route.not_found', 'path: got one of no resource')));
  app.use(record(service));
  app.use(protect);
  addHealthRoutes(app, service);
  addCallbacks(app, service);
  app.use('/v1/*', authenticate);
  app.use('/v1/*', bodyLimit({ maxSize: service.limits.maxBodyBytes, onError: () => tooLarge(service) }));
  app.use('/v1/*', timeout(service.limits.requestTimeoutMs));
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, methods) => {
        const Allow = methods.join(', ');
        throw new ProblemError('route.method', `${c.req.method}: expected ${Allow}`, { headers: { Allow } });
      },
    }),
  );
  addRunRoutes(app);
  addEventRoutes(app);
  addResultRoute(app);
  addArtifactRoute(app);
  addWaitRoutes(app, service);
  addControlRoutes(app);
  addSummaryRoute(app);
  addPage(app, service);
  let document: ApiDocument | undefined;
  app.get('/openapi.json', (c) => c.json((document ??= describeApi(app))));
  return app;
};

const answerProblem = (service: Service, c: Context<AppEnv>, error: unknown): Response => {
  const refusal = toProblemError(error);
  return toProblemResponse(refusal, noteProblem(service, c.get('requestId'), refusal));
};

const tooLarge = ({ limits }: Service): never => {
  throw new ProblemError('request.too_large', `body: expected at most ${limits.maxBodyBytes} bytes`);
};

/** They bring no token: each is signed by the tool whose operation it is about. */
const addCallbacks = (app: App, { callbacks }: Service): void => {
  if (callbacks !== undefined) app.route('/', callbacks);
};
