/** Text that a model is writing, for whoever watches. Unlogged: it may be lost, and no record refers to it. */
import { sql, type Kysely } from 'kysely';
import type { StoreMigration } from '../migration';

const STATEMENTS = [
  `create unlogged table live_text (
    tenant text not null,
    run text not null,
    step integer not null,
    attempt integer not null,
    texts text[] not null,
    characters integer not null,
    updated_at timestamptz not null,
    primary key (tenant, run)
  ) with (fillfactor = 50)`,
  'create index runs_by_agent on runs (tenant, agent, created_at desc, run desc)',
];

export const liveText: StoreMigration = {
  isBreaking: false,
  up: async (db: Kysely<unknown>) => {
    for (const statement of STATEMENTS) await sql.raw(statement).execute(db);
  },
};
