/** One line of log and one measurement for each request: what was asked of what, never with what. */
import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import { randomUUID } from 'node:crypto';
import type { AppEnv, Service } from '../service';

export const record =
  (service: Service): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    const startedAt = performance.now();
    const requestId = randomUUID();
    c.set('service', service);
    c.set('requestId', requestId);
    await next();
    c.res.headers.set('X-Request-Id', requestId);
    const seconds = (performance.now() - startedAt) / 1000;
    const { method } = c.req;
    const { status } = c.res;
    const route = toDeclared(routePath(c, -1));
    service.metrics.request({ method, route, status, seconds });
    const level = status >= 500 ? 'error' : status >= 400 ? 'info' : 'debug';
    service.log[level](
      {
        requestId,
        method,
        route,
        status,
        ms: Math.round(seconds * 1000),
        ...idsOf(c.req.param()),
        ...callerOf(c.get('caller')),
      },
      'answered',
    );
  };

/** Names of routes are few; what no route matched is one of them. */
const toDeclared = (path: string): string =>
  path.includes('*') ? 'none' : path.replace(/:([a-z]+)(\{[^}]*\})?/gi, '{$1}');

const ID = /^(?:run|wait|op)_[A-Za-z0-9_-]{1,100}$/;

const idsOf = (params: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(params).filter(([, value]) => ID.test(value)));

// Behind no authentication there is none.
const callerOf = (
  caller: AppEnv['Variables']['caller'] | undefined,
): Pick<AppEnv['Variables']['caller'], 'tenant' | 'subject'> | undefined =>
  caller && { tenant: caller.tenant, subject: caller.subject };
