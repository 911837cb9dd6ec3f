/** Without a cache every workflow task replays the run from its start: what is not deterministic shows at once. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { effectsOf, type Seen } from '../../support/scenario/effects';
import { createPeople } from '../../support/scenario/people';
import { setStage, type Stage } from '../../support/scenario/stage';

const REASSIGNED: Seen = { kind: 'reassign', ticket: 'T100', args: { team: 'payments-oncall' } };

let stage: Stage;
beforeAll(async () => {
  stage = await setStage({ maxCachedWorkflows: 0 });
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

test('A1: the walk-through', async () => {
  const run = await stage.start();

  expect(await stage.end(run)).toMatchObject({ terminal: 'SUCCEEDED' });
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
});

test('R108: each transition is written once, and logged once', async () => {
  const run = await stage.start();
  await stage.end(run);

  const events = await stage.store.journal.machineEvents(run.ref);
  const read = (): Promise<readonly unknown[]> =>
    Promise.resolve(
      stage
        .workerLog()
        .filter((line) => line['msg'] === 'transition' && line['run'] === run.ref.run)
        .map((line) => line['seq']),
    );
  // Lines are written a moment later than what they tell of.
  const logged = await stage.until(read, (seqs) => seqs.includes(events.at(-1)?.seq));

  expect(logged).toEqual(events.map(({ seq }) => seq));
});

test('A2: an approval', async () => {
  const people = await createPeople(stage);
  const run = await stage.start({ agent: 'tickets-approval' });
  await people.answer(await people.asked(run, 'approval'), { decision: 'approve' });

  expect(await stage.end(run)).toMatchObject({ terminal: 'SUCCEEDED' });
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
});

test('A5: a lost receipt', async () => {
  await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });
  const run = await stage.start();

  expect(await stage.end(run)).toMatchObject({ terminal: 'SUCCEEDED' });
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
});

test('a cancel', async () => {
  const run = await stage.start({ agent: 'tickets-approval' });
  await stage.until(
    () => stage.runs.get(stage.tenant, run.ref.run),
    ({ state }) => state === 'WAITING_USER',
  );
  await stage.runs.cancel(stage.tenant, run.ref.run);

  expect(await stage.end(run)).toMatchObject({ terminal: 'CANCELLED' });
  expect(await effectsOf(stage)).toEqual([]);
});

test('B2: a worker that dies between the effect and its record', async () => {
  await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-hold', delayMs: 10_000 } });
  const run = await stage.start();
  await stage.until(
    () => stage.desk.effects(),
    (effects) => effects.length === 1,
  );
  await stage.workers[0]?.kill();
  await stage.startWorker();

  expect(await stage.end(run)).toMatchObject({ terminal: 'SUCCEEDED' });
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
});
