/** Text that every strict parser accepts: no half of a surrogate pair, no NUL. */

const LONE_SURROGATE = /\p{Surrogate}/gu;
const REPLACEMENT = '\uFFFD';

/** Lone surrogates and NUL become U+FFFD; everything else stays as it is. */
export const toWellFormed = (text: string): string =>
  text.replace(LONE_SURROGATE, REPLACEMENT).replaceAll('\0', REPLACEMENT);

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** The first `length` UTF-16 units, one fewer where the cut would fall inside a pair. */
export const takeStart = (text: string, length: number): string => {
  if (text.length <= length) return text;
  return text.slice(0, isHighSurrogate(text.charCodeAt(length - 1)) ? length - 1 : length);
};

/** The last `length` UTF-16 units, one fewer where the cut would fall inside a pair. */
export const takeEnd = (text: string, length: number): string => {
  if (text.length <= length) return text;
  const start = text.length - length;
  return text.slice(isLowSurrogate(text.charCodeAt(start)) ? start + 1 : start);
};
