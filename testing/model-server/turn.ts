import { z } from 'zod';
import { faultSchema } from './faults/fault';

/** What a scripted model says in one answer. Scripts are code that others write, so what they return is parsed. */
const textSchema = z.strictObject({ type: z.literal('text'), text: z.string() });

const thinkingSchema = z.strictObject({
  type: z.literal('thinking'),
  thinking: z.string(),
  /** Made from the text when absent, and then valid over restarts of the server. */
  signature: z.string().min(1).optional(),
});

const redactedThinkingSchema = z.strictObject({
  type: z.literal('redacted_thinking'),
  data: z.string().min(1).optional(),
});

const toolUseFields = {
  /** `toolu_…` with a counter when absent. */
  id: z.string().min(1).optional(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()).optional(),
  /** Instead of `input`: the raw argument text, well-formed or not. */
  inputJson: z.string().optional(),
};
const toolUseSchema = z.strictObject({ type: z.literal('tool_use'), ...toolUseFields });
const serverToolUseSchema = z.strictObject({ type: z.literal('server_tool_use'), ...toolUseFields });

const usageSchema = z.strictObject({
  inputTokens: z.int().min(0).optional(),
  outputTokens: z.int().min(0).optional(),
  cacheReadTokens: z.int().min(0).optional(),
  cacheCreationTokens: z.int().min(0).optional(),
});

const stopDetailsSchema = z.strictObject({
  type: z.literal('refusal'),
  category: z.string().nullable(),
  explanation: z.string().nullable(),
});

export const turnSchema = z.strictObject({
  blocks: z.array(
    z.discriminatedUnion('type', [
      textSchema,
      thinkingSchema,
      redactedThinkingSchema,
      toolUseSchema,
      serverToolUseSchema,
    ]),
  ),
  /** `tool_use` when there is a tool use, else `end_turn`. Any string: unknown reasons are a case of their own. */
  stopReason: z.string().optional(),
  stopSequence: z.string().optional(),
  stopDetails: stopDetailsSchema.optional(),
  /** Figures that are given replace the estimate. */
  usage: usageSchema.optional(),
  /** Code points per delta. */
  chunkSize: z.int().min(1).optional(),
  chunkDelayMs: z.number().min(0).optional(),
  /** What goes wrong with this answer; a fault rule of the server that matches the request comes first. */
  fault: faultSchema.optional(),
});

export type Turn = z.input<typeof turnSchema>;
export type ParsedTurn = z.output<typeof turnSchema>;
export type TurnBlock = Turn['blocks'][number];
export type TurnUsage = NonNullable<Turn['usage']>;
export type StopDetails = z.infer<typeof stopDetailsSchema>;
