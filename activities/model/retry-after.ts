/** When the provider wants to be asked again. How long is too long is for the machine to say. */

type HeaderReader = Pick<Headers, 'get'>;

/** Milliseconds from now, 0 where the time is over; undefined where nothing readable was said. */
export const readRetryAfterMs = (headers: HeaderReader | undefined, nowMs: number): number | undefined => {
  const exact = readNumber(headers?.get('retry-after-ms'));
  if (exact !== undefined) return bounded(exact);
  const value = headers?.get('retry-after');
  const seconds = readNumber(value);
  if (seconds !== undefined) return bounded(seconds * 1_000);
  return readDate(value, nowMs);
};

const NUMBER = /^\s*[+-]?\d+(?:\.\d+)?\s*$/;

const readNumber = (value: string | null | undefined): number | undefined =>
  typeof value === 'string' && NUMBER.test(value) ? Number(value) : undefined;

/** An HTTP date says GMT; what JavaScript would take for a date besides (`soon 5`) says nothing. */
const readDate = (value: string | null | undefined, nowMs: number): number | undefined => {
  if (typeof value !== 'string' || !value.trimEnd().endsWith('GMT')) return undefined;
  const at = Date.parse(value);
  return Number.isNaN(at) ? undefined : bounded(at - nowMs);
};

const bounded = (ms: number): number => Math.min(Math.max(0, Math.ceil(ms)), Number.MAX_SAFE_INTEGER);
