/**
 * E3: cancel at every point, by the client and natively by the engine. Whatever the point: nothing is sent after it, what was
 * done is recorded as it was, and what cannot be proved is said to be unknown.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { OperationRow, RunRow } from '../../../store/rows';
import { effectsOf, sendsOf, type Seen } from '../../support/scenario/effects';
import { setStage, type Stage, type StageTask } from '../../support/scenario/stage';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

const REASSIGNED: Seen = { kind: 'reassign', ticket: 'T100', args: { team: 'payments-oncall' } };

const SOURCES = ['client', 'engine'] as const;
type Source = (typeof SOURCES)[number];
const REASONS: Readonly<Record<Source, string>> = { client: 'cancelled.signal', engine: 'cancelled.engine' };

const cancel = async (run: RunRow, source: Source): Promise<void> => {
  if (source === 'client') await stage.runs.cancel(stage.tenant, run.ref.run);
  else await stage.temporal.workflow.getHandle(run.ref.run).cancel();
};

const writesOf = async (run: RunRow): Promise<readonly OperationRow[]> =>
  (await stage.store.operations.list(run.ref)).filter(({ effect }) => effect === 'write');

const writeIn = (run: RunRow, state: OperationRow['state']): Promise<readonly OperationRow[]> =>
  stage.until(
    () => writesOf(run),
    ([first]) => first?.state === state,
  );

const stateIs = (run: RunRow, state: RunRow['state']): Promise<RunRow> =>
  stage.until(
    () => stage.runs.get(stage.tenant, run.ref.run),
    (row) => row.state === state,
  );

/** Everything that leaves the machine, before and after. */
const countOf = async (): Promise<{ readonly model: number; readonly writes: number }> => ({
  model: stage.model.requests.length,
  writes: (await stage.desk.requests()).filter(({ method, path }) => method === 'POST' && !path.endsWith('/cancel'))
    .length,
});

interface Point {
  readonly name: string;
  readonly task?: Partial<StageTask>;
  /** Faults that keep the run at this point for long enough. */
  readonly hold?: () => unknown;
  readonly reach: (run: RunRow) => Promise<unknown>;
  /**
   * A local activity keeps its workflow task, and with it the engine's word, for as long as it works: until then a run goes on.
   * What the client asks for is in the database before it is acknowledged.
   */
  readonly isInTask?: true;
}

/** Where nothing is under way that could have an effect: CANCELLED, and no effect at all. */
const HARMLESS: readonly Point[] = [
  {
    name: 'in the back-off after the provider failed',
    hold: () => stage.model.addFault({ times: 'always', fault: { kind: 'status', status: 529 } }),
    reach: () =>
      stage.until(
        () => Promise.resolve(stage.model.requests.length),
        (count) => count >= 2,
      ),
  },
  {
    name: 'while the model streams',
    hold: () => stage.model.addFault({ fromRequest: 2, fault: { kind: 'slow', delayMsPerEvent: 1_000 } }),
    reach: () =>
      stage.until(
        () => Promise.resolve(stage.model.requests.length),
        (count) => count >= 2,
      ),
  },
  {
    name: 'while the model says nothing',
    hold: () => stage.model.addFault({ fromRequest: 1, fault: { kind: 'stall' } }),
    // The state comes first: the attempt is opened before its request leaves.
    reach: () =>
      stage.until(
        () => Promise.resolve(stage.model.requests.length),
        (count) => count >= 1,
      ),
  },
  {
    name: 'while a read runs',
    hold: () =>
      stage.desk.addFault({ match: { route: 'get_ticket' }, times: 'always', fault: { kind: 'slow', delayMs: 3_000 } }),
    reach: () =>
      stage.until(
        () => stage.desk.requests(),
        (requests) => requests.length > 0,
      ),
    isInTask: true,
  },
  {
    name: 'while an operation waits to be sent again',
    hold: () =>
      stage.desk.addFault({
        match: { route: 'reassign' },
        times: 'always',
        fault: { kind: 'status', status: 429, retryAfter: 20 },
      }),
    reach: (run) => writeIn(run, 'NOT_EXECUTED'),
  },
  {
    name: 'while an approval is asked for',
    task: { agent: 'tickets-approval' },
    reach: (run) => stateIs(run, 'WAITING_USER'),
  },
  {
    name: 'while a question is asked',
    task: { goal: 'Reassign the ticket.', data: {} },
    reach: (run) => stateIs(run, 'WAITING_USER'),
  },
];

