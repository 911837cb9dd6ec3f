/**
 * Now, by the database's clock: the one authority on arrival, expiry and dispatch deadlines. In whole milliseconds, so that
 * what SQL compares and what readers compare is the same.
 */
import { sql, type RawBuilder } from 'kysely';

/** Moves the store's time away from the database's, so that tests which skip time drive both. */
export interface Clock {
  readonly offsetMs: () => number;
}

export interface DatabaseClock {
  readonly now: () => RawBuilder<number>;
  readonly inMs: (ms: number) => RawBuilder<number>;
  /** As a plain number: ms since the epoch. */
  readonly nowMs: () => RawBuilder<number>;
  /** From now until the moment in the given column, 0 once it is over. */
  readonly msUntil: (column: string) => RawBuilder<number>;
}

const MS = sql`interval '1 millisecond'`;

export const createDatabaseClock = (clock?: Clock): DatabaseClock => {
  const moment = (): RawBuilder<number> =>
    clock === undefined ? sql`clock_timestamp()` : sql`clock_timestamp() + ${clock.offsetMs()}::float8 * ${MS}`;
  const now = (): RawBuilder<number> => sql`date_trunc('milliseconds', ${moment()})`;
  return {
    now,
    inMs: (ms) => sql`(${now()} + ${Math.ceil(ms)}::float8 * ${MS})`,
    nowMs: () => sql`(extract(epoch from ${now()}) * 1000)::float8`,
    msUntil: (column) => sql`greatest(0, extract(epoch from (${sql.ref(column)} - ${now()})) * 1000)::float8`,
  };
};
