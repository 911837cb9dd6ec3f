import { createHmac } from 'node:crypto';
import type { NativeBlock, NativeThinking } from './native-request';

/** Public on purpose: it proves that a block was not altered, not that somebody may have it. */
const SIGNING_KEY = 'holdfast offline model server';
/** Of each kind; the oldest are forgotten first. */
const MAX_REMEMBERED = 20_000;

export type ThinkingVerdict = 'as sent' | 'altered' | 'never sent';

/**
 * What the server has sent, as far as later requests are held to it. Signatures and data that it made itself prove
 * themselves, so they also hold after a restart; those that a script chose are remembered. Scripts may send one id or
 * one signature in several conversations, hence the sets.
 */
export class SentBlocks {
  readonly #thinkingBySignature = new Map<string, Set<string>>();
  readonly #redactedData = new Map<string, Set<string>>();
  readonly #orderByToolUse = new Map<string, Set<string>>();

  remember(blocks: readonly NativeBlock[]): void {
    const order = opaqueOrder(blocks);
    for (const block of blocks) {
      if (block.type === 'thinking') keep(this.#thinkingBySignature, block.signature, block.thinking);
      if (block.type === 'redacted_thinking') keep(this.#redactedData, block.data, block.data);
      if (block.type === 'tool_use') keep(this.#orderByToolUse, block.id, order);
    }
  }

  judge(block: NativeThinking): ThinkingVerdict {
    if (block.type === 'redacted_thinking') {
      return this.#redactedData.has(block.data) || isOwnRedactedData(block.data) ? 'as sent' : 'never sent';
    }
    const sent = this.#thinkingBySignature.get(block.signature);
    if (sent?.has(block.thinking) === true || signThinking(block.thinking) === block.signature) return 'as sent';
    return sent !== undefined || block.signature.startsWith(SIGNATURE_PREFIX) ? 'altered' : 'never sent';
  }

  /** How the thinking of the turn with these tool uses compares to the turn that was sent: all of it, in its place. */
  judgeTurn(blocks: readonly NativeBlock[]): 'as sent' | 'thinking missing' | 'altered' {
    const toolUse = blocks.find((block) => block.type === 'tool_use');
    const sent = toolUse === undefined ? undefined : this.#orderByToolUse.get(toolUse.id);
    if (sent === undefined || [...sent].some((order) => order === NO_THINKING || order === opaqueOrder(blocks))) {
      return 'as sent';
    }
    return opaqueOrder(blocks) === NO_THINKING ? 'thinking missing' : 'altered';
  }

  clear(): void {
    this.#thinkingBySignature.clear();
    this.#redactedData.clear();
    this.#orderByToolUse.clear();
  }
}

function keep(memory: Map<string, Set<string>>, key: string, value: string): void {
  const values = memory.get(key) ?? new Set();
  memory.set(key, values.add(value));
  const oldest = memory.keys().next();
  if (memory.size > MAX_REMEMBERED && oldest.done !== true) memory.delete(oldest.value);
}

const NO_THINKING = '';

/** The thinking of a message and where it stands between the tool uses; the same string for a message without any. */
function opaqueOrder(blocks: readonly NativeBlock[]): string {
  const order = blocks.flatMap((block) => {
    if (block.type === 'thinking') return [`thinking ${block.signature}`];
    if (block.type === 'redacted_thinking') return [`redacted ${block.data}`];
    return block.type === 'tool_use' ? [`tool_use ${block.id}`] : [];
  });
  return order.every((entry) => entry.startsWith('tool_use ')) ? NO_THINKING : order.join('\n');
}

const SIGNATURE_PREFIX = 'EsHF';
const REDACTED_PREFIX = 'EmHF';

/** Signature of thinking for which the script gives none. */
export function signThinking(thinking: string): string {
  return SIGNATURE_PREFIX + mac(`thinking:${thinking}`);
}

/** Data of a redacted block for which the script gives none; `label` keeps two of them apart. */
export function redactedDataFor(label: string): string {
  const body = Buffer.from(label, 'utf8').toString('base64');
  return `${REDACTED_PREFIX}${body}.${mac(`redacted:${body}`)}`;
}

function isOwnRedactedData(data: string): boolean {
  if (!data.startsWith(REDACTED_PREFIX)) return false;
  const [body, signature] = data.slice(REDACTED_PREFIX.length).split('.');
  return body !== undefined && signature === mac(`redacted:${body}`);
}

function mac(text: string): string {
  return createHmac('sha256', SIGNING_KEY).update(text, 'utf8').digest('base64');
}
