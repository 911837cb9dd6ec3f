/**
 * A judgement does ahead what the machine certainly asks for next. Where a message or a cancel arrives in that very moment,
 * the machine asks for something else: what was done ahead then counts for nothing, and nothing counts twice.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { temporal as proto } from '@temporalio/proto';
import { Client } from 'pg';
import type { RunRow } from '../../../store/rows';
import { effectsOf } from '../../support/scenario/effects';
import { setStage, type Stage } from '../../support/scenario/stage';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

const {
  EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED: SIGNALED,
  EVENT_TYPE_ACTIVITY_TASK_COMPLETED: ACTIVITY_COMPLETED,
  EVENT_TYPE_WORKFLOW_TASK_STARTED: TASK_STARTED,
} = proto.api.enums.v1.EventType;

/** A task in which the judgement still works has been told of the signal, and of the plan that it was about. */
const isTold = async (run: RunRow, { isPlan }: { readonly isPlan: boolean }): Promise<boolean> => {
  const { events } = await stage.temporal.workflow.getHandle(run.ref.run).fetchHistory();
  const types = (events ?? []).map(({ eventType }) => eventType);
  const signaled = types.indexOf(SIGNALED);
  const known = isPlan ? types.indexOf(ACTIVITY_COMPLETED, signaled) : signaled;
  return signaled !== -1 && known !== -1 && types.includes(TASK_STARTED, known);
};

interface Said {
  readonly say: () => Promise<unknown>;
  /** It changes the plan, which an activity then reads. */
  readonly isPlan: boolean;
}

/** Keeps the read's result, and with it the judgement that reads ahead, from being stored until the run knows of `say`. */
const sayMeanwhile = async (run: RunRow, { say, isPlan }: Said): Promise<void> => {
  await stage.until(
    () => stage.desk.requests(),
    (requests) => requests.length > 0,
  );
  const holder = new Client({ connectionString: stage.database.url });
  await holder.connect();
  try {
    await holder.query('begin');
    await holder.query('lock table artifacts in exclusive mode');
    await say();
    await stage.until(
      () => isTold(run, { isPlan }),
      (told) => told,
    );
    await holder.query('commit');
  } finally {
    await holder.end();
  }
};

const begin = async (): Promise<RunRow> => {
  // Long enough for the lock to come first.
  await stage.desk.addFault({ match: { route: 'get_ticket' }, fault: { kind: 'slow', delayMs: 700 } });
  return stage.start();
};

/** Each step, attempt and call is in the ledger once, and the totals are their sum. */
const checkLedger = async (run: RunRow): Promise<void> => {
  const entries = await stage.store.ledger.entries(run.ref);
  expect(new Set(entries.map(({ reference }) => reference)).size).toBe(entries.length);
  const count = (kind: string): number => entries.filter((entry) => entry.kind === kind).length;
  expect(await stage.store.ledger.totals(run.ref)).toMatchObject({
    steps: count('step'),
    attempts: count('attempt'),
    toolCalls: count('toolCall'),
  });
  expect(count('attempt')).toBe(stage.model.requests.length);
};

describe('done ahead, and then not asked for', () => {
  test('a message: the next context has it, and the one that was frozen without it is never asked about', async () => {
    const run = await begin();
    const amend = { id: 'm1', kind: 'amend', text: 'Mention the release of last night.' };
    await sayMeanwhile(run, {
      isPlan: true,
      say: () => stage.runs.message({ tenant: stage.tenant, subject: 'alice' }, run.ref.run, amend),
    });

    expect(await stage.end(run)).toMatchObject({ terminal: 'SUCCEEDED' });

    const [first, ...later] = stage.model.requests.map((request) => JSON.stringify(request));
    expect(first).not.toContain(amend.text);
    for (const request of later) expect(request).toContain(amend.text);
    await checkLedger(run);
    expect(await effectsOf(stage)).toHaveLength(1);
  });

  test('a cancel: no model is asked any more', async () => {
    const run = await begin();
    await sayMeanwhile(run, { isPlan: false, say: () => stage.runs.cancel(stage.tenant, run.ref.run) });

    expect(await stage.end(run)).toMatchObject({ terminal: 'CANCELLED' });

    expect(stage.model.requests).toHaveLength(1);
    await checkLedger(run);
    expect(await effectsOf(stage)).toEqual([]);
  });
});
