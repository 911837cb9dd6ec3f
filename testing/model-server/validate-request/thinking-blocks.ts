import { invalidRequest, type ApiError } from '../api-error';
import { blocksOf, type NativeBlock, type NativeMessage } from '../native-request';
import type { SentBlocks } from '../sent-blocks';

/**
 * Thinking comes back exactly as it was sent. In older turns it may be left out whole; in the latest assistant turn, if
 * that turn used tools, it must be there, unaltered and in its place.
 */
export function checkThinkingBlocks(messages: readonly NativeMessage[], sent: SentBlocks): void {
  const latest = latestAssistantTurn(messages);
  messages.forEach((message, index) => {
    if (message.role !== 'assistant') return;
    blocksOf(message).forEach((block, position) => {
      if (block.type !== 'thinking' && block.type !== 'redacted_thinking') return;
      const verdict = sent.judge(block);
      if (verdict === 'as sent') return;
      const where = `messages.${index}.content.${position}`;
      throw verdict === 'altered' && latest.indexes.has(index) ? modified(where) : invalidBlock(where, block.type);
    });
  });
  checkLatestTurn(latest, sent);
}

interface AssistantTurn {
  readonly indexes: ReadonlySet<number>;
  readonly firstIndex: number;
  readonly blocks: readonly NativeBlock[];
}

/** Assistant messages in a row are one turn. */
function latestAssistantTurn(messages: readonly NativeMessage[]): AssistantTurn {
  const last = messages.map((message) => message.role).lastIndexOf('assistant');
  let first = last;
  while (first > 0 && messages[first - 1]?.role === 'assistant') first -= 1;
  const turn = last === -1 ? [] : messages.slice(first, last + 1);
  return {
    indexes: new Set(turn.map((_, offset) => first + offset)),
    firstIndex: first,
    blocks: turn.flatMap(blocksOf),
  };
}

function checkLatestTurn(latest: AssistantTurn, sent: SentBlocks): void {
  const where = `messages.${latest.firstIndex}`;
  const verdict = sent.judgeTurn(latest.blocks);
  if (verdict === 'altered') throw modified(`${where}.content.0`);
  if (verdict === 'thinking missing') {
    throw invalidRequest(
      `${where}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found ` +
        `\`${latest.blocks[0]?.type ?? 'nothing'}\`. When \`thinking\` is enabled, a final \`assistant\` message must start ` +
        'with a thinking block (preceding the lastmost set of `tool_use` and `tool_result` blocks).',
    );
  }
  const last = latest.blocks.at(-1)?.type;
  if (last === 'thinking' || last === 'redacted_thinking') {
    throw invalidRequest(`${where}: The final block in an assistant message cannot be \`thinking\`.`);
  }
}

function modified(where: string): ApiError {
  return invalidRequest(
    `${where}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. ` +
      'These blocks must remain as they were in the original response.',
  );
}

function invalidBlock(where: string, type: 'thinking' | 'redacted_thinking'): ApiError {
  const field = type === 'thinking' ? 'signature' : 'data';
  return invalidRequest(`${where}: Invalid \`${field}\` in \`${type}\` block`);
}
