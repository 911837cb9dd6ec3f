/** The model of the benchmark: it reads item after item until the goal's number is reached, then it finishes. */
import { text, toolUse, turn, type Script, type ScriptRequest } from '../../testing';

export const goalOf = (reads: number): string => `Read the items. reads=${String(reads)}`;

export const script: Script = (request) => {
  const conversation = textOf(request);
  const reads = Number(/reads=(\d+)/.exec(conversation)?.[1]);
  const step = Number(/"step":\s*(\d+)/.exec(conversation.slice(conversation.lastIndexOf('<status>')))?.[1]);
  if (step <= reads) return turn([text('Reading on.'), toolUse('read_item', { item: step })]);
  const claims = [{ text: 'All items were read.', evidence: [`E${String(reads)}.1`] }];
  return turn([toolUse('finish', { outcome: 'done', answer: 'All items were read.', claims })]);
};

export const textOf = ({ messages }: ScriptRequest): string =>
  messages
    .flatMap(({ blocks }) => blocks.flatMap((block) => (block.type === 'text' && 'text' in block ? [block.text] : [])))
    .join('\n');
