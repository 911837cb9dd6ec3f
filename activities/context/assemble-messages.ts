/**
 * The messages of a request: the task, the additions in their order, and the status at the very end of the last user
 * message, so that everything before it reads the same in every later request. Pure.
 */
import type Anthropic from '@anthropic-ai/sdk';
import { formOf, type Chain } from './chain';
import { fence } from './fence';
import { toolUseIdsOf, toUnsent, type Rendition } from './render-addition';

type Block = Anthropic.ContentBlockParam;
interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: Block[];
}

export interface MessageParts {
  readonly task: Block;
  readonly chain: Pick<Chain, 'items' | 'leftOut'>;
  /** Memory, where there is any, and the status. */
  readonly tail: readonly Block[];
}

export const assembleMessages = ({ task, chain, tail }: MessageParts): Anthropic.MessageParam[] => {
  const turns: Turn[] = [{ role: 'user', content: [task, ...leftOutNote(chain.leftOut)] }];
  const used = new Set<string>();
  let isPaused = false;
  for (const rendition of chain.items.map(formOf)) {
    const { assistant, user, isPaused: pauses } = withUniqueIds(rendition, used);
    if (assistant.length > 0) turns.push({ role: 'assistant', content: [...assistant] });
    if (user.length > 0) addToUser(turns, user);
    isPaused = pauses && user.length === 0;
  }
  placeTail(turns, tail, isPaused);
  return turns.map(({ role, content }) => ({ role, content }));
};

const leftOutNote = (count: number): readonly Block[] =>
  count === 0 ? [] : [{ type: 'text', text: fence('left_out', { exchanges: count, note: LEFT_OUT }) }];

const LEFT_OUT = 'earlier exchanges are no longer shown; what they confirmed is in the facts of the status';

const withUniqueIds = (rendition: Rendition, used: Set<string>): Rendition => {
  const ids = toolUseIdsOf(rendition.assistant);
  if (ids.some((id) => used.has(id))) return toUnsent(rendition);
  for (const id of ids) used.add(id);
  return rendition;
};

/** User turns in a row are one: the provider sees them so anyway. */
const addToUser = (turns: Turn[], blocks: readonly Block[]): void => {
  const last = turns.at(-1);
  if (last?.role === 'user') last.content.push(...blocks);
  else turns.push({ role: 'user', content: [...blocks] });
};

/** A paused turn goes on where it ends, so nothing may come after it; the status stands before it. */
const placeTail = (turns: Turn[], tail: readonly Block[], isPaused: boolean): void => {
  const last = turns.at(-1);
  if (isPaused && last?.role === 'assistant' && canGoOn(last.content.at(-1))) {
    turns.findLast(({ role }) => role === 'user')?.content.push(...tail);
  } else {
    addToUser(turns, tail);
  }
};

/** A provider refuses to go on after white space. */
const canGoOn = (block: Block | undefined): boolean =>
  block !== undefined && (block.type !== 'text' || block.text.trimEnd() === block.text);
