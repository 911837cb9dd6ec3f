/** Continue-as-new: a run outlives its executions, and nothing is lost between two of them. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { temporal } from '@temporalio/proto';
import type { RunRow } from '../../../store/rows';
import { SIGNALS } from '../../../workflows/contract/messages';
import { effectsOf } from '../../support/scenario/effects';
import { readExecutions, type Execution } from '../../support/scenario/histories';
import { createLongScript } from '../../support/scenario/long-script';
import { createPeople, type People } from '../../support/scenario/people';
import { setStage, type Stage } from '../../support/scenario/stage';

/** About three steps of reads. */
const FEW_EVENTS = 30;
const AGENTS = join(__dirname, '..', '..', 'support', 'scenario', 'long-agents.ts');
const ALICE = { tenant: 'acme', subject: 'alice', roles: ['agent-operator'] };

let stage: Stage;
let people: People;
const open = async (continueAfterEvents?: number): Promise<void> => {
  stage = await setStage({
    script: createLongScript(),
    isWorkerStarted: false,
    ...(continueAfterEvents === undefined ? {} : { continueAfterEvents }),
  });
  await stage.startWorker({ agents: AGENTS });
};
const startReader = (reads: number): Promise<RunRow> =>
  stage.start({ agent: 'reader', goal: `Read on. reads=${String(reads)}`, data: { reads } });
const amend = async (run: RunRow, id: string): Promise<number> => {
  const message = { id, kind: 'amend', text: `note ${id}: go on as before.` };
  return (await stage.runs.message(ALICE, run.ref.run, message)).planVersion ?? 0;
};
/** Newest plan that the run has taken up. */
const adoptedOf = async (run: RunRow): Promise<number> => {
  const events = await stage.store.journal.machineEvents(run.ref);
  return Math.max(
    1,
    ...events.filter(({ rule }) => rule !== 'ignored').map(({ cause }) => Number(cause['planVersion'] ?? 1)),
  );
};
const executionsOf = (run: RunRow): Promise<readonly Execution[]> => readExecutions(stage.temporal, run.ref.run);

describe('every three steps', () => {
  beforeAll(async () => {
    await open(FEW_EVENTS);
    people = await createPeople(stage);
  });
  afterEach(() => stage.checkAndReset());
  afterAll(() => stage.close());

  test('a run goes on in further executions to the same end', async () => {
    const run = await stage.start();

    const row = await stage.end(run);

    expect(row).toMatchObject({ terminal: 'SUCCEEDED', reason: 'finish.done' });
    expect(await effectsOf(stage)).toMatchObject([{ kind: 'reassign', args: { team: 'payments-oncall' } }]);
    const executions = await executionsOf(run);
    expect(executions.length).toBeGreaterThan(1);
    const started = executions.map(({ history }) => history.events?.[0]?.workflowExecutionStartedEventAttributes);
    expect(started.map((attributes) => Number(attributes?.workflowTaskTimeout?.seconds))).toEqual(
      executions.map(() => 3),
    );
  });

  test('E2: one ledger across a wait, another worker, and further executions', async () => {
    const run = await stage.start({ agent: 'tickets-approval' });
    const wait = await people.asked(run, 'approval');
    // Signals about nothing lengthen its history until it goes on in a new one, where it listens again.
    const handle = stage.temporal.workflow.getHandle(run.ref.run);
    for (let index = 0; index < 10; index += 1) await handle.signal(SIGNALS.message);
    await stage.until(
      () => executionsOf(run),
      (executions) => executions.length > 1,
    );
    const worker = await stage.startWorker({ agents: AGENTS });
    await stage.workers[0]?.kill();
    await people.answer(wait, { decision: 'approve' });

    const row = await stage.end(run, 60_000);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(worker.pid).toBeGreaterThan(0);
    expect(await effectsOf(stage)).toHaveLength(1);
    const { attempts, totals } = await stage.runs.details(stage.tenant, run.ref.run);
    expect(totals).toMatchObject({ attempts: attempts.length, estimatedTokens: 0 });
    expect(totals.inputTokens).toBe(attempts.reduce((sum, { usage }) => sum + usage.inputTokens, 0));
  });

  test('R92: a budget of steps is spent at the same step, however often the run goes on anew', async () => {
    const run = await stage.start({ agent: 'reader', goal: 'reads=50', data: { reads: 50 }, limits: { maxSteps: 12 } });

    const row = await stage.end(run, 60_000);

    expect(row).toMatchObject({ terminal: 'BUDGET_EXHAUSTED', reason: 'budget.steps' });
    expect((await stage.runs.details(stage.tenant, run.ref.run)).totals.steps).toBe(12);
    expect((await executionsOf(run)).length).toBeGreaterThan(2);
  });

  test('R54: whatever is acknowledged around a boundary is taken up, or the run had ended', async () => {
    const seed = Date.now() % 1_000_000;
    const random = randomOf(seed);
    const runs = await Promise.all(Array.from({ length: 5 }, () => startReader(20)));

    const ends = await Promise.all(
      runs.map(async (run, index) => {
        const asked = await disturb(run, { random, isCancelled: index % 2 === 1 });
        return { asked, row: await stage.end(run, 90_000) };
      }),
    );

    for (const [index, { asked, row }] of ends.entries()) {
      const about = { seed, index, terminal: row.terminal };
      if (asked.isCancelAccepted) expect(about).toEqual({ seed, index, terminal: 'CANCELLED' });
      else expect(about).toEqual({ seed, index, terminal: 'SUCCEEDED' });
      expect({ seed, index, plan: row.planVersion }).toEqual({ seed, index, plan: 1 + asked.accepted });
      if (row.terminal === 'SUCCEEDED')
        expect({ seed, index, adopted: await adoptedOf(row) }).toEqual({ seed, index, adopted: row.planVersion });
    }
    const counts = await Promise.all(runs.map(async (run) => (await executionsOf(run)).length));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(2 * runs.length);
  }, 180_000);
});

