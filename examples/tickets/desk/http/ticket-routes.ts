import type { Hono } from 'hono';
import { z } from 'zod';
import { etagOf } from '../core/etag';
import { isCallback, isJob, type FaultTarget, type WRITE_ROUTES } from '../core/faults';
import type { AcceptOptions } from '../core/jobs';
import { ticketIdSchema, type Action, type Command, type JobPlan, type Reply, type Ticket } from '../core/model';
import { DeskProblem } from '../core/problem';
import { executeWrite, replayRecorded, requireTicket } from '../core/writes';
import type { DeskContext, DeskEnv, DeskParts } from './context';
import { parseInput, prefersAsync, readCallbackUrl, readIfMatch, readJson, readKey } from './input';
import { ok } from './response';
import { serveRequest } from './serve-request';

type WriteRoute = (typeof WRITE_ROUTES)[number];

const teamName = z.string().min(1).max(64);
const listQuerySchema = z.object({ text: z.string().max(500).optional(), service: z.string().max(200).optional() });
const rulesQuerySchema = z.object({ service: z.string().max(200).optional() });

const BODY_SCHEMAS = {
  reassign: z
    .object({ team: teamName, reason: z.string().min(1).max(2_000).optional() })
    .strict()
    .transform((body): Action => ({ kind: 'reassign', ...body })),
  comment: z
    .object({ text: z.string().min(1).max(10_000) })
    .strict()
    .transform((body): Action => ({ kind: 'comment', ...body })),
  close: z
    .object({})
    .strict()
    .transform((): Action => ({ kind: 'close' })),
} as const satisfies Record<WriteRoute, z.ZodType<Action>>;

export function addTicketRoutes(app: Hono<DeskEnv>, desk: DeskParts): void {
  const { store } = desk;

  app.get('/tickets', (c) => {
    const query = parseInput(listQuerySchema, c.req.query());
    const handle = () => ok({ tickets: store.tickets().filter((ticket) => isListed(ticket, query)) });
    return serveRequest(desk, c, { target: { route: 'list' }, handle });
  });

  app.get('/tickets/:id', (c) => {
    const id = c.req.param('id');
    const handle = () => {
      const ticket = requireTicket(store, id);
      return ok(ticket, { ETag: etagOf(ticket.version) });
    };
    return serveRequest(desk, c, { target: { route: 'get_ticket', ticket: id }, handle });
  });

  app.get('/rules/oncall', (c) => {
    const { service } = parseInput(rulesQuerySchema, c.req.query());
    const handle = () =>
      ok({ rules: store.rules().filter((rule) => service === undefined || rule.service === service) });
    return serveRequest(desk, c, { target: { route: 'rules' }, handle });
  });

  app.get('/teams', (c) =>
    serveRequest(desk, c, { target: { route: 'teams' }, handle: () => ok({ teams: store.teams }) }),
  );

  app.post('/tickets/:id/reassign', (c) => serveWrite(desk, c, 'reassign'));
  app.post('/tickets/:id/comments', (c) => serveWrite(desk, c, 'comment'));
  app.post('/tickets/:id/close', (c) => serveWrite(desk, c, 'close'));
}

async function serveWrite(desk: DeskParts, c: DeskContext<'/tickets/:id'>, route: WriteRoute): Promise<Response> {
  // The request is read whole before any fault acts: a fault may cut the connection and do the work later.
  const id = c.req.param('id');
  const key = readKey(c);
  const ifMatch = readIfMatch(c);
  const callbackUrl = readCallbackUrl(c);
  if (callbackUrl !== undefined && !desk.sender.canSign) {
    throw new DeskProblem({
      status: 422,
      code: 'callbacks_not_configured',
      detail: 'this desk has no secret to sign callbacks with',
    });
  }
  const isAsync = prefersAsync(c);
  const command: Command = {
    ticket: parseInput(ticketIdSchema, id),
    action: await readJson(c, BODY_SCHEMAS[route]),
    ...(key !== undefined && { key }),
    ...(ifMatch !== undefined && { ifMatch }),
  };
  const target: FaultTarget = { route, ticket: id, key };
  const handle = (): Reply | Promise<Reply> => {
    const repeated = replayRecorded(desk.store, command, desk.clock.now());
    if (repeated) return repeated;
    const plan = planJob(desk, target, isAsync);
    if (!plan) return executeWrite(desk.store, command, desk.clock.now());
    return desk.jobs.accept(command, { plan, ...planCallback(desk, target, callbackUrl) });
  };
  return serveRequest(desk, c, { target, handle });
}

function planJob({ faults, store }: DeskParts, target: FaultTarget, isAsync: boolean): JobPlan | undefined {
  const { jobRunMs } = store.settings;
  const fault = faults.take(isJob, target);
  if (!fault) return isAsync ? { run: jobRunMs, cancellable: true, outcome: 'done' } : undefined;
  const { manual, runMs = jobRunMs, cancellable, outcome } = fault;
  return { run: manual ? 'manual' : runMs, cancellable, outcome };
}

function planCallback(
  { faults }: DeskParts,
  target: FaultTarget,
  url: string | undefined,
): Pick<AcceptOptions, 'callback'> {
  if (url === undefined) return {};
  const { when, copies, delayMs } = faults.take(isCallback, target) ?? { when: 'normal', copies: 2, delayMs: 0 };
  return { callback: { url, mode: { when, copies, delayMs } } };
}

/** Every word of `text` occurs in the title or the body. */
function isListed(ticket: Ticket, query: z.infer<typeof listQuerySchema>): boolean {
  const words = query.text?.toLowerCase().split(/\s+/) ?? [];
  const content = `${ticket.title}\n${ticket.body}`.toLowerCase();
  return (
    (query.service === undefined || ticket.service === query.service) && words.every((word) => content.includes(word))
  );
}
