import { z } from 'zod';

/** A place in the answer's stream of events. */
export const streamPointSchema = z.union([
  /** After so many events (pings not counted); 0 is before the first. */
  z.strictObject({ afterEvents: z.int().min(0) }),
  z.strictObject({
    point: z.enum([
      /** The block has begun, with its name, and nothing of its content has come. */
      'after-block-start',
      /** Half of the block's deltas have come. */
      'mid-block',
      /** All of the block's content has come, its end has not. */
      'before-block-stop',
      'before-message-delta',
      'before-message-stop',
    ]),
    /** Index of the block; by default the last tool use, else the last block. */
    block: z.int().min(0).optional(),
  }),
]);

export type StreamPoint = z.infer<typeof streamPointSchema>;

const STATUSES = [400, 401, 402, 403, 404, 408, 409, 413, 429, 500, 502, 503, 504, 529] as const;

/** Faults instead of an answer: the script is not asked, nothing is billed. */
const refusingFaults = [
  z.strictObject({
    kind: z.literal('status'),
    status: z.literal(STATUSES),
    /** `retry-after` verbatim: seconds, an HTTP date, or nonsense. */
    retryAfter: z.string().optional(),
    /** `retry-after-ms` verbatim. */
    retryAfterMs: z.string().optional(),
    errorType: z.string().optional(),
    message: z.string().optional(),
  }),
  /** The request is read and never answered. */
  z.strictObject({ kind: z.literal('hang-before-headers') }),
] as const;

/** Faults in how an answer travels. Without streaming they happen to its body. */
const deliveryFaults = [
  z.strictObject({
    kind: z.literal('error-mid-stream'),
    at: streamPointSchema,
    errorType: z.string().default('overloaded_error'),
    message: z.string().default('Overloaded'),
  }),
  /** The connection is destroyed. */
  z.strictObject({ kind: z.literal('cut'), at: streamPointSchema, midEvent: z.boolean().default(false) }),
  /** The answer ends in good order before it is complete. */
  z.strictObject({ kind: z.literal('clean-eof'), at: streamPointSchema }),
  /** Nothing comes any more, or pings alone, until the client leaves. */
  z.strictObject({
    kind: z.literal('stall'),
    at: streamPointSchema.default({ afterEvents: 1 }),
    pingEveryMs: z.number().min(1).optional(),
  }),
  z.strictObject({ kind: z.literal('slow'), delayMsPerEvent: z.number().min(0) }),
] as const;

/** Faults in what the model says: the answer arrives in full. */
const contentFaults = [
  /** The last block is cut in the middle, `stop_reason` is `max_tokens`. `keepChars` of its text stay, by default half. */
  z.strictObject({ kind: z.literal('max-tokens'), keepChars: z.int().min(0).optional() }),
  z.strictObject({
    kind: z.literal('refusal'),
    category: z.string().nullable().default(null),
    explanation: z.string().nullable().default(null),
    /** Whether what was said before the refusal stays. */
    keepContent: z.boolean().default(false),
  }),
  z.strictObject({ kind: z.literal('pause-turn') }),
  z.strictObject({ kind: z.literal('stop-reason'), stopReason: z.string() }),
  z.strictObject({ kind: z.literal('empty-content') }),
  /** The arguments of the last tool use are no JSON. */
  z.strictObject({ kind: z.literal('malformed-arguments'), inputJson: z.string().optional() }),
  /** Which usage figures come where; what is billed stays the same. */
  z.strictObject({
    kind: z.literal('usage'),
    variant: z.enum(['cache-in-start', 'cache-in-delta', 'cache-larger-in-delta', 'output-grows', 'none']),
  }),
] as const;

export const faultSchema = z.discriminatedUnion('kind', [...refusingFaults, ...deliveryFaults, ...contentFaults]);

export type Fault = z.output<typeof faultSchema>;
export type FaultInput = z.input<typeof faultSchema>;
export type FaultOfKind<Kind extends Fault['kind']> = Extract<Fault, { kind: Kind }>;
export type UsageVariant = FaultOfKind<'usage'>['variant'];

/** When a fault strikes. All conditions that are given must hold. */
export const faultRuleSchema = z.strictObject({
  fault: faultSchema,
  /** From this request on, counted from 1 since the start or the last reset. */
  fromRequest: z.int().min(1).optional(),
  /** The system prompt or a message contains this. */
  textIncludes: z.string().min(1).optional(),
  /** How often; once by default. */
  times: z.union([z.int().min(1), z.literal('always')]).default(1),
});

export type FaultRule = z.output<typeof faultRuleSchema>;
export type FaultRuleInput = z.input<typeof faultRuleSchema>;
