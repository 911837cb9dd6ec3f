/** Values from outside as JSON that every reader accepts, its canonical form and its hash. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Json, JsonObject } from '../workflows/contract/json';
import { toWellFormed } from './well-formed';

/**
 * The value as it will be read back: dates as text, absent members left out, no half of a surrogate pair and no NUL. Throws
 * TypeError where JSON has no form for it (a cycle, a bigint); `null` for nothing at all.
 */
export const toStorableJson = (value: unknown): Json => {
  const text: unknown = JSON.stringify(value);
  return typeof text === 'string' ? parseJson(text) : null;
};

const parseJson = (text: string): Json => JSON.parse(text, withWellFormedText) as Json;

const withWellFormedText = (_key: string, value: unknown): unknown => {
  if (typeof value === 'string') return toWellFormed(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value);
  return entries.every(([key]) => toWellFormed(key) === key)
    ? value
    : Object.fromEntries(entries.map(([key, member]) => [toWellFormed(key), member]));
};

export const isJsonObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** RFC 8785. */
export const canonicalText = (value: Json): string => canonicalize(value) ?? 'null';

export const sha256Of = (value: Json): string => createHash('sha256').update(canonicalText(value)).digest('hex');
