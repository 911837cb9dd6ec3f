/** Lists stay quick however many runs and waits there are: their plans read an index in order and sort nothing. */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Client } from 'pg';
import { createPostgresStore, migrate } from '../../../store/postgres';
import type { Store } from '../../../store/store';
import { parseTenantId } from '../../../workflows/contract/ids';
import { startTestDatabase, type TestDatabase } from '../../support/databases';

const ROWS = 20_000;
const TENANT = parseTenantId('acme');

let database: TestDatabase;
let client: Client;
let store: Store;

beforeAll(async () => {
  database = await startTestDatabase({
    migrate: async (url) => {
      await migrate(url);
    },
  });
  client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(
    `insert into runs (tenant, run, agent, principal, task, body_hash, state, terminal, ended_at, created_at)
     select case when n % 10 = 0 then 'other' else 'acme' end, 'run_' || lpad(n::text, 8, '0'),
       case when n % 50 = 0 then 'rare' else 'tickets' end, '{"subject":"ada","roles":[]}', '{"goal":"g","data":{}}', 'b',
       case when n % 100 = 0 then 'WAITING_USER' else 'SUCCEEDED' end,
       case when n % 100 = 0 then null else 'SUCCEEDED' end, case when n % 100 = 0 then null else now() end,
       now() - n * interval '1 second'
     from generate_series(1, $1::integer) n`,
    [ROWS],
  );
  await client.query(
    `insert into waits (tenant, run, id, kind, seq, plan_version, plan, response_schema, expires_in_ms, state, opened_at, expires_at)
     select 'acme', 'run_' || lpad(n::text, 8, '0'), 'wait_' || lpad(n::text, 8, '0') || '_1_1', 'approval', 1, 1, 'p', '{}', 1000,
       case when n % 100 = 1 then 'OPEN' else 'CONSUMED' end, now() - n * interval '1 second', now() + interval '1 hour'
     from generate_series(1, $1::integer) n`,
    [ROWS],
  );
  await client.query('analyze');
  store = createPostgresStore({ url: database.url });
});
afterAll(async () => {
  await store.close();
  await client.end();
  await database.drop();
});

interface Asked {
  readonly text: string;
  readonly values: readonly unknown[];
}

const parseAsked = (config: unknown): Asked => config as Asked;

/** The plans of the selects that the store sends, with what they really read. */
const plansOf = async (ask: (store: Store) => Promise<unknown>): Promise<string> => {
  const sent = jest.spyOn(Client.prototype, 'query');
  await ask(store);
  const asked = sent.mock.calls.map(([config]) => parseAsked(config)).filter(({ text }) => /^\s*select/i.test(text));
  sent.mockRestore();
  expect(asked).not.toEqual([]);
  const plans: string[] = [];
  for (const { text, values } of asked) {
    const { rows } = await client.query<Record<string, string>>(`explain (analyze, costs off) ${text}`, [...values]);
    plans.push(...rows.map((row) => row['QUERY PLAN'] ?? ''));
  }
  return plans.join('\n');
};

test.each<[string, (store: Store) => Promise<unknown>]>([
  ['the newest runs', (each) => each.reader.runs(TENANT, { limit: 50 })],
  ['the runs that wait for people', (each) => each.reader.runs(TENANT, { limit: 50, state: 'WAITING_USER' })],
  ['the runs that succeeded', (each) => each.reader.runs(TENANT, { limit: 50, state: 'SUCCEEDED' })],
  ['the runs of a rare agent', (each) => each.reader.runs(TENANT, { limit: 50, agent: 'rare' })],
  ['the inbox', (each) => each.waits.page(TENANT, { limit: 50, state: 'OPEN' })],
])('%s are read from an index', async (_, ask) => {
  const plans = await plansOf(ask);
  expect(plans).not.toMatch(/Seq Scan|Sort Method/);
  expect(plans).toMatch(/Index/);
});

test('a page far behind is read from an index, at its cursor', async () => {
  let cursor: string | undefined;
  for (let page = 0; page < 5; page += 1) {
    const read = await store.reader.runs(TENANT, { limit: 200, ...(cursor === undefined ? {} : { cursor }) });
    ({ cursor } = read);
  }
  if (cursor === undefined) throw new Error('there is no further page');
  const place = cursor;
  const plans = await plansOf((each) => each.reader.runs(TENANT, { limit: 50, cursor: place }));
  expect(plans).toMatch(/Index Cond: .*ROW\(/);
  expect(plans).not.toMatch(/Seq Scan|Sort Method/);
});
