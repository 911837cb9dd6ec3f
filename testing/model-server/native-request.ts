import { z } from 'zod';

/**
 * The Messages API request, block by block. Known fields are listed and others refused, as the provider does: a client
 * that sends back its own bookkeeping inside a block must notice it here.
 */
const cacheControlSchema = z
  .strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() })
  .nullable()
  .optional();

const textBlockSchema = z.strictObject({
  type: z.literal('text'),
  text: z.string(),
  cache_control: cacheControlSchema,
  citations: z.array(z.unknown()).nullable().optional(),
});

const mediaSourceSchema = z.looseObject({ type: z.enum(['base64', 'url', 'file', 'text', 'content']) });

const imageBlockSchema = z.strictObject({
  type: z.literal('image'),
  source: mediaSourceSchema,
  cache_control: cacheControlSchema,
});

const documentBlockSchema = z.strictObject({
  type: z.literal('document'),
  source: mediaSourceSchema,
  title: z.string().nullable().optional(),
  context: z.string().nullable().optional(),
  citations: z.unknown().optional(),
  cache_control: cacheControlSchema,
});

const searchResultBlockSchema = z.strictObject({
  type: z.literal('search_result'),
  source: z.string(),
  title: z.string(),
  content: z.array(textBlockSchema),
  citations: z.unknown().optional(),
  cache_control: cacheControlSchema,
});

const thinkingBlockSchema = z.strictObject({
  type: z.literal('thinking'),
  thinking: z.string(),
  signature: z.string(),
});

const redactedThinkingBlockSchema = z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() });

const toolUseFields = {
  id: z.string().regex(/^[a-zA-Z0-9_-]+$/),
  name: z.string().min(1).max(200),
  input: z.record(z.string(), z.unknown()),
  cache_control: cacheControlSchema,
  caller: z.looseObject({ type: z.string() }).optional(),
  toolset_name: z.string().nullable().optional(),
};
const toolUseBlockSchema = z.strictObject({ type: z.literal('tool_use'), ...toolUseFields });
const serverToolUseBlockSchema = z.strictObject({ type: z.literal('server_tool_use'), ...toolUseFields });

const resultContentSchema = z.discriminatedUnion('type', [
  textBlockSchema,
  imageBlockSchema,
  documentBlockSchema,
  searchResultBlockSchema,
]);

const toolResultBlockSchema = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string().regex(/^[a-zA-Z0-9_-]+$/),
  content: z.union([z.string(), z.array(resultContentSchema)]).optional(),
  is_error: z.boolean().optional(),
  cache_control: cacheControlSchema,
  toolset_name: z.string().nullable().optional(),
});

const contentBlockSchema = z.discriminatedUnion('type', [
  textBlockSchema,
  imageBlockSchema,
  documentBlockSchema,
  searchResultBlockSchema,
  thinkingBlockSchema,
  redactedThinkingBlockSchema,
  toolUseBlockSchema,
  serverToolUseBlockSchema,
  toolResultBlockSchema,
]);

const messageSchema = z.strictObject({
  role: z.enum(['user', 'assistant']),
  content: z.union([z.string(), z.array(contentBlockSchema)]),
});

/** A client tool. Its schema is judged by `tool-schema.ts`, since the provider's words for it are its own. */
const customToolSchema = z.strictObject({
  type: z.literal('custom').nullable().optional(),
  name: z.string(),
  description: z.string().optional(),
  input_schema: z.record(z.string(), z.unknown()),
  strict: z.boolean().optional(),
  cache_control: cacheControlSchema,
  input_examples: z.array(z.record(z.string(), z.unknown())).optional(),
  defer_loading: z.boolean().optional(),
  eager_input_streaming: z.boolean().nullable().optional(),
  allowed_callers: z.array(z.string()).optional(),
});

const toolChoiceSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('auto'), disable_parallel_tool_use: z.boolean().optional() }),
  z.strictObject({ type: z.literal('any'), disable_parallel_tool_use: z.boolean().optional() }),
  z.strictObject({
    type: z.literal('tool'),
    name: z.string(),
    disable_parallel_tool_use: z.boolean().optional(),
  }),
  z.strictObject({ type: z.literal('none') }),
]);

const thinkingConfigSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('enabled'),
    budget_tokens: z.int().min(1024),
    display: z.enum(['summarized', 'omitted']).nullable().optional(),
  }),
  z.strictObject({ type: z.literal('adaptive'), display: z.enum(['summarized', 'omitted']).nullable().optional() }),
  z.strictObject({ type: z.literal('between_tools') }),
  z.strictObject({ type: z.literal('disabled') }),
]);

/** Sampling parameters are absent: this API version refuses them as extra inputs. */
export const nativeRequestSchema = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.int().min(1),
  messages: z.array(messageSchema),
  system: z.union([z.string(), z.array(textBlockSchema)]).optional(),
  tools: z.array(customToolSchema).optional(),
  tool_choice: toolChoiceSchema.optional(),
  thinking: thinkingConfigSchema.optional(),
  stream: z.boolean().optional(),
  stop_sequences: z.array(z.string()).optional(),
  metadata: z.strictObject({ user_id: z.string().nullable().optional() }).optional(),
  output_config: z.looseObject({}).optional(),
  cache_control: cacheControlSchema,
  service_tier: z.enum(['auto', 'standard_only']).optional(),
  speed: z.enum(['standard', 'fast']).nullable().optional(),
  inference_geo: z.string().nullable().optional(),
  container: z.unknown().optional(),
  diagnostics: z.unknown().optional(),
});

export type NativeRequest = z.infer<typeof nativeRequestSchema>;
export type NativeMessage = NativeRequest['messages'][number];
export type NativeBlock = z.infer<typeof contentBlockSchema>;
export type NativeTool = z.infer<typeof customToolSchema>;
export type NativeToolResult = z.infer<typeof toolResultBlockSchema>;
export type NativeThinking = z.infer<typeof thinkingBlockSchema> | z.infer<typeof redactedThinkingBlockSchema>;

/** The blocks of a message; a string is shorthand for one text block, an empty string for none. */
export function blocksOf(message: NativeMessage): readonly NativeBlock[] {
  if (typeof message.content !== 'string') return message.content;
  return message.content === '' ? [] : [{ type: 'text', text: message.content }];
}
