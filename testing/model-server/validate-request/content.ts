import { invalidRequest } from '../api-error';
import { blocksOf, type NativeBlock, type NativeRequest } from '../native-request';

const MAX_CACHE_BREAKPOINTS = 4;

/** What may stand in a message at all: roles, non-empty content, non-empty text, blocks on their own side. */
export function checkContent(request: NativeRequest, maxMessages: number): void {
  const { messages } = request;
  if (messages.length === 0) throw invalidRequest('messages: at least one message is required');
  if (messages.length > maxMessages) {
    throw invalidRequest(`messages: at most ${maxMessages} messages are allowed`);
  }
  if (messages[0]?.role !== 'user') throw invalidRequest('messages: first message must use the "user" role');
  messages.forEach((message, index) => {
    const blocks = blocksOf(message);
    const isLast = index === messages.length - 1;
    if (blocks.length === 0 && !(isLast && message.role === 'assistant')) {
      throw invalidRequest(
        `messages.${index}: all messages must have non-empty content except for the optional final assistant message`,
      );
    }
    blocks.forEach((block) => {
      checkSide(block, message.role, index);
    });
    checkTexts(blocks, 'messages');
  });
  if (Array.isArray(request.system)) checkTexts(request.system, 'system');
  checkLastAssistant(request);
  checkCacheBreakpoints(request);
}

const SIDE_BY_BLOCK: Readonly<Partial<Record<NativeBlock['type'], 'user' | 'assistant'>>> = {
  tool_use: 'assistant',
  server_tool_use: 'assistant',
  thinking: 'assistant',
  redacted_thinking: 'assistant',
  tool_result: 'user',
  image: 'user',
  document: 'user',
  search_result: 'user',
};

function checkSide(block: NativeBlock, role: 'user' | 'assistant', index: number): void {
  const side = SIDE_BY_BLOCK[block.type];
  if (side === undefined || side === role) return;
  throw invalidRequest(`messages.${index}: \`${block.type}\` blocks can only be in \`${side}\` messages`);
}

function checkTexts(blocks: readonly NativeBlock[], where: 'messages' | 'system'): void {
  for (const block of blocks) {
    if (block.type === 'text') checkText(block.text, where);
    if (block.type === 'tool_result') checkToolResult(block, where);
  }
}

function checkText(text: string, where: string): void {
  if (text === '') throw invalidRequest(`${where}: text content blocks must be non-empty`);
  if (text.trim() === '') throw invalidRequest(`${where}: text content blocks must contain non-whitespace text`);
}

function checkToolResult(block: Extract<NativeBlock, { type: 'tool_result' }>, where: string): void {
  const { content } = block;
  if (block.is_error === true && (content === undefined || content.length === 0)) {
    throw invalidRequest(`${where}: tool_result: content cannot be empty if \`is_error\` is true`);
  }
  if (!Array.isArray(content)) return;
  for (const part of content) {
    if (part.type === 'text') checkText(part.text, where);
  }
}

/** A final assistant message is a prefill or a paused turn that goes on; the model continues right after its text. */
function checkLastAssistant(request: NativeRequest): void {
  const last = request.messages.at(-1);
  if (last?.role !== 'assistant') return;
  const block = blocksOf(last).at(-1);
  if (block?.type === 'text' && block.text.trimEnd() !== block.text) {
    throw invalidRequest('messages: final assistant content cannot end with trailing whitespace');
  }
}

function checkCacheBreakpoints(request: NativeRequest): void {
  const system = Array.isArray(request.system) ? request.system : [];
  const marked = [...system, ...(request.tools ?? []), ...request.messages.flatMap(blocksOf)].filter(
    (part) => 'cache_control' in part && part.cache_control !== undefined && part.cache_control !== null,
  );
  if (marked.length <= MAX_CACHE_BREAKPOINTS) return;
  throw invalidRequest(
    `A maximum of ${MAX_CACHE_BREAKPOINTS} blocks with cache_control may be provided. Found ${marked.length}.`,
  );
}
