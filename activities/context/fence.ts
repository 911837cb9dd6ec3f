/**
 * Everything that is not the runtime's own words reaches the model as JSON between two lines that name it. JSON has no
 * raw line break and `</` is written `<\/`, so that nothing inside can end its fence or begin another.
 */
import type { JsonObject } from '../../workflows/contract/json';

export const FENCES = [
  'task',
  'left_out',
  'result',
  'finding',
  'response',
  'message',
  'correction',
  'unsent_turn',
  'memory',
  'status',
] as const;
export type Fence = (typeof FENCES)[number];

export const fence = (name: Fence, content: JsonObject): string => `<${name}>\n${toFencedJson(content)}\n</${name}>`;

export const toFencedJson = (content: JsonObject): string =>
  JSON.stringify(content)
    .replaceAll('</', '<\\/')
    .replace(UNICODE_LINE_BREAK, (unit) => (unit === '\u2028' ? '\\u2028' : '\\u2029'));

/** Allowed raw in JSON, and a line break to many who read lines. */
const UNICODE_LINE_BREAK = /[\u2028\u2029]/g;
