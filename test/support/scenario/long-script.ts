/** The model of the reader: one item per step, then it finishes. Of every other agent: the example's. */
import { createScript } from '../../../examples/tickets/model-script';
import { text, toolUse, turn, type Script, type ScriptRequest } from '../../../testing';

export const createLongScript = (): Script => {
  const tickets = createScript();
  return (request) => (request.tools.some(({ name }) => name === 'read_item') ? readOn(request) : tickets(request));
};

const readOn: Script = (request) => {
  const conversation = textOf(request);
  const reads = Number(/reads=(\d+)/.exec(conversation)?.[1]);
  const step = Number(/"step":\s*(\d+)/.exec(conversation.slice(conversation.lastIndexOf('<status>')))?.[1]);
  const last = Math.max(0, ...[...conversation.matchAll(/"item":\s*(\d+)/g)].map(([, item]) => Number(item)));
  if (last < reads) return turn([text('Reading on.'), toolUse('read_item', { item: Math.max(step, last + 1) })]);
  const evidence = [...conversation.matchAll(/"(E\d+\.\d+)"/g)].at(-1)?.[1] ?? 'E1.1';
  return turn([
    toolUse('finish', { outcome: 'done', answer: 'All read.', claims: [{ text: 'All read.', evidence: [evidence] }] }),
  ]);
};

const textOf = ({ messages }: ScriptRequest): string => JSON.stringify(messages).replaceAll('\\"', '"');
