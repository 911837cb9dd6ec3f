import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { join } from 'node:path';
import { startPostgres, type Postgres } from '../../../cli/stack/postgres';
import { waitFor } from '../../../cli/stack/wait-for';
import { StoreUnavailable } from '../../../store/errors';
import { createPostgresStore, migrate } from '../../../store/postgres';
import { connect, type Session } from '../../../store/postgres/connect';
import type { Store } from '../../../store/store';
import { event, startedRun } from '../../support/store-contract/fixtures';
import { makeTempDir, removeDir } from '../../support/temp-dir';

const LIMIT_MS = 20_000;

const dir = makeTempDir('outage');
let server: Postgres;
const start = async (port?: number): Promise<Postgres> =>
  startPostgres({
    directory: join(dir, 'postgres'),
    logDir: join(dir, 'logs'),
    runDir: join(dir, 'run'),
    database: 'holdfast',
    // A killed server must still have what it has acknowledged.
    isDurable: true,
    port,
  });

beforeAll(async () => {
  server = await start();
  await migrate(server.url);
});
afterAll(async () => {
  await server.stop();
  removeDir(dir);
});

const withStore = async (
  use: (store: Store) => Promise<void>,
  options: { readonly statementTimeoutMs?: number; readonly poolSize?: number } = {},
): Promise<void> => {
  const store = createPostgresStore({ url: server.url, ...options });
  try {
    await use(store);
  } finally {
    await store.close();
  }
};

const withSession = async (use: (session: Session) => Promise<void>): Promise<void> => {
  const session = connect({ url: server.url });
  try {
    await use(session);
  } finally {
    await session.db.destroy();
  }
};

interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

const gate = (): Gate => {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
};

const answers = (store: Store): Promise<boolean> =>
  waitFor(async () => {
    try {
      await store.ping();
      return true;
    } catch (error) {
      if (error instanceof StoreUnavailable) return false;
      throw error;
    }
  }, LIMIT_MS);

describe('PostgreSQL away', () => {
  test.each(['stop', 'killNow'] as const)(
    'after %s everything is StoreUnavailable, and goes on when it is back',
    async (end) => {
      await withStore(async (store) => {
        const ref = await startedRun(store);
        await Promise.all([store.ping(), store.ping(), store.ping()]);
        const { port, process: watched } = server;
        if (end === 'stop') await server.stop();
        else server.killNow();
        expect(await waitFor(() => Promise.resolve(watched.hasExited()), LIMIT_MS)).toBe(true);

        const failures = [store.ping(), store.runs.get(ref), store.journal.carry({ ref, events: [event(1)] })];
        for (const failure of await Promise.allSettled(failures)) {
          expect(failure).toMatchObject({
            status: 'rejected',
            reason: { code: 'store.unavailable', isRetryable: true },
          });
        }

        server = await start(port);
        expect(await answers(store)).toBe(true);
        await store.journal.carry({ ref, events: [event(1, { to: 'WAITING_TOOL' })] });
        expect(await store.runs.get(ref)).toMatchObject({ state: 'WAITING_TOOL', seq: 1 });
      });
    },
  );

  test('a transaction whose connection is ended does nothing, and the next one has another connection', async () => {
    await withSession(async (session) => {
      const store = createPostgresStore({ url: server.url });
      const ref = await startedRun(store);
      const cut = session.transact(async (trx) => {
        await sql`update runs set step = 99 where run = ${ref.run}`.execute(trx);
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
        await sql`select pg_terminate_backend(${rows[0]?.pid}::integer)`.execute(session.db);
        await sql`select 1`.execute(trx);
      });
      await expect(cut).rejects.toBeInstanceOf(StoreUnavailable);
      expect(await store.runs.get(ref)).toMatchObject({ step: 0 });
      await session.transact((trx) => sql`select 1`.execute(trx));
      await store.close();
    });
  });

  test('a process that pauses inside a transaction loses its lock and the transaction', async () => {
    const paused = connect({ url: server.url, idleTransactionTimeoutMs: 300 });
    await withStore(async (store) => {
      const ref = await startedRun(store);
      const locked = gate();
      const pause = gate();
      const late = paused.transact(async (trx) => {
        await sql`update runs set step = 99 where run = ${ref.run}`.execute(trx);
        locked.open();
        await pause.opened;
        await sql`update runs set step = 100 where run = ${ref.run}`.execute(trx);
      });
      const refused = expect(late).rejects.toBeInstanceOf(StoreUnavailable);
      await locked.opened;
      await store.journal.carry({ ref, events: [event(1, { to: 'WAITING_TOOL' })] });
      pause.open();
      await refused;
      expect(await store.runs.get(ref)).toMatchObject({ state: 'WAITING_TOOL', step: 0 });
    });
    await paused.db.destroy();
  });

  test('a server that does not answer is given up after the time for a statement', async () => {
    await withStore(
      async (store) => {
        await store.ping();
        server.freeze();
        try {
          await expect(store.ping()).rejects.toBeInstanceOf(StoreUnavailable);
        } finally {
          server.thaw();
        }
        expect(await answers(store)).toBe(true);
      },
      { statementTimeoutMs: 300, poolSize: 1 },
    );
  });

  test('a statement that takes too long is ended by the server', async () => {
    const session = connect({ url: server.url, statementTimeoutMs: 200 });
    const slow = sql`select pg_sleep(${30})`.execute(session.db);
    await expect(slow).rejects.toBeInstanceOf(StoreUnavailable);
    await sql`select 1`.execute(session.db);
    await session.db.destroy();
  });

  test('nobody listening is StoreUnavailable as well; a wrong password is not', async () => {
    const url = new URL(server.url);
    url.port = '1';
    const nobody = createPostgresStore({ url: url.href });
    await expect(nobody.ping()).rejects.toBeInstanceOf(StoreUnavailable);
    await nobody.close();
    const wrong = new URL(server.url);
    wrong.password = 'wrong';
    const store = createPostgresStore({ url: wrong.href });
    await expect(store.ping()).rejects.toMatchObject({ code: '28P01' });
    await store.close();
  });
});

