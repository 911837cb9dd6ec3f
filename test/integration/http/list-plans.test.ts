/** Lists stay quick however many runs and waits there are: their plans read an index in order and sort nothing. */
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Client } from 'pg';
import { createPostgresStore, migrate } from '../../../store/postgres';
import type { Store } from '../../../store/store';
import { operationIdOf, parseRunId, parseTenantId } from '../../../workflows/contract/ids';
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
       case when n % 50 = 0 then 'rare' else 'tickets' end, '{"subject":"ada","roles":[]}', json_build_object('goal', 'Reassign ticket T' || n || E'\\nby the on-call rules', 'data', '{}'::json), 'b',
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
  const asked = sent.mock.calls
    .map(([config]) => parseAsked(config))
    .filter(({ text }) => /^\s*(?:select|with)/i.test(text));
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

/** How many rows the plan's scan of an index or a table gave, at the first that is named. */
const rowsFrom = (plans: string, name: string): number =>
  Number(new RegExp(`(?:on|using) ${name}\\b.*?rows=([\\d.]+)`).exec(plans)?.[1] ?? Number.NaN);

test('runs with a rare word are found by an index, which has the words of this tenant alone', async () => {
  const plans = await plansOf((each) => each.reader.runs(TENANT, { limit: 50, search: 'reassign t1234' }));
  expect(plans).not.toMatch(/Seq Scan/);
  // T1234 and T12341 to T12349; T12340 is another tenant's.
  expect(rowsFrom(plans, 'runs_by_words')).toBe(10);
});

test('runs with a word that all of them have are found by the same index, also page by page', async () => {
  const first = await store.reader.runs(TENANT, { limit: 50, search: 'on-call' });
  if (first.cursor === undefined) throw new Error('there is no further page');
  const { cursor } = first;
  for (const filter of [{}, { cursor }, { agent: 'rare' }, { state: 'SUCCEEDED' as const }]) {
    const plans = await plansOf((each) => each.reader.runs(TENANT, { limit: 50, search: 'on-call', ...filter }));
    expect(plans).not.toMatch(/Seq Scan on runs/);
    expect(rowsFrom(plans, 'runs_by_words')).toBe(18_000);
  }
});

test("another tenant's words are nowhere", async () => {
  const plans = await plansOf((each) => each.reader.runs(TENANT, { limit: 50, search: 't12340' }));
  expect(plans).not.toMatch(/Seq Scan/);
  expect(rowsFrom(plans, 'runs_by_words')).toBe(0);
});

test('runs are found by the beginning of their id, by an index', async () => {
  const plans = await plansOf((each) => each.reader.runs(TENANT, { limit: 50, search: 'run_000123' }));
  expect(plans).not.toMatch(/Seq Scan/);
  expect(plans).toMatch(/runs_by_id/);
  const { readings } = await store.reader.runs(TENANT, { limit: 200, search: 'run_000123' });
  expect(readings).toHaveLength(90);
});

test('the run of a callback is found by its whole id, by an index', async () => {
  const operation = operationIdOf(parseRunId('run_00012345'), 1, 1);
  const plans = await plansOf((each) => each.inbox.runOf(operation));
  expect(plans).not.toMatch(/Seq Scan/);
});
