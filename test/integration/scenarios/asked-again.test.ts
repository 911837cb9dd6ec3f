/** What only a person can say, when the plan changes before they have said it: nothing is done over it, and they are asked again. */
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createScript } from '../../../examples/tickets/model-script';
import { toolUse, turn, type Script } from '../../../testing';
import { effectsOf, sendsOf } from '../../support/scenario/effects';
import { createPeople, type People } from '../../support/scenario/people';
import { setStage, type Stage } from '../../support/scenario/stage';

/** Told that an outcome is not known it comments on the ticket; told that this has to wait for it, it looks at the ticket. */
const createStubbornScript = (): Script => {
  const tickets = createScript();
  return (request) => {
    const told = JSON.stringify(request.messages.at(-1));
    if (told.includes('waitsFor')) return turn([toolUse('get_ticket', { ticket: 'T100' })]);
    if (told.includes('OUTCOME_UNKNOWN'))
      return turn([toolUse('add_comment', { ticket: 'T100', text: 'Being looked at.' })]);
    return tickets(request);
  };
};

let stage: Stage;
let people: People;
beforeAll(async () => {
  stage = await setStage({ isWorkerStarted: false, script: createStubbornScript() });
  await stage.startWorker({ agents: join(__dirname, '../../support/scenario/forgetful-agents.ts') });
  people = await createPeople(stage);
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

test('key only, and the key is forgotten: a person, also before the end; a later write on the ticket does not wait in vain', async () => {
  await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });
  const run = await stage.start({ agent: 'tickets-key-only' });
  const first = await people.asked(run, 'reconciliation');
  expect(first.plan).toMatchObject({ operations: [{ operation: first.operation, tool: 'reassign_ticket' }] });
  expect(await sendsOf(stage, 'reassign')).toBe(1);

  await stage.runs.message(people.alice, run.ref.run, { kind: 'amend', text: 'Leave a comment as well.' });
  const second = await people.asked(run, 'reconciliation', [first.wait]);

  expect(second).toMatchObject({ operation: first.operation, state: 'OPEN' });
  expect(await people.waits.get(people.bob, first.wait)).toMatchObject({ state: 'VOID' });
  const { row, operations } = await stage.runs.details(stage.tenant, run.ref.run);
  expect(row).toMatchObject({ state: 'WAITING_USER' });
  expect(row.terminal).toBeUndefined();
  const writes = operations.filter(({ effect }) => effect === 'write');
  expect(writes.map(({ tool, state, code, generation }) => [tool, state, code, generation])).toEqual([
    ['reassign_ticket', 'UNRESOLVED', 'OUTCOME_UNKNOWN', 1],
    ['add_comment', 'CANCELLED', 'OUTCOME_UNKNOWN', 0],
  ]);
  const rules = (await stage.runs.events(stage.tenant, run.ref.run, { after: 0, limit: 500 })).map(
    ({ body }) => body['rule'],
  );
  expect(rules).toContain('end.reconciliation_required');

  await people.answer(second, { state: 'SUCCEEDED', why: 'the audit log of the desk shows it' });
  const ended = await stage.end(run);

  expect(ended.terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toEqual([{ kind: 'reassign', ticket: 'T100', args: { team: 'payments-oncall' } }]);
  expect(await sendsOf(stage, 'reassign')).toBe(1);
  expect(await sendsOf(stage, 'comments')).toBe(0);
  const after = (await stage.runs.details(stage.tenant, run.ref.run)).operations;
  expect(after.find(({ id }) => id === first.operation)).toMatchObject({ state: 'SUCCEEDED' });
});
