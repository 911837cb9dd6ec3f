/**
 * Puts a message together from its stream events.
 *
 *   1. Every block begins, grows and ends in its place; a message has ended when each of its blocks has, its stop reason
 *      is known and `message_stop` has come. Anything else is no message, whatever it looks like.
 *   2. Arguments are kept as the text that came. The SDK's own helper parses them while they arrive and fails at the
 *      first malformed one, losing stop reason and usage of a message that was paid for.
 *   3. Figures are cumulative: the last that came for a field is the one that counts.
 */
import type { Json, JsonObject } from '../../workflows/contract/json';
import { MalformedStream, type StreamDelta, type StreamEvent, type StreamFigures } from './stream-events';

/** A block as far as it has come. */
export interface ReceivedBlock {
  /** What its start said, everything that grows left empty. */
  readonly start: JsonObject & { readonly type: string };
  readonly text: string;
  readonly thinking: string;
  readonly signature: string;
  /** Arguments as they were written. */
  readonly inputJson: string;
  readonly citations: readonly Json[];
  readonly isEnded: boolean;
  /** It grew in a way that this release does not know, so it cannot be said again. */
  readonly isUnknown: boolean;
}

export interface ReceivedMessage {
  readonly hasStarted: boolean;
  readonly hasEnded: boolean;
  readonly id?: string;
  readonly model?: string;
  readonly stopReason?: string;
  readonly blocks: readonly ReceivedBlock[];
  readonly figures: Figures;
  /** Of all content that came, for an estimate of its tokens. */
  readonly contentBytes: number;
}

/** Undefined where no figure came. */
export interface Figures {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cacheReadTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
  /** Before the end, output is what had been counted when the stream began. */
  readonly isOutputFinal: boolean;
}

export class MessageBuilder {
  #message: ReceivedMessage = {
    hasStarted: false,
    hasEnded: false,
    blocks: [],
    figures: { isOutputFinal: false },
    contentBytes: 0,
  };
  readonly #blocks: ReceivedBlock[] = [];

  get message(): ReceivedMessage {
    return { ...this.#message, blocks: [...this.#blocks] };
  }

  hasEnded(): boolean {
    return this.#message.hasEnded;
  }

  /** Throws MalformedStream. */
  add(event: StreamEvent): void {
    const { hasStarted, hasEnded } = this.#message;
    if (hasEnded) throw new MalformedStream(`${event.type} after the end`);
    if ((event.type === 'message_start') === hasStarted) throw new MalformedStream(`${event.type} out of order`);
    switch (event.type) {
      case 'message_start':
        this.#start(event);
        return;
      case 'content_block_start':
        this.#startBlock(event);
        return;
      case 'content_block_delta':
        this.#replaceBlock(event.index, (block) => grow(block, event.delta));
        this.#change({ contentBytes: this.#message.contentBytes + bytesOf(event.delta) });
        return;
      case 'content_block_stop':
        this.#replaceBlock(event.index, (block) => ({ ...block, isEnded: true }));
        return;
      case 'message_delta':
        this.#delta(event);
        return;
      case 'message_stop':
        this.#stop();
    }
  }

  #change(changes: Partial<ReceivedMessage>): void {
    this.#message = { ...this.#message, ...changes };
  }

  #start({ message }: Extract<StreamEvent, { type: 'message_start' }>): void {
    this.#change({
      hasStarted: true,
      ...(message.id === undefined ? {} : { id: message.id }),
      ...(message.model === undefined ? {} : { model: message.model }),
      figures: merge(this.#message.figures, message.usage),
    });
  }

  #startBlock(event: Extract<StreamEvent, { type: 'content_block_start' }>): void {
    if (event.index !== this.#blocks.length) throw new MalformedStream(`block ${event.index} out of order`);
    this.#blocks.push({
      start: event.content_block,
      text: '',
      thinking: '',
      signature: '',
      inputJson: '',
      citations: [],
      isEnded: false,
      isUnknown: false,
    });
  }

  #replaceBlock(index: number, change: (block: ReceivedBlock) => ReceivedBlock): void {
    const block = this.#blocks[index];
    if (block === undefined || block.isEnded) throw new MalformedStream(`block ${index} is not open`);
    this.#blocks[index] = change(block);
  }

  #delta({ delta, usage }: Extract<StreamEvent, { type: 'message_delta' }>): void {
    const figures = merge(this.#message.figures, usage);
    const stopReason = delta.stop_reason ?? undefined;
    const isOutputFinal = stopReason !== undefined && usage.output_tokens !== undefined;
    this.#change({
      ...(stopReason === undefined ? {} : { stopReason }),
      figures: { ...figures, isOutputFinal: figures.isOutputFinal || isOutputFinal },
    });
  }

  #stop(): void {
    if (this.#blocks.some((block) => !block.isEnded)) throw new MalformedStream('message_stop inside a block');
    if (this.#message.stopReason === undefined) throw new MalformedStream('message_stop without a stop reason');
    this.#change({ hasEnded: true });
  }
}

const merge = (known: Figures, latest: StreamFigures): Figures => ({
  inputTokens: latest.input_tokens ?? known.inputTokens,
  outputTokens: latest.output_tokens ?? known.outputTokens,
  cacheReadTokens: latest.cache_read_input_tokens ?? known.cacheReadTokens,
  cacheWriteTokens: latest.cache_creation_input_tokens ?? known.cacheWriteTokens,
  isOutputFinal: known.isOutputFinal,
});

const grow = (block: ReceivedBlock, delta: StreamDelta): ReceivedBlock => {
  switch (delta.type) {
    case 'text_delta':
      return { ...block, text: block.text + delta.text };
    case 'thinking_delta':
      return { ...block, thinking: block.thinking + delta.thinking };
    case 'signature_delta':
      // One event brings all of it.
      return { ...block, signature: delta.signature };
    case 'input_json_delta':
      return { ...block, inputJson: block.inputJson + delta.partial_json };
    case 'citations_delta':
      return { ...block, citations: [...block.citations, delta.citation] };
    case 'unknown':
      return { ...block, isUnknown: true };
  }
};

const bytesOf = (delta: StreamDelta): number => {
  switch (delta.type) {
    case 'text_delta':
      return Buffer.byteLength(delta.text);
    case 'thinking_delta':
      return Buffer.byteLength(delta.thinking);
    case 'input_json_delta':
      return Buffer.byteLength(delta.partial_json);
    default:
      return 0;
  }
};
