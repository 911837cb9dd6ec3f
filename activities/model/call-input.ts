/**
 * The arguments of a call: the text that the model wrote → JSON, with whatever the JSON does not say exactly as the text
 * did. `JSON.parse` rounds `9007199254740993` and keeps the last of two equal keys without a word; an amount must not
 * change on the way from the model to a person's approval.
 */
import type { Json, JsonObject } from '../../workflows/contract/json';
import { toWellFormed } from '../context/well-formed';

export const INPUT_FLAW_KINDS = ['lossyNumber', 'duplicateKey', 'illFormedText'] as const;

export interface InputFlaw {
  readonly kind: (typeof INPUT_FLAW_KINDS)[number];
  /** JSON pointer (RFC 6901) of the value. */
  readonly path: string;
  /** What was written: the number or the key; empty for text. */
  readonly text: string;
}

export type CallInput =
  { readonly kind: 'json'; readonly value: Json; readonly flaws: readonly InputFlaw[] } | { readonly kind: 'invalid' };

/** Deeper nesting serves no tool, and whoever walks it by recursion would overflow. */
const MAX_DEPTH = 100;

/** No text at all is the provider's way to say: no arguments. */
export const readCallInput = (text: string): CallInput => {
  if (text.trim() === '') return { kind: 'json', value: {}, flaws: [] };
  const value = parseJson(text);
  if (value === undefined) return { kind: 'invalid' };
  const flaws = findFlaws(text);
  return flaws === 'too deep' ? { kind: 'invalid' } : { kind: 'json', value: wellFormed(value), flaws };
};

const parseJson = (text: string): Json | undefined => {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
};

const wellFormed = (value: Json): Json => {
  if (typeof value === 'string') return toWellFormed(value);
  if (typeof value !== 'object' || value === null) return value;
  if (isArray(value)) return value.map(wellFormed);
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [toWellFormed(key), wellFormed(field)]));
};

const isArray = (value: readonly Json[] | JsonObject): value is readonly Json[] => Array.isArray(value);

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[{}[\],:]|true|false|null/g;

/** Where the scan is: in an object before or after a key, or at an element of an array. */
type Frame =
  | { readonly kind: 'object'; readonly keys: Set<string>; key: string | undefined }
  | { readonly kind: 'array'; index: number };

/** Of a text that is known to be JSON. */
const findFlaws = (text: string): readonly InputFlaw[] | 'too deep' => {
  const flaws: InputFlaw[] = [];
  const stack: Frame[] = [];
  for (const [token] of text.matchAll(TOKEN)) {
    const frame = stack.at(-1);
    if (token === '{') stack.push({ kind: 'object', keys: new Set(), key: undefined });
    else if (token === '[') stack.push({ kind: 'array', index: 0 });
    else if (token === '}' || token === ']') stack.pop();
    else if (token === ',') step(frame);
    else if (frame?.kind === 'object' && frame.key === undefined) flaws.push(...enterKey(stack, frame, token));
    else if (token !== ':') flaws.push(...judgeScalar(stack, token));
    if (stack.length > MAX_DEPTH) return 'too deep';
  }
  return flaws;
};

const step = (frame: Frame | undefined): void => {
  if (frame?.kind === 'object') frame.key = undefined;
  else if (frame?.kind === 'array') frame.index += 1;
};

const enterKey = (
  stack: readonly Frame[],
  frame: Extract<Frame, { kind: 'object' }>,
  token: string,
): readonly InputFlaw[] => {
  const key = parseString(token);
  const isDuplicate = frame.keys.has(key);
  frame.keys.add(key);
  frame.key = key;
  const path = pathOf(stack);
  return [
    ...(isDuplicate ? [{ kind: 'duplicateKey' as const, path, text: toWellFormed(key) }] : []),
    ...(toWellFormed(key) === key ? [] : [{ kind: 'illFormedText' as const, path, text: '' }]),
  ];
};

const judgeScalar = (stack: readonly Frame[], token: string): readonly InputFlaw[] => {
  if (token.startsWith('"')) {
    const text = parseString(token);
    return toWellFormed(text) === text ? [] : [{ kind: 'illFormedText', path: pathOf(stack), text: '' }];
  }
  const isNumber = /^[-\d]/.test(token);
  return isNumber && !isExact(token) ? [{ kind: 'lossyNumber', path: pathOf(stack), text: token }] : [];
};

const parseString = (token: string): string => JSON.parse(token) as string;

const pathOf = (stack: readonly Frame[]): string =>
  stack
    .map((frame) => (frame.kind === 'array' ? String(frame.index) : (frame.key ?? '')))
    .map((part) => `/${toWellFormed(part).replaceAll('~', '~0').replaceAll('/', '~1')}`)
    .join('');

/** Whether the number that JSON writes again is the one that was written. */
const isExact = (token: string): boolean => {
  const number = Number(token);
  return Number.isFinite(number) && decimalOf(token) === decimalOf(String(number));
};

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** `-1.50e3` → `-15e2`: one spelling for each value. */
const decimalOf = (number: string): string => {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = DECIMAL.exec(number) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${String(Number(exponent) - fraction.length + digits.length - significant.length)}`;
};
