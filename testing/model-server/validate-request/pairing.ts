import { invalidRequest } from '../api-error';
import { blocksOf, type NativeMessage } from '../native-request';

/**
 * Pairing of tool uses with their results. Messages of one role in a row count as one turn, as the provider merges
 * them, with one exception that is stricter on purpose: all results of an assistant turn stand in the one user message
 * right after it, first in its content.
 */
export function checkPairing(messages: readonly NativeMessage[], resultsInCallOrder: boolean): void {
  const seen = new Set<string>();
  let pending: readonly string[] = [];
  messages.forEach((message, index) => {
    if (message.role === 'assistant') {
      const ids = toolUseIds(message);
      assertUnique(ids, seen);
      pending = [...pending, ...ids];
      if (messages[index + 1]?.role !== 'assistant') assertAnswered(pending, messages[index + 1], index);
      return;
    }
    checkResults({ message, index, pending, resultsInCallOrder });
    pending = [];
  });
}

function toolUseIds(message: NativeMessage): readonly string[] {
  return blocksOf(message).flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
}

function assertUnique(ids: readonly string[], seen: Set<string>): void {
  for (const id of ids) {
    if (seen.has(id)) throw invalidRequest('messages: `tool_use` ids must be unique');
    seen.add(id);
  }
}

function assertAnswered(pending: readonly string[], next: NativeMessage | undefined, index: number): void {
  const answered = new Set(next === undefined ? [] : leadingResultIds(next));
  const open = pending.filter((id) => !answered.has(id));
  if (open.length === 0) return;
  throw invalidRequest(
    `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ` +
      `${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  );
}

/** Results after other content are no answer: the provider wants them first. */
function leadingResultIds(message: NativeMessage): readonly string[] {
  const ids: string[] = [];
  for (const block of blocksOf(message)) {
    if (block.type !== 'tool_result') return ids;
    ids.push(block.tool_use_id);
  }
  return ids;
}

interface ResultsCheck {
  readonly message: NativeMessage;
  readonly index: number;
  readonly pending: readonly string[];
  readonly resultsInCallOrder: boolean;
}

function checkResults({ message, index, pending, resultsInCallOrder }: ResultsCheck): void {
  const seen = new Set<string>();
  blocksOf(message).forEach((block, position) => {
    if (block.type !== 'tool_result') return;
    const where = `messages.${index}.content.${position}`;
    if (!pending.includes(block.tool_use_id)) {
      throw invalidRequest(
        `${where}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.tool_use_id}. ` +
          'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
      );
    }
    if (seen.has(block.tool_use_id)) {
      throw invalidRequest(
        `${where}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${block.tool_use_id}`,
      );
    }
    seen.add(block.tool_use_id);
  });
  if (resultsInCallOrder && pending.length > 0) assertCallOrder([...seen], pending, index);
}

function assertCallOrder(results: readonly string[], calls: readonly string[], index: number): void {
  if (results.every((id, position) => id === calls[position])) return;
  throw invalidRequest(
    `messages.${index}: \`tool_result\` blocks must stand in the order of their \`tool_use\` blocks: ` +
      `expected ${calls.join(', ')}, found ${results.join(', ')}`,
  );
}
