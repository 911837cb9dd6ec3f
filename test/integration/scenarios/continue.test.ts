/** Continue-as-new: a run outlives its executions, and nothing is lost between two of them. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { effectsOf } from '../../support/scenario/effects';
import { readExecutions } from '../../support/scenario/histories';
import { setStage, type Stage } from '../../support/scenario/stage';

/** About three steps of reads. */
const FEW_EVENTS = 30;

let stage: Stage;
beforeAll(async () => {
  stage = await setStage({ continueAfterEvents: FEW_EVENTS });
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

test('a run goes on in further executions to the same end', async () => {
  const run = await stage.start();

  const row = await stage.end(run);

  expect(row).toMatchObject({ terminal: 'SUCCEEDED', reason: 'finish.done' });
  expect(await effectsOf(stage)).toMatchObject([{ kind: 'reassign', args: { team: 'payments-oncall' } }]);
  const executions = await readExecutions(stage.temporal, run.ref.run);
  expect(executions.length).toBeGreaterThan(1);
});
