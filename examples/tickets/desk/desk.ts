/** The ticket desk as a value: `desk.app.request('/tickets/T100')` in a test, `serve` in `main.ts`. */
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { Webhook } from 'standardwebhooks';
import { CallbackSender, type Send } from './core/callbacks';
import { Scheduler, SleepEndedError, systemClock, type Clock } from './core/clock';
import { FaultBook } from './core/faults';
import { Jobs } from './core/jobs';
import { fileLog, memoryLog } from './core/log';
import { DeskProblem } from './core/problem';
import { RequestLog } from './core/request-log';
import { DeskStore } from './core/store';
import { ConnectionDroppedError, dropConnection } from './http/connection';
import type { DeskContext, DeskEnv, DeskParts } from './http/context';
import { controlRoutes } from './http/control-routes';
import { addJobRoutes } from './http/job-routes';
import { toResponse } from './http/response';
import { addTicketRoutes } from './http/ticket-routes';

const MAX_BODY_BYTES = 256 * 1024;
const CONTROL_PATH = '/_control';

export interface DeskOptions {
  /** Base64, `whsec_` in front or not: signs callbacks. Without it a `Callback-Url` is refused. */
  readonly callbackSecret?: string | undefined;
  /** Where the log is kept; in memory when it is absent. */
  readonly dataDirectory?: string;
  readonly clock?: Clock;
  /** How callbacks leave. */
  readonly send?: Send;
  /** Whether the `/_control` routes are there. */
  readonly hasControl?: boolean;
}

export class DeskOptionsError extends Error {
  override readonly name = 'DeskOptionsError';
  readonly code = 'desk.options_invalid';
}

export interface Desk {
  readonly app: Hono<DeskEnv>;
  /** Drops what was planned and closes the log. Requests still held are cut. */
  close(): void;
}

export function createDesk(options: DeskOptions): Desk {
  const desk = createParts(options);
  const app = new Hono<DeskEnv>();
  app.onError(toErrorResponse);
  app.notFound((c) =>
    toResponse(
      new DeskProblem({ status: 404, code: 'route_not_found', detail: `there is no ${c.req.path}` }).toReply(),
    ),
  );
  app.use(logRequests(desk));
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: () => toResponse(bodyTooLarge.toReply()) }));
  addTicketRoutes(app, desk);
  addJobRoutes(app, desk);
  if (options.hasControl ?? true) {
    app.route(
      CONTROL_PATH,
      controlRoutes(desk, () => {
        resetParts(desk);
      }),
    );
  }
  desk.jobs.resume();
  return {
    app,
    close: () => {
      desk.scheduler.clear();
      desk.store.close();
    },
  };
}

const bodyTooLarge = new DeskProblem({
  status: 413,
  code: 'body_too_large',
  detail: `body: at most ${String(MAX_BODY_BYTES)} bytes`,
});

function createParts(options: DeskOptions): DeskParts {
  const clock = options.clock ?? systemClock;
  const log = options.dataDirectory === undefined ? memoryLog() : fileLog(options.dataDirectory);
  const store = new DeskStore(log);
  const scheduler = new Scheduler(clock);
  const sender = new CallbackSender({
    clock,
    scheduler,
    settings: () => store.settings,
    send: options.send ?? fetch,
    signer: options.callbackSecret === undefined ? undefined : createSigner(options.callbackSecret),
  });
  const jobs = new Jobs({ store, clock, scheduler, sender });
  return { store, clock, scheduler, sender, jobs, faults: new FaultBook(), requests: new RequestLog() };
}

function createSigner(secret: string): Webhook {
  try {
    return new Webhook(secret);
  } catch (error) {
    throw new DeskOptionsError('callbackSecret: expected base64, with or without whsec_ in front', { cause: error });
  }
}

/** Back to the seed. What was planned is dropped first, so that nothing old happens to the new data. */
function resetParts(desk: DeskParts): void {
  desk.scheduler.clear();
  desk.store.reset();
  desk.faults.clear();
  desk.requests.clear();
  desk.sender.clear();
}

function logRequests(desk: DeskParts) {
  return async (c: DeskContext, next: () => Promise<void>): Promise<void> => {
    if (c.req.path.startsWith(`${CONTROL_PATH}/`)) {
      await next();
      return;
    }
    const { pathname, search } = new URL(c.req.url);
    const seq = desk.requests.begin({
      method: c.req.method,
      path: pathname + search,
      key: c.req.header('Idempotency-Key') ?? null,
      ifMatch: c.req.header('If-Match') ?? null,
      at: new Date(desk.clock.now()).toISOString(),
    });
    try {
      await next();
    } finally {
      desk.requests.end(seq, c.get('isDropped') ? 'dropped' : c.res.status);
    }
  };
}

function toErrorResponse(error: Error, c: DeskContext): Response {
  if (error instanceof ConnectionDroppedError) throw error;
  if (error instanceof SleepEndedError) return dropConnection(c);
  if (error instanceof DeskProblem) return toResponse(error.toReply());
  process.stderr.write(`${c.req.method} ${c.req.path}: ${error.stack ?? error.message}\n`);
  return toResponse(new DeskProblem({ status: 500, code: 'internal', detail: 'the desk failed' }).toReply());
}
