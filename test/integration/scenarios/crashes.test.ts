/** What dies in the middle: workers and the database. Each test has a stage of its own, whose workers it kills. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { effectsOf, sendsOf, type Seen } from '../../support/scenario/effects';
import type { OwnPostgres } from '../../support/scenario/own-postgres';
import { setStage, type Stage, type StageOptions } from '../../support/scenario/stage';

let stage: Stage;
const open = async (options: StageOptions = {}): Promise<Stage> =>
  (stage = await setStage({ isWorkerStarted: false, ...options }));
afterEach(async () => {
  await stage.checkAndReset();
  await stage.close();
});

const isOwn = (database: Stage['database']): database is OwnPostgres => 'goAway' in database;

const REASSIGNED: Seen = { kind: 'reassign', ticket: 'T100', args: { team: 'payments-oncall' } };

describe('B2: the worker dies after the desk applied and before the result was recorded', () => {
  test.each([true, false])('with the desk deduping by key: %s', async (dedupe) => {
    const { desk, startWorker, start, until, end } = await open();
    await desk.changeSettings({ dedupe });
    await desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-hold', delayMs: 10_000 } });
    const first = await startWorker();

    const run = await start();
    await until(
      () => desk.effects(),
      (effects) => effects.length === 1,
    );
    await first.kill();
    await startWorker();
    const row = await end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await sendsOf(stage, 'reassign')).toBe(1);
  });
});

test('D7: a candidate that was stored is used when its worker dies, and the model is not asked again', async () => {
  const { desk, model, startWorker, start, until, end } = await open();
  await desk.addFault({ match: { route: 'get_ticket' }, fault: { kind: 'slow', delayMs: 900 } });
  const first = await startWorker();

  const run = await start();
  // The candidate is stored; its read is under way inside the same workflow task.
  await until(
    () => desk.requests(),
    (requests) => requests.length === 1,
  );
  await first.kill();
  await startWorker();
  const row = await end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  const { attempts } = await stage.runs.details(stage.tenant, run.ref.run);
  expect(attempts.filter(({ step }) => step === 1)).toMatchObject([{ attempt: 1, state: 'STORED' }]);
  expect(model.book).toHaveLength(attempts.length);
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
});

test('C12: a cancel that arrives while the worker is dead leaves no event of the abandoned branch', async () => {
  const { desk, startWorker, start, until, end, runs } = await open();
  await desk.addFault({ match: { route: 'get_ticket' }, fault: { kind: 'slow', delayMs: 900 } });
  const first = await startWorker();

  const run = await start();
  await until(
    () => desk.requests(),
    (requests) => requests.length === 1,
  );
  await first.kill();
  await runs.cancel(stage.tenant, run.ref.run);
  await startWorker();
  const row = await end(run);

  expect(row.terminal).toBe('CANCELLED');
  expect(await effectsOf(stage)).toEqual([]);
  const { attempts } = await runs.details(stage.tenant, run.ref.run);
  expect(attempts.length).toBeLessThanOrEqual(1);
});

test('a worker that dies while the model streams is followed by a collected, then a new attempt', async () => {
  const { model, startWorker, start, end } = await open();
  model.addFault({ fault: { kind: 'slow', delayMsPerEvent: 1_000 } });
  const first = await startWorker();

  const run = await start();
  await model.whenReceived(1);
  await first.kill();
  await startWorker();
  const row = await end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  const { attempts, totals } = await stage.runs.details(stage.tenant, run.ref.run);
  expect(attempts.filter(({ step }) => step === 1).map(({ state }) => state)).toEqual(['LOST', 'STORED']);
  expect(totals.estimatedTokens).toBeGreaterThan(0);
});

test('a worker that is asked to stop hands its work over; the run is not cancelled', async () => {
  const { desk, startWorker, start, until, end } = await open();
  await desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'slow', delayMs: 1_500 } });
  const first = await startWorker();

  const run = await start();
  await until(
    () => desk.requests(),
    (requests) => requests.some(({ path }) => path.endsWith('/reassign')),
  );
  await Promise.all([first.terminate(), startWorker()]);
  const row = await end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
});

describe('B12: PostgreSQL is away', () => {
  const AWAY_MS = 15_000;
  const openWithPostgres = async (): Promise<Stage & { goAway: OwnPostgres['goAway'] }> => {
    const opened = await open({ isPostgresOwn: true });
    const { database } = opened;
    if (!isOwn(database)) throw new Error('this stage has a PostgreSQL of its own');
    return { ...opened, goAway: (forMs) => database.goAway(forMs) };
  };

  test('right after the desk applied: the reply is kept and nothing is sent again', async () => {
    const { desk, startWorker, start, until, end, goAway } = await openWithPostgres();
    await desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-hold', delayMs: 1_000 } });
    await startWorker();

    const run = await start();
    await until(
      () => desk.effects(),
      (effects) => effects.length === 1,
    );
    await goAway(AWAY_MS);
    const row = await end(run, 60_000);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await sendsOf(stage, 'reassign')).toBe(1);
  });

  test("right after the model's answer came: it is kept and not asked for again", async () => {
    const { model, startWorker, start, end, goAway } = await openWithPostgres();
    model.addFault({ fault: { kind: 'slow', delayMsPerEvent: 150 } });
    await startWorker();

    const run = await start();
    await model.whenReceived(1);
    await goAway(AWAY_MS);
    const row = await end(run, 60_000);

    expect(row.terminal).toBe('SUCCEEDED');
    const { attempts } = await stage.runs.details(stage.tenant, run.ref.run);
    expect(attempts.filter(({ step }) => step === 1)).toMatchObject([{ attempt: 1, state: 'STORED' }]);
    expect(model.book).toHaveLength(attempts.length);
  });
});
