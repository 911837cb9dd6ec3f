/** One connection pool and what every part of the store does its work with. */
import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import { createDatabaseClock, type Clock, type DatabaseClock } from './clock';
import { isRepeatable } from './failures';
import { createPool } from './pool';
import type { Database } from './schema';

export interface PostgresOptions {
  readonly url: string;
  /** Default 10. */
  readonly poolSize?: number;
  /** Default 10 s: a statement that takes longer is ended and thrown as StoreUnavailable. */
  readonly statementTimeoutMs?: number;
  /** Default 5 s: for so long a process may pause inside a transaction before it loses its locks, and the transaction. */
  readonly idleTransactionTimeoutMs?: number;
  /** For tests that skip time. */
  readonly clock?: Clock;
}

export type Db = Kysely<Database>;
export type Trx = Transaction<Database>;

export interface Session {
  readonly db: Db;
  readonly clock: DatabaseClock;
  /** Read committed: what is decided on is locked first. Run again where the database asks for it, a few times. */
  readonly transact: <T>(work: (trx: Trx) => Promise<T>) => Promise<T>;
}

const MAX_TRIES = 5;
const DEFAULT_STATEMENT_TIMEOUT_MS = 10_000;
const DEFAULT_IDLE_TRANSACTION_TIMEOUT_MS = 5_000;

export const connect = (options: PostgresOptions): Session => {
  const {
    url,
    poolSize = 10,
    statementTimeoutMs = DEFAULT_STATEMENT_TIMEOUT_MS,
    idleTransactionTimeoutMs = DEFAULT_IDLE_TRANSACTION_TIMEOUT_MS,
  } = options;
  const pool = createPool({ url, poolSize, statementTimeoutMs, idleTransactionTimeoutMs });
  const dialect = new PostgresDialect({ pool });
  const db = new Kysely<Database>({ dialect });
  return { db, clock: createDatabaseClock(options.clock), transact: (work) => transact(db, work) };
};

const transact = async <T>(db: Db, work: (trx: Trx) => Promise<T>): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await db.transaction().execute(work);
    } catch (error) {
      if (tries === MAX_TRIES || !isRepeatable(error)) throw error;
    }
  }
};
