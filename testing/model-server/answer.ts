import type { UsageVariant } from './faults/fault';
import type { Ids } from './ids';
import { blocksOf, type NativeBlock, type NativeRequest } from './native-request';
import { redactedDataFor, signThinking } from './sent-blocks';
import { bytesOfText, bytesOfTokens, tokensOfBytes } from './tokens';
import type { ParsedTurn, StopDetails, TurnUsage } from './turn';

/** A block as it will be sent: ids, signatures and argument text are settled. */
export type AnswerBlock =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly text: string }
  | {
      readonly type: 'tool_use' | 'server_tool_use';
      readonly id: string;
      readonly name: string;
      readonly text: string;
    };

export interface UsageFigures {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheCreationTokens: number;
}

/** One answer of the model, before it is known how it will be delivered. */
export interface Answer {
  readonly id: string;
  readonly model: string;
  readonly blocks: readonly AnswerBlock[];
  readonly stopReason: string;
  readonly stopSequence: string | null;
  readonly stopDetails: StopDetails | null;
  readonly usage: UsageFigures;
  readonly usageVariant: UsageVariant | 'cache-in-both';
  readonly chunkSize: number | undefined;
  readonly chunkDelayMs: number;
}

export interface AnswerInput {
  readonly turn: ParsedTurn;
  readonly request: NativeRequest;
  readonly inputTokens: number;
  readonly ids: Ids;
}

/** Turn → answer. What exceeds the request's `max_tokens` (by the estimate) is cut off, as the provider does. */
export function toAnswer({ turn, request, inputTokens, ids }: AnswerInput): Answer {
  const id = ids.next('msg');
  const taken = new Set(request.messages.flatMap(blocksOf).flatMap((block) => ('id' in block ? [block.id] : [])));
  const whole = turn.blocks.map((block, index) => toAnswerBlock(block, { ids, taken, label: `${id}/${index}` }));
  const blocks = cutToBytes(whole, bytesOfTokens(request.max_tokens));
  const isCut = blocks !== whole;
  const usesTool = blocks.some((block) => block.type === 'tool_use');
  return {
    id,
    model: request.model,
    blocks,
    stopReason: isCut ? 'max_tokens' : (turn.stopReason ?? (usesTool ? 'tool_use' : 'end_turn')),
    stopSequence: isCut ? null : (turn.stopSequence ?? null),
    stopDetails: turn.stopDetails ?? null,
    usage: toFigures(turn.usage ?? {}, inputTokens, blocks),
    usageVariant: 'cache-in-both',
    chunkSize: turn.chunkSize,
    chunkDelayMs: turn.chunkDelayMs ?? 0,
  };
}

interface BlockContext {
  readonly ids: Ids;
  readonly taken: ReadonlySet<string>;
  readonly label: string;
}

function toAnswerBlock(block: ParsedTurn['blocks'][number], context: BlockContext): AnswerBlock {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'thinking':
      return { type: 'thinking', text: block.thinking, signature: block.signature ?? signThinking(block.thinking) };
    case 'redacted_thinking':
      return { type: 'redacted_thinking', text: block.data ?? redactedDataFor(context.label) };
    case 'tool_use':
    case 'server_tool_use': {
      const prefix = block.type === 'tool_use' ? 'toolu' : 'srvtoolu';
      const id = block.id ?? context.ids.next(prefix, context.taken);
      return { type: block.type, id, name: block.name, text: block.inputJson ?? JSON.stringify(block.input ?? {}) };
    }
  }
}

function toFigures(given: TurnUsage, inputTokens: number, blocks: readonly AnswerBlock[]): UsageFigures {
  return {
    inputTokens: given.inputTokens ?? inputTokens,
    outputTokens: given.outputTokens ?? Math.max(1, tokensOfBytes(bytesOfBlocks(blocks))),
    cacheReadTokens: given.cacheReadTokens ?? 0,
    cacheCreationTokens: given.cacheCreationTokens ?? 0,
  };
}

export function bytesOfBlocks(blocks: readonly AnswerBlock[]): number {
  return blocks.reduce((sum, block) => sum + bytesOfText(block.text), 0);
}

/** The same array when it fits; else the blocks up to the limit, the last one cut between two characters. */
function cutToBytes(blocks: readonly AnswerBlock[], limitBytes: number): readonly AnswerBlock[] {
  if (bytesOfBlocks(blocks) <= limitBytes) return blocks;
  const kept: AnswerBlock[] = [];
  let leftBytes = limitBytes;
  for (const block of blocks) {
    const text = prefixOfBytes(block.text, leftBytes);
    if (text !== '') kept.push({ ...block, text });
    if (text !== block.text) break;
    leftBytes -= bytesOfText(text);
  }
  return kept;
}

function prefixOfBytes(text: string, limitBytes: number): string {
  let used = 0;
  let length = 0;
  for (const character of text) {
    used += bytesOfText(character);
    if (used > limitBytes) break;
    length += character.length;
  }
  return text.slice(0, length);
}

/** The answer's blocks as the next request must bring them back. */
export function toNativeBlocks(blocks: readonly AnswerBlock[]): readonly NativeBlock[] {
  return blocks.flatMap((block): NativeBlock[] => {
    switch (block.type) {
      case 'text':
        return [{ type: 'text', text: block.text }];
      case 'thinking':
        return [{ type: 'thinking', thinking: block.text, signature: block.signature }];
      case 'redacted_thinking':
        return [{ type: 'redacted_thinking', data: block.text }];
      case 'tool_use':
        return [{ type: 'tool_use', id: block.id, name: block.name, input: {} }];
      case 'server_tool_use':
        return [];
    }
  });
}
