/**
 * The pool below Kysely. It turns whatever the driver throws without an answer of the server into StoreUnavailable, and
 * never hands a connection back to the pool that has failed once. Statements with parameters are prepared once per
 * connection: planning them costs the server more than running them.
 */
import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { Pool, types, type PoolClient, type QueryResult } from 'pg';
import { StoreUnavailable } from '../errors';
import { isAnswer, isMisuse, isStalePlan, isUnavailableAnswer } from './failures';

export interface PoolOptions {
  readonly url: string;
  readonly poolSize: number;
  readonly statementTimeoutMs: number;
  readonly idleTransactionTimeoutMs: number;
}

const CONNECTION_TIMEOUT_MS = 2_000;
/** The server ends a slow statement itself; only one that does not answer at all is given up here. */
const ANSWER_GRACE_MS = 2_000;

export const createPool = (options: PoolOptions): PostgresPool => {
  const { url, poolSize, statementTimeoutMs, idleTransactionTimeoutMs } = options;
  const pool = new Pool({
    connectionString: url,
    max: poolSize,
    application_name: 'holdfast',
    keepAlive: true,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + ANSWER_GRACE_MS,
    // A process that stops in the middle of a transaction must not hold the run's lock.
    idle_in_transaction_session_timeout: idleTransactionTimeoutMs,
    types: { getTypeParser: parserOf },
  });
  const statements = new StatementNames();
  // An idle connection that breaks has left the pool already; the next query opens another.
  pool.on('error', ignore);
  return {
    connect: async () => new CheckedClient(await orUnavailable(() => pool.connect()), statements),
    end: () => pool.end(),
  };
};

const ignore = (): void => undefined;

class CheckedClient implements PostgresPoolClient {
  private failure: unknown;
  private readonly onError = (error: unknown): void => {
    this.failure ??= error;
  };

  constructor(
    private readonly client: PoolClient,
    private readonly statements: StatementNames,
  ) {
    client.on('error', this.onError);
  }

  query<R>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>>;
  query<R>(cursor: PostgresCursor<R>): PostgresCursor<R>;
  query<R>(
    query: string | PostgresCursor<R>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<R>> | PostgresCursor<R> {
    if (typeof query !== 'string') throw new TypeError('the store reads no cursors');
    return this.ask(query, parameters);
  }

  release(isDiscarded = false): void {
    this.client.off('error', this.onError);
    this.client.release(isDiscarded || this.failure !== undefined);
  }

  private async ask<R>(query: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<R>> {
    if (this.failure !== undefined) throw new StoreUnavailable(this.failure);
    try {
      const name = parameters.length === 0 ? undefined : this.statements.nameOf(query);
      const config = { text: query, values: [...parameters], ...(name === undefined ? {} : { name }) };
      return parseQueryResult(await orUnavailable(() => this.client.query(config)));
    } catch (error) {
      if (error instanceof StoreUnavailable) this.failure ??= error.cause;
      throw error;
    }
  }
}

/** Texts that are built from lists differ by their lengths: the rarer ones are not kept on the server. */
const MAX_STATEMENTS = 200;

class StatementNames {
  private readonly names = new Map<string, string>();

  nameOf(text: string): string | undefined {
    const known = this.names.get(text);
    if (known !== undefined || this.names.size === MAX_STATEMENTS) return known;
    const name = `s${String(this.names.size + 1)}`;
    this.names.set(text, name);
    return name;
  }
}

const orUnavailable = async <T>(ask: () => Promise<T>): Promise<T> => {
  try {
    return await ask();
  } catch (error) {
    if (isMisuse(error) || (isAnswer(error) && !isUnavailableAnswer(error) && !isStalePlan(error))) throw error;
    throw new StoreUnavailable(error);
  }
};

// The driver types the command as any text.
const parseQueryResult = <R>(result: QueryResult): PostgresQueryResult<R> =>
  result as unknown as PostgresQueryResult<R>;

type Parse = (text: string) => unknown;

/**
 * Moments as ms since the epoch; counters as numbers (all of ours stay far below 2^53). Asked for each column of each answer,
 * so each parser is made once.
 */
const parserOf: typeof types.getTypeParser = (oid, format) => {
  if (format === 'binary') return makeParser(oid, format);
  const known = textParsers.get(oid);
  if (known !== undefined) return known;
  const made = makeParser(oid, format);
  textParsers.set(oid, made);
  return made;
};

const textParsers = new Map<TypeId, Parse>();

type TypeId = Parameters<typeof types.getTypeParser>[0];

const makeParser = (oid: TypeId, format: Parameters<typeof types.getTypeParser>[1]): Parse => {
  const parse = parseParser(types.getTypeParser(oid, format));
  switch (oid) {
    case types.builtins.INT8:
      return Number;
    case types.builtins.TIMESTAMPTZ:
      return (text: string) => Number(parse(text));
    default:
      return parse;
  }
};

// The driver types its parsers as any.
const parseParser = (parser: unknown): Parse => parser as Parse;
