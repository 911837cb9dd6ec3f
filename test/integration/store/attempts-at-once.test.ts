/** What one statement must not decide: the run's row, or the attempt, is another than it was when the statement began. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { waitFor } from '../../../cli/stack/wait-for';
import { createPostgresStore, migrate } from '../../../store/postgres';
import type { Store } from '../../../store/store';
import type { RunRef } from '../../../workflows/contract/records';
import { startTestDatabase, type TestDatabase } from '../../support/databases';
import {
  event,
  hashFrom,
  LIMITS,
  newAttempt,
  startedRun,
  stepEvent,
  usage,
} from '../../support/store-contract/fixtures';

let database: TestDatabase;
let store: Store;
let holder: Client;

beforeAll(async () => {
  database = await startTestDatabase({
    migrate: async (url) => {
      await migrate(url);
    },
  });
  store = createPostgresStore({ url: database.url });
  holder = new Client({ connectionString: database.url });
  await holder.connect();
});

afterAll(async () => {
  await holder.end();
  await store.close();
  await database.drop();
});

/** Starts `work` while another session holds the run's row, lets that session do `meanwhile`, and gives the row free. */
const overtaking = async <T>(ref: RunRef, work: () => Promise<T>, meanwhile: readonly string[]): Promise<T> => {
  const key = [ref.tenant, ref.run];
  await holder.query('begin');
  await holder.query('select from runs where tenant = $1 and run = $2 for update', key);
  const working = work();
  const isWaiting = await waitFor(async () => {
    const { rowCount } = await holder.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rowCount === 1;
  }, 10_000);
  expect(isWaiting).toBe(true);
  for (const text of meanwhile) await holder.query(text, key);
  await holder.query('commit');
  return working;
};

const opened = async (): Promise<RunRef> => {
  const ref = await startedRun(store);
  await store.attempts.open({ ref, events: [stepEvent(1, 1)] }, newAttempt(1, 1));
  return ref;
};

const END = {
  state: 'STORED',
  outcome: { kind: 'candidateStored' },
  candidate: hashFrom('candidate'),
  usage: usage(700),
} as const;

const LOST = [
  `update attempts set state = 'LOST', ended_at = now() where tenant = $1 and run = $2`,
  `update ledger set is_open = false where tenant = $1 and run = $2 and kind = 'attempt'`,
];

describe('an end', () => {
  test('that is overtaken by a collect is late, and counted once', async () => {
    const ref = await opened();
    const { row, totals } = await overtaking(ref, () => store.attempts.end({ ref, step: 1, attempt: 1 }, END), LOST);
    expect(row).toMatchObject({ state: 'LOST' });
    expect(row).not.toHaveProperty('candidate');
    expect(totals).toMatchObject({ attempts: 1, inputTokens: 700, costMicros: 2_100, estimatedTokens: 0 });
    expect(await store.ledger.totals(ref)).toEqual(totals);
    const lines = await store.journal.list(ref, { after: 0, limit: 10 });
    expect(lines.map(({ eventId }) => eventId)).toContain('late:attempt:1.1');
  });

  test('keeps what the account became meanwhile', async () => {
    const ref = await opened();
    const { row, totals } = await overtaking(ref, () => store.attempts.end({ ref, step: 1, attempt: 1 }, END), [
      'update runs set tool_calls = 3, cost_micros = cost_micros + 5 where tenant = $1 and run = $2',
    ]);
    expect(row).toMatchObject({ state: 'STORED', candidate: END.candidate, usage: usage(700) });
    expect(totals).toMatchObject({ toolCalls: 3, costMicros: 2_105, inputTokens: 700, estimatedTokens: 0 });
  });
});

describe('an opening', () => {
  const second = { events: [event(2, { to: 'READY' }), stepEvent(3, 2)] };

  test('that finds its first events there already brings only the others', async () => {
    const ref = await opened();
    await store.attempts.end({ ref, step: 1, attempt: 1 }, END);
    await store.journal.carry({ ref, events: second.events.slice(0, 1) });
    expect(await store.attempts.open({ ref, ...second }, newAttempt(2, 1))).toMatchObject({
      isNew: true,
      totals: { steps: 2, attempts: 2, inputTokens: 1_700 },
    });
    expect(await store.journal.machineEvents(ref)).toHaveLength(3);
  });

  test('is refused by what another has spent meanwhile', async () => {
    const ref = await opened();
    const refused = await overtaking(ref, () => store.attempts.open({ ref, ...second }, newAttempt(2, 1)), [
      `update runs set input_tokens = ${String(LIMITS.maxTokens)} where tenant = $1 and run = $2`,
    ]);
    expect(refused).toMatchObject({ kind: 'budgetSpent', budget: 'tokens', totals: { attempts: 1 } });
    // Its events are brought all the same.
    expect(await store.journal.machineEvents(ref)).toHaveLength(3);
    expect(await store.attempts.list(ref)).toHaveLength(1);
  });

  test('after the end opens nothing that the transaction would not', async () => {
    const ref = await opened();
    const opening = await overtaking(ref, () => store.attempts.open({ ref, ...second }, newAttempt(2, 1)), [
      `update runs set terminal = 'FAILED', state = 'FAILED', reason = 'engine', ended_at = now() where tenant = $1 and run = $2`,
    ]);
    expect(opening).toMatchObject({ kind: 'opened' });
    expect((await store.runs.get(ref))?.state).toBe('FAILED');
    expect(await store.journal.machineEvents(ref)).toHaveLength(1);
  });
});