describe('by itself', () => {
  beforeAll(async () => {
    await open();
    people = await createPeople(stage);
  });
  afterEach(() => stage.checkAndReset());
  afterAll(() => stage.close());

  test('3,000 signals to a run that waits leave it waiting, with a short history, and its answer counts', async () => {
    const run = await stage.start({ agent: 'tickets-approval' });
    const wait = await people.asked(run, 'approval');
    const handle = stage.temporal.workflow.getHandle(run.ref.run);
    for (let batch = 0; batch < 60; batch += 1) {
      await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          index % 2 === 0 ? handle.signal(SIGNALS.message) : handle.signal(SIGNALS.respond, { wait: wait.wait }),
        ),
      );
    }
    await people.answer(wait, { decision: 'approve' });

    const row = await stage.end(run, 90_000);

    expect(row.terminal).toBe('SUCCEEDED');
    const executions = await executionsOf(run);
    const lengths = executions.map(({ history }) => history.events?.length ?? 0);
    expect(executions.length).toBeGreaterThan(3);
    expect(Math.max(...lengths)).toBeLessThan(2_500);
  }, 180_000);

  test('E6: 400 steps with messages all the while, nothing lost, and step 400 costs what step 5 costs', async () => {
    const STEPS = 400;
    const MESSAGES = 20;
    const run = await startReader(STEPS);
    for (let sent = 1; sent <= MESSAGES; sent += 1) {
      await stage.until(
        () => stage.runs.get(stage.tenant, run.ref.run),
        ({ step }) => step >= sent * 15,
        120_000,
      );
      await amend(run, `m${String(sent)}`);
    }

    const row = await stage.end(run, 300_000);

    expect(row).toMatchObject({ terminal: 'SUCCEEDED', planVersion: 1 + MESSAGES });
    expect(row.step).toBeGreaterThanOrEqual(STEPS);
    expect(await adoptedOf(run)).toBe(row.planVersion);
    const said = stage.model.requests.map(({ body }) => body).join('\n');
    for (let sent = 1; sent <= MESSAGES; sent += 1) expect(said).toContain(`note m${String(sent)}:`);

    const executions = await executionsOf(run);
    expect(executions.length).toBeGreaterThan(1);
    const steps = executions.flatMap(({ history }) => costsOf(history.events ?? []));
    const early = medianOf(steps.slice(3, 15));
    const late = medianOf(steps.slice(-25, -5));
    expect(late.events).toBeLessThanOrEqual(early.events);
    // Numbers have more digits at the end.
    expect(late.bytes).toBeLessThan(early.bytes * 1.1);
  }, 600_000);
});

interface Cost {
  readonly events: number;
  readonly bytes: number;
}

const { HistoryEvent } = temporal.api.history.v1;

/** From one attempt to the next. What an execution begins and ends with is left out. */
const costsOf = (events: readonly temporal.api.history.v1.IHistoryEvent[]): readonly Cost[] => {
  const starts = events.flatMap((event, index) =>
    event.activityTaskScheduledEventAttributes?.activityType?.name === 'runAttempt' ? [index] : [],
  );
  return starts.slice(0, -1).map((start, index) => {
    const own = events.slice(start, starts[index + 1]);
    return {
      events: own.length,
      bytes: own.reduce((sum, event) => sum + HistoryEvent.encode(event).finish().length, 0),
    };
  });
};

const medianOf = (costs: readonly Cost[]): Cost => {
  const middle = (pick: (cost: Cost) => number): number =>
    costs.map(pick).sort((one, other) => one - other)[Math.floor(costs.length / 2)] ?? 0;
  return { events: middle(({ events }) => events), bytes: middle(({ bytes }) => bytes) };
};

/** Small, and the same for the same seed. */
const randomOf = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
};

interface Disturbance {
  readonly random: () => number;
  readonly isCancelled: boolean;
}

const REFUSED: ReadonlySet<unknown> = new Set(['run.ended', 'run.ending']);

/** Messages at random moments, a cancel at last for some. What the run refuses, since it has ended or is about to, does not count. */
const disturb = async (run: RunRow, { random, isCancelled }: Disturbance) => {
  let accepted = 0;
  const attempt = async (work: () => Promise<unknown>): Promise<boolean> => {
    // A random moment is what this is about.
    await delay(Math.floor(random() * 400));
    try {
      await work();
      return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error && REFUSED.has(error.code)) return false;
      throw error;
    }
  };
  for (let sent = 0; sent < 6; sent += 1) {
    if (await attempt(() => amend(run, `${run.ref.run}-${String(sent)}`))) accepted += 1;
  }
  const isCancelAccepted = isCancelled && (await attempt(() => stage.runs.cancel(stage.tenant, run.ref.run)));
  return { accepted, isCancelAccepted };
};
