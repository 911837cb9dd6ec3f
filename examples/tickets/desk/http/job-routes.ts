import type { Hono } from 'hono';
import type { OutcomeFault } from '../core/faults';
import { lookUpOperation } from '../core/look-up';
import type { Job, Settings } from '../core/model';
import { DeskProblem } from '../core/problem';
import type { DeskEnv, DeskParts } from './context';
import { ok } from './response';
import { serveRequest } from './serve-request';

export function addJobRoutes(app: Hono<DeskEnv>, desk: DeskParts): void {
  const { store, clock, jobs } = desk;

  app.get('/operations/:key', (c) => {
    const key = c.req.param('key');
    return serveRequest(desk, c, {
      target: { route: 'lookup', key },
      ...lookUpOutcome(store.settings),
      handle: () => lookUpOperation(store, key, clock.now()),
    });
  });

  app.get('/jobs', (c) => {
    const key = c.req.query('key');
    const handle = () => {
      const found = store.jobs().filter((job) => key === undefined || job.command.key === key);
      return ok({ jobs: found.map(viewJob) });
    };
    return serveRequest(desk, c, { target: { route: 'jobs', key }, handle });
  });

  app.get('/jobs/:id', (c) => {
    const id = c.req.param('id');
    const target = { route: 'job', ...targetOf(store.job(id)) } as const;
    return serveRequest(desk, c, { target, handle: () => ok(viewJob(jobs.require(id))) });
  });

  app.post('/jobs/:id/cancel', (c) => {
    const id = c.req.param('id');
    const target = { route: 'cancel_job', ...targetOf(store.job(id)) } as const;
    const handle = () => ({ ...ok(viewJob(jobs.cancel(id))), status: 202 });
    return serveRequest(desk, c, { target, handle });
  });
}

/** A job as its caller may see it. */
export function viewJob({ id, status, command, effect, failure }: Job): Readonly<Record<string, unknown>> {
  const { ticket, action, key = null } = command;
  return { job: id, status, key, kind: action.kind, ticket, ...(effect && { effect }), ...(failure && { failure }) };
}

function targetOf(job: Job | undefined): { readonly ticket?: string; readonly key?: string | undefined } {
  return job ? { ticket: job.command.ticket, key: job.command.key } : {};
}

function lookUpOutcome({ lookup }: Settings): { readonly otherwise?: OutcomeFault } {
  switch (lookup) {
    case 'on':
      return {};
    case 'off':
      throw new DeskProblem({ status: 501, code: 'lookup_off', detail: 'this desk offers no look-up of operations' });
    case 'fail':
      return { otherwise: { kind: 'status', status: 503, code: 'lookup_unavailable', applied: false } };
    case 'hang':
      return { otherwise: { kind: 'hang' } };
  }
}
