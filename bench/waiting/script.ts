/** The model of agents that wait: it proposes the one write, then it finishes. Other goals are those of the suite `core`. */
import { text, toolUse, turn, type Script } from '../../testing';
import { script as readingScript, textOf } from '../core/script';

const TOOLS = ['store_item', 'store_later'] as const;
export type WaitingTool = (typeof TOOLS)[number];

export const goalOf = (tool: WaitingTool): string => `Store the item. tool=${tool}`;

export const script: Script = (request, ...rest) => {
  const conversation = textOf(request);
  const tool = TOOLS.find((each) => conversation.includes(goalOf(each)));
  if (tool === undefined) return readingScript(request, ...rest);
  const step = Number(/"step":\s*(\d+)/.exec(conversation.slice(conversation.lastIndexOf('<status>')))?.[1]);
  if (step === 1) return turn([text('Storing.'), toolUse(tool, { item: 1 })]);
  const claims = [{ text: 'The item is stored.', evidence: ['E1.1'] }];
  return turn([toolUse('finish', { outcome: 'done', answer: 'The item is stored.', claims })]);
};