describe('transactions', () => {
  test('that lock each other out are run again until both are done', async () => {
    await withSession(async (session) => {
      const lock = (order: readonly [number, number]) => {
        let tries = 0;
        return session.transact(async (trx) => {
          tries += 1;
          await sql`select pg_advisory_xact_lock(${order[0]}::bigint)`.execute(trx);
          if (tries === 1) await bothHoldOne();
          await sql`select pg_advisory_xact_lock(${order[1]}::bigint)`.execute(trx);
          return tries;
        });
      };
      let holders = 0;
      const both = gate();
      const bothHoldOne = async (): Promise<void> => {
        holders += 1;
        if (holders === 2) both.open();
        await both.opened;
      };
      const tries = await Promise.all([lock([1, 2]), lock([2, 1])]);
      expect([...tries].sort()).toEqual([1, 2]);
    });
  });

  test('that can never be serialized end with the database’s error', async () => {
    await withSession(async (session) => {
      let tries = 0;
      const hopeless = session.transact(async (trx) => {
        tries += 1;
        await sql`do 'begin raise exception using errcode = 40001::text; end'`.execute(trx);
      });
      await expect(hopeless).rejects.toMatchObject({ code: '40001' });
      expect(tries).toBe(5);
    });
  });

  test('a table that gained a column: prepared statements are prepared anew', async () => {
    await withStore(
      async (store) => {
        const ref = await startedRun(store);
        await store.runs.get(ref);
        await withSession(async (session) => {
          await sql`alter table runs add column later text`.execute(session.db);
        });
        const read = await waitFor(async () => {
          try {
            return (await store.runs.get(ref)) !== undefined;
          } catch (error) {
            if (error instanceof StoreUnavailable) return false;
            throw error;
          }
        }, LIMIT_MS);
        expect(read).toBe(true);
        await withSession(async (session) => {
          await sql`alter table runs drop column later`.execute(session.db);
        });
      },
      { poolSize: 2 },
    );
  });
});
