/** Values in findings: cut to what a reader needs, and text that every reader accepts. */
import type { Json } from '../../workflows/contract/json';
import { takeStart, toWellFormed } from '../context/well-formed';

const MAX_SHOWN = 200;

export const showText = (text: string): string => toWellFormed(takeStart(text, MAX_SHOWN));

export const showValue = (value: Json | undefined): string =>
  value === undefined ? 'nothing' : showText(JSON.stringify(value));

/** The value itself where it is short, else the beginning of its JSON. */
export const keepValue = (value: Json): Json => {
  const text = JSON.stringify(value);
  return text.length <= MAX_SHOWN ? parseKept(JSON.parse(toWellFormed(text))) : showText(text);
};

const parseKept = (value: unknown): Json => value as Json;

/** `['lines', 0, 'due']` → `lines[0].due`; empty for the arguments as a whole. */
export const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((field, part) => {
    if (typeof part === 'number') return `${field}[${String(part)}]`;
    return field === '' ? String(part) : `${field}.${String(part)}`;
  }, '');

/** JSON pointer → the same spelling. */
export const fieldOfPointer = (pointer: string): string =>
  fieldOf(
    pointer
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
  );

/** What stands at the path, where anything does. */
export const valueAt = (root: Json, path: readonly PropertyKey[]): Json | undefined =>
  path.reduce<Json | undefined>((value, part) => {
    if (typeof value !== 'object' || value === null) return undefined;
    const entry = Object.entries(value).find(([key]) => key === String(part));
    return parseEntry(entry?.[1]);
  }, root);

const parseEntry = (value: unknown): Json | undefined => value as Json | undefined;
