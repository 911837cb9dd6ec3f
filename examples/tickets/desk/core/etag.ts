import { DeskProblem } from './problem';
import type { Precondition } from './model';

const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/;

export const etagOf = (version: number): string => `"${String(version)}"`;

export function parseIfMatch(header: string): Precondition {
  if (header.trim() === '*') return 'any';
  const tags = header.split(',').map((tag) => tag.trim());
  const wrong = tags.find((tag) => !ENTITY_TAG.test(tag));
  if (wrong !== undefined) {
    throw new DeskProblem({
      status: 400,
      code: 'if_match_malformed',
      detail: `If-Match: expected "VERSION" in double quotes, got ${wrong}`,
    });
  }
  return tags;
}

/** If-Match compares strongly (RFC 9110, 13.1.1): a weak tag matches nothing. */
export const isMatched = (precondition: Precondition, version: number): boolean =>
  precondition === 'any' || precondition.includes(etagOf(version));
