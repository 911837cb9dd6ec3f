/** JSON as the store keeps and hashes it. */
import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { parseArtifactHash, type ArtifactHash } from '../../workflows/contract/ids';

/** RFC 8785. Lone surrogates, which it forbids, become U+FFFD, so that the bytes are well-formed for every reader. */
export const canonicalJson = (value: unknown): string => {
  const text = serialize(value);
  return LONE_SURROGATE.test(text) ? serialize(toWellFormed(value)) : text;
};

/** JSON escapes a lone surrogate and nothing else of that range; a literal backslash before it is only a false alarm. */
const LONE_SURROGATE = /\\ud[89a-f][0-9a-f]{2}/;

const serialize = (value: unknown): string => {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError(`JSON has no form for ${typeof value}`);
  return text;
};

const toWellFormed = (value: unknown): unknown => {
  if (typeof value === 'string') return withoutLoneSurrogates(value);
  if (Array.isArray(value)) return value.map(toWellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [withoutLoneSurrogates(key), toWellFormed(member)]),
  );
};

const withoutLoneSurrogates = (text: string): string => text.replace(/\p{Surrogate}/gu, '\uFFFD');

/** The same content, whatever the order of its members. */
export const isSameJson = (one: unknown, other: unknown): boolean => serialize(one) === serialize(other);

export const hashOf = (bytes: Uint8Array): ArtifactHash =>
  parseArtifactHash(createHash('sha256').update(bytes).digest('hex'));
