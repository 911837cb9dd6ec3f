/**
 * Finding runs by what stands in their task, or by the beginning of their id.
 *
 *   1. What begins as an id does (`run_`) is one: an index of ids finds it. Everything else is words.
 *   2. Each word that is searched for is the beginning of a word of the goal or its data, in any order, in capitals or not.
 *   3. The index of words has each run's tenant as one more word, which no text can hold, so that a search never reads the
 *      runs of others, however common its words are there.
 *
 * Words come from the JSON of the task, whose escapes and marks are no part of them, on both sides alike: what stands between
 * ASCII letters and digits divides words; all other alphabets are left to PostgreSQL.
 */
import { sql, type RawBuilder } from 'kysely';
import type { TenantId } from '../../../workflows/contract/ids';
import type { RunFilter } from '../../store';
import type { Db } from '../connect';

/** As the migration has it: an index serves the very expression that it was made of. */
const WORDS = sql.raw(String.raw`(array_to_tsvector(array[' '::text || tenant]) || to_tsvector('simple'::regconfig,
  regexp_replace("left"(task::text, 100000), '(\\(u[0-9a-f]{4}|.)|[\u0001-/:-@\u005b\u005d-${'`'}{-\u007f])+', ' ', 'g')))`);

const BETWEEN_WORDS = /[\0-/:-@[-`{-\u007f]+/g;
const IS_ID = /^run_[A-Za-z0-9-]*$/;
/** Behind everything that an id may hold. */
const LAST = '~';

/** Runs, or only those that are found: whatever is asked of them has the same shape. */
export type RunSource = Pick<Db, 'selectFrom'>;

/**
 * What is found is found first, by one index, and sorted then; the time of a search grows with the number of the tenant's runs
 * that have all of its words. Left to itself, PostgreSQL would guess how rare the words are, and where it guesses wrong
 * take every run's words apart again.
 */
export const found = <T>(db: Db, filter: RunFilter & OfTenant, ask: (runs: RunSource) => Promise<T>): Promise<T> => {
  const { tenant, search } = filter;
  if (search === undefined) return ask(db);
  return db.transaction().execute(async (transaction) => {
    await sql`set local enable_seqscan = off`.execute(transaction);
    return ask(
      transaction.with(
        (name) => name('runs').materialized(),
        (each) => each.selectFrom('runs').selectAll().where(matches(tenant, search)),
      ),
    );
  });
};

interface OfTenant {
  readonly tenant: TenantId;
}

const matches = (tenant: TenantId, search: string): RawBuilder<boolean> =>
  IS_ID.test(search)
    ? sql`(run ~>=~ ${search} and run ~<~ ${search + LAST})`
    : sql`(${WORDS} @@ ${queryOf(tenant, search.replace(BETWEEN_WORDS, ' '))})`;

/** Null where there is no word in it, and then nothing is found. */
const queryOf = (tenant: TenantId, words: string): RawBuilder<unknown> => {
  const plain = sql`nullif(plainto_tsquery('simple', ${words}::text)::text, '')`;
  return sql`(${`' ${tenant}' & `}::text || replace(${plain}, ''' & ', ''':* & ') || ':*')::tsquery`;
};
