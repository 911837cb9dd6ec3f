/**
 * Runs are found by words of their task and by the beginning of their id (`reader/search.ts`). Neither index has a column that
 * changes, so that updates of runs stay in place; that of ids replaces one that was for whole ids only.
 */
import { sql, type Kysely } from 'kysely';
import type { StoreMigration } from '../migration';

const STATEMENTS = [
  String.raw`create index runs_by_words on runs using gin ((array_to_tsvector(array[' '::text || tenant]) || to_tsvector('simple'::regconfig,
    regexp_replace("left"(task::text, 100000), '(\\(u[0-9a-f]{4}|.)|[\u0001-/:-@\u005b\u005d-${'`'}{-\u007f])+', ' ', 'g'))))`,
  'drop index runs_by_id',
  'create index runs_by_id on runs (run text_pattern_ops)',
];

export const search: StoreMigration = {
  isBreaking: false,
  up: async (db: Kysely<unknown>) => {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
