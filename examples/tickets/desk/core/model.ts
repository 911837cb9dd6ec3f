/**
 * What the ticket desk keeps, as shapes that are parsed when they are read back from disk or over HTTP.
 * The desk is an outside system: nothing here comes from, or is shared with, the runtime that calls it.
 */
import { z } from 'zod';

export const ticketIdSchema = z.string().min(1).max(64).brand<'TicketId'>();

export const effectIdSchema = z
  .string()
  .regex(/^F\d+$/)
  .brand<'EffectId'>();
export type EffectId = z.infer<typeof effectIdSchema>;

export const jobIdSchema = z
  .string()
  .regex(/^J\d+$/)
  .brand<'JobId'>();
export type JobId = z.infer<typeof jobIdSchema>;

const commentSchema = z.object({ id: z.string(), text: z.string(), at: z.string() }).readonly();

export const ticketSchema = z
  .object({
    id: ticketIdSchema,
    title: z.string(),
    body: z.string(),
    service: z.string(),
    team: z.string(),
    status: z.enum(['open', 'closed']),
    version: z.number().int().positive(),
    comments: z.array(commentSchema).readonly(),
  })
  .readonly();
export type Ticket = z.infer<typeof ticketSchema>;

export const ruleSchema = z
  .object({
    id: z.string(),
    service: z.string(),
    team: z.string(),
    text: z.string(),
    version: z.number().int().positive(),
  })
  .readonly();
export type Rule = z.infer<typeof ruleSchema>;

export const teamSchema = z.object({ id: z.string(), name: z.string() }).readonly();
export type Team = z.infer<typeof teamSchema>;

/** What a write asks for, as its caller sent it. */
export const actionSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('reassign'), team: z.string(), reason: z.string().optional() }).readonly(),
  z.object({ kind: z.literal('comment'), text: z.string() }).readonly(),
  z.object({ kind: z.literal('close') }).readonly(),
]);
export type Action = z.infer<typeof actionSchema>;

/** The entity tags of an `If-Match` header; `any` is `*`. */
export const preconditionSchema = z.union([z.literal('any'), z.array(z.string()).readonly()]);
export type Precondition = z.infer<typeof preconditionSchema>;

export const commandSchema = z
  .object({
    ticket: ticketIdSchema,
    action: actionSchema,
    key: z.string().optional(),
    ifMatch: preconditionSchema.optional(),
  })
  .readonly();
export type Command = z.infer<typeof commandSchema>;

/** One thing that really happened to a ticket. A repeated action is a second effect, which is what tests count. */
export const effectSchema = z
  .object({
    id: effectIdSchema,
    key: z.string().nullable(),
    kind: z.enum(['reassign', 'comment', 'close']),
    ticket: ticketIdSchema,
    ticketVersion: z.number().int().positive(),
    at: z.string(),
    args: z.record(z.string(), z.string()),
    job: jobIdSchema.optional(),
  })
  .readonly();
export type Effect = z.infer<typeof effectSchema>;

export const callbackModeSchema = z.object({
  /** `early`: before the 202. `twice`: several at once. `forged`: signed with another secret, and nothing else is sent. */
  when: z.enum(['normal', 'early', 'never', 'forged', 'twice', 'late']),
  /** For `twice`. */
  copies: z.number().int().min(2).max(10).default(2),
  /** For `late`: counted from the event. */
  delayMs: z.number().int().min(0).max(86_400_000).default(1_000),
});
export type CallbackMode = z.infer<typeof callbackModeSchema>;

export const jobEventTypeSchema = z.enum(['job.accepted', 'job.running', 'job.done', 'job.failed']);
export type JobEventType = z.infer<typeof jobEventTypeSchema>;

const jobEventSchema = z
  .object({
    eventId: z.string(),
    type: jobEventTypeSchema,
    sequence: z.number().int().positive(),
    at: z.string(),
    /** Delivered, given up or never to be sent: nothing is owed any more. */
    settled: z.boolean(),
  })
  .readonly();
export type JobEvent = z.infer<typeof jobEventSchema>;

export const jobOutcomeSchema = z.enum(['done', 'failed']);
export type JobOutcome = z.infer<typeof jobOutcomeSchema>;

/** How long a job works; a manual one runs until `/_control/jobs/:id/finish`. */
export const jobPlanSchema = z
  .object({
    run: z.union([z.literal('manual'), z.number().int().min(0).max(86_400_000)]),
    cancellable: z.boolean(),
    outcome: jobOutcomeSchema,
  })
  .readonly();
export type JobPlan = z.infer<typeof jobPlanSchema>;

const jobStatusSchema = z.enum(['accepted', 'running', 'done', 'failed', 'cancelled']);

export const jobSchema = z
  .object({
    id: jobIdSchema,
    status: jobStatusSchema,
    command: commandSchema,
    plan: jobPlanSchema,
    acceptedAt: z.string(),
    settledAt: z.string().optional(),
    effect: effectSchema.optional(),
    failure: z.object({ code: z.string(), detail: z.string() }).readonly().optional(),
    callback: z.object({ url: z.string(), mode: callbackModeSchema.readonly() }).readonly().optional(),
    events: z.array(jobEventSchema).readonly(),
  })
  .readonly();
export type Job = z.infer<typeof jobSchema>;

export const isSettled = (job: Job): boolean => job.status !== 'accepted' && job.status !== 'running';

/** A reply as a value: recorded under an idempotency key, repeated byte for byte. */
export const replySchema = z
  .object({
    status: z.number().int(),
    headers: z.record(z.string(), z.string()),
    body: z.unknown(),
  })
  .readonly();
export type Reply = z.infer<typeof replySchema>;

export const recordedReplySchema = z
  .object({ key: z.string(), fingerprint: z.string(), atMs: z.number(), reply: replySchema })
  .readonly();
export type RecordedReply = z.infer<typeof recordedReplySchema>;

const dayMs = 86_400_000;

const delayMs = z.number().int().min(0).max(dayMs);

export const settingsSchema = z
  .object({
    /** Whether a repeated `Idempotency-Key` is answered with the recorded reply. */
    dedupe: z.boolean(),
    /** How long a key is remembered for that purpose. Look-up has its own memory, which does not end. */
    keyRetentionMs: z
      .number()
      .int()
      .min(0)
      .max(365 * dayMs),
    /** `off` answers 501, `fail` 503, `hang` never answers. */
    lookup: z.enum(['on', 'off', 'fail', 'hang']),
    /** An effect is visible to look-up only this long after it happened. */
    lookupLagMs: delayMs,
    /** How long a job works that was asked for by `Prefer: respond-async`. */
    jobRunMs: delayMs,
    callbackAttempts: z.number().int().min(1).max(20),
    callbackBackoffMs: delayMs,
    callbackTimeoutMs: z.number().int().min(1).max(60_000),
  })
  .strict()
  .readonly();
export type Settings = z.infer<typeof settingsSchema>;

export const DEFAULT_SETTINGS: Settings = {
  dedupe: true,
  keyRetentionMs: dayMs,
  lookup: 'on',
  lookupLagMs: 0,
  jobRunMs: 200,
  callbackAttempts: 5,
  callbackBackoffMs: 200,
  callbackTimeoutMs: 2_000,
};
