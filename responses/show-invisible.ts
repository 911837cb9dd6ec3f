/**
 * Text as a person who decides about it has to see it: what is invisible, or would reorder what stands around it, is written
 * as `<U+202E>`. Spaces, tabs and line breaks stay.
 */
import type { Json, JsonObject } from '../workflows/contract/json';

/** Controls, formats, unassigned and lone surrogates, odd spaces, fillers and everything that a font may leave out. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const PLAIN: ReadonlySet<string> = new Set([' ', '\n', '\t']);

export const showInvisible = (text: string): string =>
  text.replace(UNSEEN, (character) => (PLAIN.has(character) ? character : `<${nameOf(character)}>`));

const nameOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;

/** The same for every text inside, names of members included. */
export const showInvisibleIn = (value: Json): Json => {
  if (typeof value === 'string') return showInvisible(value);
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map(showInvisibleIn);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]): [string, Json] => [showInvisible(name), showInvisibleIn(member)]),
  ) satisfies JsonObject;
};

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

/** JSON that says the same to a machine and hides nothing from a reader: what is unseen is escaped, as JSON allows. */
export const toVisibleJson = (value: Json): string =>
  JSON.stringify(value).replace(UNSEEN, (character) =>
    PLAIN.has(character)
      ? character
      : [...Array(character.length).keys()].map((at) => escapeUnit(character, at)).join(''),
  );

const escapeUnit = (character: string, at: number): string =>
  `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
