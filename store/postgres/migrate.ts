/** Brings a database to the schema. Safe to run from several processes at once: the first holds a lock. */
import { Kysely, Migrator, PostgresDialect } from 'kysely';
import type { StoreMigration } from './migration';
import { initial } from './migrations/0001-initial';
import { liveText } from './migrations/0002-live-text';
import { search } from './migrations/0003-search';
import { createPool } from './pool';

/** In order; a released one is never changed. */
export const MIGRATIONS: Readonly<Record<string, StoreMigration>> = {
  '0001-initial': initial,
  '0002-live-text': liveText,
  '0003-search': search,
};

export interface PendingMigration {
  readonly name: string;
  readonly isBreaking: boolean;
}

/** Runs what is pending, each in its own place in the order, and returns the names of those it ran. */
export const migrate = (url: string): Promise<readonly string[]> =>
  withMigrator(url, async (migrator) => {
    const { error, results = [] } = await migrator.migrateToLatest();
    if (error !== undefined) throw toError(error);
    return results.map((result) => result.migrationName);
  });

/** What `migrate` would run. */
export const pendingMigrations = (url: string): Promise<readonly PendingMigration[]> =>
  withMigrator(url, async (migrator) => {
    const all = await migrator.getMigrations();
    return all
      .filter((migration) => migration.executedAt === undefined)
      .map(({ name }) => ({ name, isBreaking: MIGRATIONS[name]?.isBreaking ?? true }));
  });

const MIGRATION_TIMEOUT_MS = 10 * 60_000;

const withMigrator = async <T>(url: string, use: (migrator: Migrator) => Promise<T>): Promise<T> => {
  const pool = createPool({
    url,
    poolSize: 2,
    statementTimeoutMs: MIGRATION_TIMEOUT_MS,
    idleTransactionTimeoutMs: MIGRATION_TIMEOUT_MS,
  });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    return await use(
      new Migrator({
        db,
        provider: { getMigrations: () => Promise.resolve({ ...MIGRATIONS }) },
        migrationTableName: 'migrations',
        migrationLockTableName: 'migrations_lock',
      }),
    );
  } finally {
    await db.destroy();
  }
};

// Kysely types what was thrown as unknown.
const toError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(String(thrown)));
