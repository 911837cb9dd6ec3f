import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { errorCode } from '../../cli/stack/errors';
import { waitFor } from '../../cli/stack/wait-for';
import { sharedPostgresUrl } from './services';

export interface TestDatabase {
  readonly name: string;
  readonly url: string;
  /** Ends its connections and deletes it. */
  drop(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** Brings an empty database to the schema; called once per jest run, for the template. It must close its connections. */
  readonly migrate?: ((url: string) => Promise<void>) | undefined;
  readonly template?: string | undefined;
}

const DEFAULT_TEMPLATE = 'holdfast_template';

/** A new database on the shared PostgreSQL: a copy of the template where there is one (or `migrate` makes it), else empty. */
export async function startTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { migrate, template = DEFAULT_TEMPLATE } = options;
  const name = `test_${randomBytes(6).toString('hex')}`;
  if (migrate !== undefined) await ensureTemplate(template, migrate);
  await createDatabase(name, template);
  return { name, url: await databaseUrl(name), drop: () => dropDatabase(name) };
}

/** Copies `template` if that exists. */
export async function createDatabase(name: string, template = DEFAULT_TEMPLATE): Promise<void> {
  await asAdmin(async (client) => {
    const source = (await exists(client, template)) ? template : 'template1';
    await client.query(`create database ${quote(name)} template ${quote(source)}`);
  });
}

export async function dropDatabase(name: string): Promise<void> {
  await asAdmin((client) => client.query(`drop database if exists ${quote(name)} with (force)`));
}

export async function databaseUrl(name: string): Promise<string> {
  const url = new URL(await sharedPostgresUrl());
  url.pathname = `/${name}`;
  return url.href;
}

const TEMPLATE_LOCK = 7_450_021;
const SETTLE_LIMIT_MS = 5_000;

/** Made under another name and renamed when whole, under a lock that the workers of one run share. */
async function ensureTemplate(template: string, migrate: (url: string) => Promise<void>): Promise<void> {
  await asAdmin(async (client) => {
    await client.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    if (await exists(client, template)) return; // the lock goes with the connection
    const draft = `${template}_draft`;
    await client.query(`drop database if exists ${quote(draft)} with (force)`);
    await client.query(`create database ${quote(draft)}`);
    await migrate(await databaseUrl(draft));
    await renameWhenFree(client, draft, template);
  });
}

/** The migration's connections close a moment after it says so. */
async function renameWhenFree(client: Client, from: string, to: string): Promise<void> {
  let busy: unknown;
  const renamed = await waitFor(async () => {
    try {
      await client.query(`alter database ${quote(from)} rename to ${quote(to)}`);
      return true;
    } catch (error) {
      if (errorCode(error) !== OBJECT_IN_USE) throw error;
      busy = error;
      return false;
    }
  }, SETTLE_LIMIT_MS);
  if (!renamed) throw new Error('the migration leaves connections open', { cause: busy });
}

const OBJECT_IN_USE = '55006';

async function exists(client: Client, name: string): Promise<boolean> {
  const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
  return rowCount === 1;
}

async function asAdmin<T>(use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: await sharedPostgresUrl() });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

function quote(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
