import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { createPostgresStore, migrate, pendingMigrations } from '../../../store/postgres';
import { MIGRATIONS } from '../../../store/postgres/migrate';
import { startTestDatabase, type TestDatabase } from '../../support/databases';
import { startedRun } from '../../support/store-contract/fixtures';

let database: TestDatabase;
beforeEach(async () => {
  database = await startTestDatabase({ template: 'template1' });
});
afterEach(() => database.drop());

const ALL = Object.keys(MIGRATIONS);

test('an empty database is brought to the schema once', async () => {
  expect((await pendingMigrations(database.url)).map(({ name }) => name)).toEqual(ALL);
  expect(await migrate(database.url)).toEqual(ALL);
  expect(await migrate(database.url)).toEqual([]);
  expect(await pendingMigrations(database.url)).toEqual([]);
});

test('several processes may migrate at once', async () => {
  const ran = await Promise.all([migrate(database.url), migrate(database.url), migrate(database.url)]);
  expect(ran.flat()).toEqual(ALL);
  const store = createPostgresStore({ url: database.url });
  await startedRun(store);
  await store.close();
});

test('migrations are in order and say whether they break the release before', () => {
  expect([...ALL].sort()).toEqual(ALL);
  for (const [name, { isBreaking }] of Object.entries(MIGRATIONS)) {
    expect(name).toMatch(/^\d{4}-[a-z0-9-]+$/);
    expect(typeof isBreaking).toBe('boolean');
  }
});

test('every table has the tenant first in its key', async () => {
  await migrate(database.url);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ table: string; first: string | null }>(`
    select t.table_name as "table", k.column_name as first
    from information_schema.tables t
    left join information_schema.table_constraints c
      on c.table_schema = t.table_schema and c.table_name = t.table_name and c.constraint_type = 'PRIMARY KEY'
    left join information_schema.key_column_usage k
      on k.constraint_schema = c.constraint_schema and k.constraint_name = c.constraint_name
      and k.table_name = t.table_name and k.ordinal_position = 1
    where t.table_schema = 'public' and t.table_name not in ('migrations', 'migrations_lock')`);
  await client.end();
  expect(rows.length).toBeGreaterThan(10);
  expect(rows.filter(({ first }) => first !== 'tenant')).toEqual([]);
});
