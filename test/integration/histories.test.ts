/**
 * One run of every kind, whose histories replay as the server has them. `npm run capture:histories` keeps them as fixtures of
 * this release: do so once per release, and whenever workflow code changes what it asks for.
 */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { RunRow } from '../../store/rows';
import { SIGNALS } from '../../workflows/contract/messages';
import { isTerminal, type State } from '../../workflows/machine/states';
import { keepHistories } from '../support/scenario/fixtures';
import { readExecutions } from '../support/scenario/histories';
import { createPeople, type People } from '../support/scenario/people';
import { setStage, type Stage } from '../support/scenario/stage';

let stage: Stage;
let people: People;
beforeAll(async () => {
  stage = await setStage();
  people = await createPeople(stage);
});
afterEach(() => stage.checkAndReset());
// The stage replays the histories of all its runs.
afterAll(() => stage.close());

const isKept = process.env['HOLDFAST_CAPTURE_HISTORIES'] === '1';

const keep = async (scenario: string, run: RunRow): Promise<void> => {
  const executions = await readExecutions(stage.temporal, run.ref.run);
  expect(executions.length).toBeGreaterThan(0);
  if (isKept) keepHistories(scenario, executions);
};

const until = (run: RunRow, state: State): Promise<RunRow> =>
  stage.until(
    () => stage.runs.get(stage.tenant, run.ref.run),
    (row) => row.state === state,
    40_000,
  );

/** The run waits, and its last workflow task is over. */
const untilParked = async (run: RunRow, state: State): Promise<void> => {
  await until(run, state);
  await stage.until(
    () => stage.temporal.workflow.getHandle(run.ref.run).describe(),
    ({ raw }) => (raw.pendingActivities ?? []).length === 0 && raw.pendingWorkflowTask === null,
    40_000,
  );
};

const endOf = async (scenario: string, run: RunRow, terminal = 'SUCCEEDED'): Promise<void> => {
  const row = await stage.end(run, 60_000);
  expect({ scenario, terminal: row.terminal }).toEqual({ scenario, terminal });
  await stage.temporal.workflow.getHandle(run.ref.run).result();
  await keep(scenario, run);
};

test('as it should go', async () => {
  await endOf('walk-through', await stage.start());
});

test('waiting for an approval, then approved before its expiry', async () => {
  const run = await stage.start({ agent: 'tickets-approval' });
  await untilParked(run, 'WAITING_USER');
  await keep('approval-waiting', run);
  await people.answer(await people.asked(run, 'approval'), { decision: 'approve' });
  await endOf('approval-given', run);
});

test('an approval that nobody gives in time', async () => {
  await endOf('approval-expired', await stage.start({ agent: 'tickets-approval-tell' }), 'FAILED');
});

test('a question, answered', async () => {
  const run = await stage.start({ goal: 'Reassign my ticket by the on-call rules and explain it.', data: {} });
  await people.answer(await people.asked(run, 'question'), { ticket: 'T100' });
  await endOf('question-answered', run);
});

test('a job that is waited for, then done', async () => {
  await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'accept-job', runMs: 3_000 } });
  const run = await stage.start();
  await untilParked(run, 'WAITING_TOOL');
  await keep('job-waiting', run);
  await endOf('job-done', run);
});

test('a lost receipt', async () => {
  await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });
  await endOf('receipt-lost', await stage.start());
});

test('a write that is waited for in the middle of a batch', async () => {
  await stage.desk.addFault({ match: { route: 'comment' }, fault: { kind: 'status', status: 429, retryAfter: 4 } });
  const run = await stage.start({ data: { ticket: 'T100', persona: 'two-writes' } });
  await untilParked(run, 'WAITING_TOOL');
  await keep('batch-waiting', run);
  await stage.end(run, 60_000);
  await stage.temporal.workflow.getHandle(run.ref.run).result();
  await keep('batch-done', run);
});

test('a model that fails and is asked again', async () => {
  stage.model.addFault({ fromRequest: 2, fault: { kind: 'cut', at: { point: 'mid-block', block: 0 } } });
  await endOf('stream-cut', await stage.start());
});

test('a loop that is diagnosed', async () => {
  await endOf('loop-diagnosed', await stage.start({ data: { ticket: 'T100', persona: 'repeats-query' } }), 'FAILED');
});

test('a message, then a cancel', async () => {
  const run = await stage.start({ agent: 'tickets-approval' });
  const wait = await people.asked(run, 'approval');
  await stage.runs.message(people.alice, run.ref.run, { id: 'm1', kind: 'amend', text: 'Be polite in the comment.' });
  await people.asked(run, 'approval', [wait.wait]);
  await stage.runs.cancel(stage.tenant, run.ref.run);
  await endOf('amended-cancelled', run, 'CANCELLED');
});

test('a worker that dies between the effect and its record', async () => {
  await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-hold', delayMs: 10_000 } });
  const run = await stage.start();
  await stage.until(
    () => stage.desk.effects(),
    (effects) => effects.length === 1,
  );
  await stage.workers[0]?.kill();
  await stage.startWorker();
  await endOf('worker-lost', run);
});

test('further executions', async () => {
  const long = await setStage({ continueAfterEvents: 30 });
  try {
    const asked = await createPeople(long);
    const run = await long.start({ agent: 'tickets-approval' });
    const wait = await asked.asked(run, 'approval');
    const handle = long.temporal.workflow.getHandle(run.ref.run);
    for (let index = 0; index < 10; index += 1) await handle.signal(SIGNALS.message);
    await asked.answer(wait, { decision: 'approve' });
    const row = await long.end(run, 60_000);
    expect(row.terminal !== undefined && isTerminal(row.terminal)).toBe(true);
    await handle.result();
    const executions = await readExecutions(long.temporal, run.ref.run);
    expect(executions.length).toBeGreaterThan(2);
    if (isKept) keepHistories('continued', executions);
    await long.checkAndReset();
  } finally {
    await long.close();
  }
});
