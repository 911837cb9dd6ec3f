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
