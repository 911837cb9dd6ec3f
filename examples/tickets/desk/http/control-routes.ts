/** The test's side of the desk. No tool may call these; they would not exist in a real one. */
import { Hono } from 'hono';
import { z } from 'zod';
import { signingSchema } from '../core/callbacks';
import { callbackBody } from '../core/jobs';
import { faultRuleSchema } from '../core/faults';
import {
  jobEventTypeSchema,
  jobOutcomeSchema,
  ruleSchema,
  settingsSchema,
  ticketSchema,
  type Rule,
  type Ticket,
} from '../core/model';
import { DeskProblem } from '../core/problem';
import type { DeskEnv, DeskParts } from './context';
import { parseInput, readJson } from './input';

export const ticketChangeSchema = ticketSchema
  .unwrap()
  .omit({ version: true, comments: true })
  .partial()
  .required({ id: true })
  .strict();
export const ruleChangeSchema = ruleSchema.unwrap().omit({ version: true }).partial().required({ id: true }).strict();
export const settingsChangeSchema = settingsSchema.unwrap().partial();
const finishSchema = z.object({ outcome: jobOutcomeSchema.default('done') }).strict();

/** A callback made by hand: any event of a job, in any order, to any address, signed in any way. */
export const callbackRequestSchema = z
  .object({
    type: jobEventTypeSchema,
    sequence: z.number().int().min(1).default(1),
    eventId: z.string().min(1).optional(),
    url: z.url().optional(),
    signing: signingSchema.default('valid'),
    copies: z.number().int().min(1).max(10).default(1),
  })
  .strict();

export function controlRoutes(desk: DeskParts, reset: () => void): Hono<DeskEnv> {
  const { store, faults, requests, sender, jobs } = desk;
  const app = new Hono<DeskEnv>();

  app.get('/effects', (c) => c.json({ effects: store.effects }));
  app.get('/requests', (c) => c.json({ requests: requests.requests }));
  app.get('/callbacks', (c) => c.json({ callbacks: sender.deliveries }));

  app.get('/faults', (c) => c.json({ faults: faults.rules }));
  app.post('/faults', async (c) => c.json(faults.add(await readJson(c, faultRuleSchema))));
  app.delete('/faults', (c) => {
    faults.clear();
    return c.body(null, 204);
  });

  app.get('/settings', (c) => c.json(store.settings));
  app.post('/settings', async (c) => {
    const change = await readJson(c, settingsChangeSchema);
    const settings = parseInput(settingsSchema, { ...store.settings, ...change });
    store.commit({ settings });
    return c.json(settings);
  });

  app.post('/reset', (c) => {
    reset();
    return c.body(null, 204);
  });

  app.get('/tickets', (c) => c.json({ tickets: store.tickets() }));
  app.post('/tickets', async (c) => {
    const change = await readJson(c, ticketChangeSchema);
    const ticket = changeTicket(store.ticket(change.id), change);
    store.commit({ ticket });
    return c.json(ticket);
  });

  app.post('/rules', async (c) => {
    const change = await readJson(c, ruleChangeSchema);
    const before = store.rule(change.id);
    const rule: Rule = parseInput(ruleSchema, { ...before, ...change, version: (before?.version ?? 0) + 1 });
    store.commit({ rule });
    return c.json(rule);
  });

  app.get('/jobs', (c) => c.json({ jobs: store.jobs() }));
  app.post('/jobs/:id/finish', async (c) => {
    const { outcome } = await readJson(c, finishSchema);
    return c.json(jobs.finish(c.req.param('id'), outcome));
  });

  app.post('/jobs/:id/callbacks', async (c) => {
    const { type, sequence, url, signing, copies, eventId } = await readJson(c, callbackRequestSchema);
    const job = jobs.require(c.req.param('id'));
    const to = url ?? job.callback?.url;
    if (to === undefined)
      throw new DeskProblem({ status: 422, code: 'callback_url_missing', detail: `job ${job.id} has no Callback-Url` });
    const at = new Date(desk.clock.now()).toISOString();
    const event = { eventId: eventId ?? `evt_${job.id}_${String(sequence)}`, type, sequence, at };
    const sendings = Array.from({ length: copies }, () => sender.sendOnce(to, callbackBody(job, event), { signing }));
    return c.json({ callbacks: await Promise.all(sendings) });
  });

  return app;
}

/** A person edits a ticket: whatever changed, it is a new version. */
function changeTicket(before: Ticket | undefined, change: z.infer<typeof ticketChangeSchema>): Ticket {
  const version = (before?.version ?? 0) + 1;
  const defaults = { status: 'open', body: '', comments: [] };
  return parseInput(ticketSchema, { ...defaults, ...before, ...change, version });
}
