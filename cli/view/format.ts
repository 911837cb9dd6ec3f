/** Numbers as people read them. */

export const formatCost = (costMicros: number): string => `$${(costMicros / 1_000_000).toFixed(4)}`;

export const formatCount = (count: number): string => count.toLocaleString('en-US');

/** `1 step`, `2 steps`. */
export const formatNumberOf = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const formatDuration = (durationMs: number): string => {
  if (durationMs < 0) return `-${formatDuration(-durationMs)}`;
  if (durationMs < MINUTE_MS) return `${(durationMs / 1000).toFixed(durationMs < 10_000 ? 2 : 1)} s`;
  if (durationMs < HOUR_MS)
    return `${Math.floor(durationMs / MINUTE_MS)} min ${twoUnits(durationMs, MINUTE_MS, 1000)} s`;
  if (durationMs < DAY_MS)
    return `${Math.floor(durationMs / HOUR_MS)} h ${twoUnits(durationMs, HOUR_MS, MINUTE_MS)} min`;
  return `${Math.floor(durationMs / DAY_MS)} d ${twoUnits(durationMs, DAY_MS, HOUR_MS)} h`;
};

const twoUnits = (durationMs: number, unitMs: number, smallerMs: number): number =>
  Math.floor((durationMs % unitMs) / smallerMs);

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
