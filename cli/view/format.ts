/** Numbers and text as people read them in a terminal. */

export { formatCost, formatCount, formatDuration, formatNumberOf } from '../../client/views/format';

export const formatTime = (atMs: number): string => new Date(atMs).toISOString();

/** One line, whatever stands in it: control characters made visible, cut at `limit`. */
export const oneLine = (text: string, limit = 100): string => {
  const flat = visible(text.replace(/\s+/g, ' ').trim());
  return flat.length > limit ? `${flat.slice(0, limit - 1)}…` : flat;
};

/** Text from outside, for a terminal: no escape sequence and no direction override gets through; line breaks stay. */
export const visible = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Co}]/gu, (character) =>
    character === '\n' || character === '\t' ? character : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );

export const indent = (text: string, width: number): string =>
  text
    .split('\n')
    .map((line) => `${' '.repeat(width)}${line}`)
    .join('\n');