describe.each(SOURCES)('E3, R118: cancelled by the %s', (source) => {
  test.each(HARMLESS)('$name', async ({ task, hold, reach, isInTask }) => {
    await hold?.();
    const run = await stage.start(task);
    await reach(run);
    const before = await countOf();

    await cancel(run, source);
    const row = await stage.end(run, 15_000);

    expect(row).toMatchObject({ terminal: 'CANCELLED', reason: REASONS[source] });
    expect(await effectsOf(stage)).toEqual([]);
    const after = await countOf();
    expect(after.writes).toBe(before.writes);
    expect(after.model).toBeLessThanOrEqual(before.model + (isInTask === true && source === 'engine' ? 1 : 0));
    const result = await stage.runs.result(stage.tenant, run.ref.run);
    // What was spent is kept.
    expect(result?.ledger.attempts).toBe(stage.model.requests.length);
    const waits = await stage.store.waits.list(run.ref.tenant, { run: run.ref.run, limit: 9 });
    expect(waits.filter(({ state }) => state !== 'VOID')).toEqual([]);
    await expect(stage.runs.cancel(stage.tenant, run.ref.run)).rejects.toMatchObject({ code: 'run.ended' });
    expect(await stage.runs.get(stage.tenant, run.ref.run)).toEqual(row);
  });

  test('R116: between two writes of one candidate: the first keeps its outcome, the second is never sent', async () => {
    await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'hold-then-apply', delayMs: 1_500 } });

    const run = await stage.start({ data: { ticket: 'T100', persona: 'two-writes' } });
    await stage.until(
      () => sendsOf(stage, 'reassign'),
      (sends) => sends === 1,
    );
    await cancel(run, source);
    const row = await stage.end(run);

    expect(row.terminal).toBe('CANCELLED');
    expect((await writesOf(run)).map(({ tool, state, generation }) => [tool, state, generation])).toEqual([
      ['reassign_ticket', 'SUCCEEDED', 1],
      ['add_comment', 'CANCELLED', 0],
    ]);
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await sendsOf(stage, 'comments')).toBe(0);
  });

  test('R115: a request that is under way is waited for, and its true outcome stands', async () => {
    await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'hold-then-apply', delayMs: 2_000 } });

    const run = await stage.start();
    await stage.until(
      () => sendsOf(stage, 'reassign'),
      (sends) => sends === 1,
    );
    await cancel(run, source);
    const effects = await stage.until(
      () => effectsOf(stage),
      (found) => found.length > 0,
    );
    const row = await stage.end(run);

    expect(effects).toEqual([REASSIGNED]);
    expect(row.terminal).toBe('CANCELLED');
    const at = Date.parse((await stage.desk.effects())[0]?.at ?? '');
    expect(row.endedAt).toBeGreaterThanOrEqual(at);
    expect(await writesOf(run)).toMatchObject([{ state: 'SUCCEEDED' }]);
    const result = await stage.runs.result(stage.tenant, run.ref.run);
    expect(result?.operations.find(({ effect }) => effect === 'write')).toMatchObject({ state: 'SUCCEEDED' });
    expect(result?.answer).toMatch(/Done:\n- reassign_ticket/);
  });

  test('while a job runs that can be cancelled: it is, by its own status and not by the answer to the wish', async () => {
    await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'accept-job', manual: true } });

    const run = await stage.start();
    await writeIn(run, 'ACCEPTED');
    await cancel(run, source);
    const row = await stage.end(run);

    expect(row.terminal).toBe('CANCELLED');
    expect(await writesOf(run)).toMatchObject([{ state: 'CANCELLED' }]);
    expect(await stage.desk.jobs()).toMatchObject([{ status: 'cancelled' }]);
    const polls = (await stage.desk.requests()).filter(
      ({ method, path }) => method === 'GET' && path.includes('/jobs/'),
    );
    expect(polls.length).toBeGreaterThan(0);
    expect(await effectsOf(stage)).toEqual([]);
  });

  test('while a job runs that cannot be cancelled: CANCEL_UNKNOWN, followed by a resolution', async () => {
    await stage.desk.addFault({
      match: { route: 'reassign' },
      fault: { kind: 'accept-job', manual: true, cancellable: false },
    });

    const run = await stage.start({ agent: 'tickets-brief' });
    await writeIn(run, 'ACCEPTED');
    await cancel(run, source);
    const row = await stage.end(run);
    expect(await effectsOf(stage)).toEqual([]);
    const [job] = await stage.desk.jobs();
    await stage.desk.finishJob(job?.id ?? '');
    const result = await stage.until(
      () => stage.runs.result(stage.tenant, run.ref.run),
      (found) => found?.version === 2,
    );

    expect(row.terminal).toBe('CANCEL_UNKNOWN');
    expect(result).toMatchObject({
      terminal: 'CANCEL_UNKNOWN',
      resolutions: [{ to: 'SUCCEEDED', by: { kind: 'poll' } }],
    });
    expect(await stage.runs.get(stage.tenant, run.ref.run)).toEqual(row);
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await sendsOf(stage, 'reassign')).toBe(1);
  });
});

test('a second cancel, by either, changes nothing', async () => {
  await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'hold-then-apply', delayMs: 2_000 } });

  const run = await stage.start();
  await stage.until(
    () => sendsOf(stage, 'reassign'),
    (sends) => sends === 1,
  );
  for (const source of [...SOURCES, ...SOURCES]) await cancel(run, source);
  const row = await stage.end(run);

  expect(row).toMatchObject({ terminal: 'CANCELLED', reason: REASONS.client });
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  const events = await stage.runs.events(stage.tenant, run.ref.run, { after: 0, limit: 1_000 });
  const asked = events.flatMap(({ body }) => (body['event'] === 'cancelRequested' ? [body] : []));
  expect(asked.length).toBeGreaterThan(1);
  for (const { from, to } of asked) expect(to).toBe(from);
});

describe('before the first step, while no worker is there', () => {
  test.each(SOURCES)('cancelled by the %s', async (source) => {
    const { startWorker, ...alone } = await setStage({ isWorkerStarted: false });
    try {
      const run = await alone.start();
      if (source === 'client') await alone.runs.cancel(alone.tenant, run.ref.run);
      else await alone.temporal.workflow.getHandle(run.ref.run).cancel();
      await startWorker();
      const row = await alone.end(run);

      expect(row).toMatchObject({ terminal: 'CANCELLED', reason: REASONS[source] });
      expect(alone.model.requests).toEqual([]);
      expect(await alone.desk.requests()).toEqual([]);
    } finally {
      await alone.checkAndReset();
      await alone.close();
    }
  });
});
