/**
 * Text from outside (job ids, versions, targets, event ids) in columns of type `text`, which cannot hold U+0000 and would
 * lose lone surrogates: those are escaped with a backslash, as is the backslash. Ordinary text is stored as it is.
 */
import { KeyTooLong } from '../errors';

const NOT_STORABLE = /[\\\0\p{Surrogate}]/gu;
const ESCAPED = /\\(?:\\|u[0-9a-f]{4})/g;

export const encodeText = (text: string): string =>
  text.replace(NOT_STORABLE, (unit) =>
    unit === '\\' ? '\\\\' : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** What an index entry can hold, with tenant and run beside it. */
const MAX_KEY_BYTES = 2_000;

/** For columns that are part of a key. */
export const encodeKey = (field: string, text: string): string => {
  const key = encodeText(text);
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) throw new KeyTooLong(field, text, MAX_KEY_BYTES);
  return key;
};

export const decodeText = (stored: string): string =>
  stored.replace(ESCAPED, (escape) => (escape === '\\\\' ? '\\' : String.fromCharCode(parseInt(escape.slice(2), 16))));
