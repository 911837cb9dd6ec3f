/** What the desk's public routes answer, as far as these tools rely on it. Unknown members are left out. */
import { z } from 'zod';

const version = z.int().positive();

export const ticketShape = z.object({
  id: z.string(),
  title: z.string(),
  body: z.string(),
  service: z.string(),
  team: z.string(),
  status: z.enum(['open', 'closed']),
  version,
  comments: z.array(z.object({ text: z.string(), at: z.string() })),
});
export type DeskTicket = z.output<typeof ticketShape>;

export const ticketListShape = z.object({ tickets: z.array(ticketShape) });

export const ruleShape = z.object({
  id: z.string(),
  service: z.string(),
  team: z.string(),
  text: z.string(),
  version,
});
export const ruleListShape = z.object({ rules: z.array(ruleShape) });
export const teamListShape = z.object({ teams: z.array(z.object({ id: z.string(), name: z.string() })) });

/** One thing that happened to a ticket: what a receipt, a look-up and a finished job all show. */
export const effectShape = z.object({
  id: z.string(),
  kind: z.enum(['reassign', 'comment', 'close']),
  ticket: z.string(),
  ticketVersion: version,
  args: z.record(z.string(), z.string()),
});
export type DeskEffect = z.output<typeof effectShape>;

export const receiptShape = z.object({ effect: effectShape });
export const acceptedShape = z.object({ job: z.string().min(1) });

const failureShape = z.object({ code: z.string(), detail: z.string() });
export type DeskFailure = z.output<typeof failureShape>;

export const operationShape = z.discriminatedUnion('status', [
  z.object({ status: z.literal('done'), effect: effectShape }),
  z.object({ status: z.literal('pending'), job: z.string().min(1) }),
  z.object({ status: z.literal('failed'), failure: failureShape }),
]);

export const jobShape = z.discriminatedUnion('status', [
  z.object({ status: z.literal('done'), job: z.string(), effect: effectShape }),
  z.object({ status: z.literal('failed'), job: z.string(), failure: failureShape }),
  z.object({ status: z.enum(['accepted', 'running', 'cancelled']), job: z.string() }),
]);

/** RFC 9457, with the desk's own members. */
export const problemShape = z.object({
  code: z.string().default('unknown'),
  detail: z.string().default(''),
  currentVersion: version.optional(),
});
export type DeskProblemBody = z.output<typeof problemShape>;
