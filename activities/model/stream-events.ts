/**
 * The provider's stream events in the shapes that an attempt relies on. What arrives is checked, not believed: a gateway
 * in between may send anything. Events and deltas of kinds that came later than this code are left alone.
 */
import { z } from 'zod';

const index = z.int().nonnegative();
/** Figures are read one by one: whatever is no count is a figure that did not come. */
const figure = z.int().nonnegative().optional().catch(undefined);

const usage = z
  .object({
    input_tokens: figure,
    output_tokens: figure,
    cache_read_input_tokens: figure,
    cache_creation_input_tokens: figure,
  })
  .catch({});

const block = z.object({ type: z.string() }).catchall(z.json());

const delta = z.union([
  z.object({ type: z.literal('text_delta'), text: z.string() }),
  z.object({ type: z.literal('input_json_delta'), partial_json: z.string() }),
  z.object({ type: z.literal('thinking_delta'), thinking: z.string() }),
  z.object({ type: z.literal('signature_delta'), signature: z.string() }),
  z.object({ type: z.literal('citations_delta'), citation: z.json() }),
  z.object({ type: z.string() }).transform(() => ({ type: 'unknown' as const })),
]);

const eventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('message_start'),
    message: z.object({ id: z.string().optional(), model: z.string().optional(), usage }),
  }),
  z.object({ type: z.literal('content_block_start'), index, content_block: block }),
  z.object({ type: z.literal('content_block_delta'), index, delta }),
  z.object({ type: z.literal('content_block_stop'), index }),
  z.object({
    type: z.literal('message_delta'),
    delta: z.object({ stop_reason: z.string().nullish() }),
    usage,
  }),
  z.object({ type: z.literal('message_stop') }),
]);

export type StreamEvent = z.output<typeof eventSchema>;
export type StreamDelta = Extract<StreamEvent, { type: 'content_block_delta' }>['delta'];
export type StreamFigures = z.output<typeof usage>;

const KNOWN: ReadonlySet<unknown> = new Set(eventSchema.options.map((option) => option.shape.type.value));

/** The events do not make a message: an order or a shape that the provider's protocol does not have. */
export class MalformedStream extends Error {
  override readonly name = 'MalformedStream';
}

/** Undefined for an event of a kind that means nothing here; throws MalformedStream. */
export const parseStreamEvent = (value: unknown): StreamEvent | undefined => {
  const type = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined;
  if (typeof type !== 'string') throw new MalformedStream('an event without a type');
  if (!KNOWN.has(type)) return undefined;
  const parsed = eventSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new MalformedStream(`${type}.${issue?.path.map(String).join('.') ?? ''}: ${issue?.message ?? 'another shape'}`);
};
