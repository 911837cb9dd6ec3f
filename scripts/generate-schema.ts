/** Migrates an empty database and writes down what is there, so that a change of the schema is read as a diff. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { startPostgres } from '../cli/stack/postgres';
import { migrate } from '../store/postgres';

const HEAD = '-- Written by `npm run generate` from an empty database after all migrations.\n';

export async function renderSchema(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-schema-'));
  chmodSync(directory, 0o711); // the server's account passes through
  try {
    return await withEmptyDatabase(directory, async (url) => {
      await migrate(url);
      return HEAD + (await describe(url)).map((statement) => `\n${statement}\n`).join('');
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function withEmptyDatabase<T>(directory: string, use: (url: string) => Promise<T>): Promise<T> {
  const server = await startPostgres({
    directory: join(directory, 'postgres'),
    logDir: join(directory, 'logs'),
    runDir: join(directory, 'run'),
    database: 'schema',
    isDurable: false,
  });
  try {
    return await use(server.url);
  } finally {
    await server.stop();
  }
}

/** Tables with their columns and constraints, then indexes; both by name. */
async function describe(url: string): Promise<readonly string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const tables = await client.query<{ statement: string }>(TABLES);
    const indexes = await client.query<{ statement: string }>(INDEXES);
    return [...tables.rows, ...indexes.rows].map(({ statement }) => statement);
  } finally {
    await client.end();
  }
}

const TABLES = `
  select format(E'create table %I (\\n  %s\\n)%s;', c.relname, string_agg(line.text, E',\\n  ' order by line.place),
    coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '')) as statement
  from pg_class c
  cross join lateral (
    select a.attnum::integer as place, concat_ws(' ', quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
      case when a.attidentity <> '' then 'generated always as identity'
        when a.attgenerated <> '' then format('generated always as (%s) stored', pg_get_expr(d.adbin, d.adrelid))
        else 'default ' || pg_get_expr(d.adbin, d.adrelid) end,
      case when a.attnotnull then 'not null' end) as text
    from pg_attribute a
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
    where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    union all
    select 10000 + row_number() over (order by k.contype desc, k.conname), pg_get_constraintdef(k.oid)
    from pg_constraint k
    where k.conrelid = c.oid and k.contype <> 'n'
  ) as line
  where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
  group by c.oid, c.relname, c.reloptions
  order by c.relname`;

/** Those of primary keys are said by the tables. */
const INDEXES = `
  select pg_get_indexdef(i.indexrelid) || ';' as statement
  from pg_index i
  join pg_class c on c.oid = i.indexrelid
  where c.relnamespace = 'public'::regnamespace and not i.indisprimary
  order by c.relname`;
