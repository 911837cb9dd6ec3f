/** Waiting for people: what they are asked, what their answers do, and what is refused. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { effectsOf, sendsOf, type Seen } from '../../support/scenario/effects';
import { createPeople, type People } from '../../support/scenario/people';
import { setStage, type Stage } from '../../support/scenario/stage';

let stage: Stage;
let people: People;
beforeAll(async () => {
  stage = await setStage();
  people = await createPeople(stage);
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

const REASSIGNED: Seen = { kind: 'reassign', ticket: 'T100', args: { team: 'payments-oncall' } };
const ACCEPTED = { verdict: { kind: 'accepted' } };
const refusedAs = (code: string) => ({ verdict: { kind: 'refused', code } });

const journalOf = async (run: { readonly ref: { readonly run: string } }) =>
  (await stage.runs.events(stage.tenant, run.ref.run, { after: 0, limit: 500 })).map(({ body, eventId }) => ({
    ...body,
    eventId,
  }));

describe('A2: a person decides about the write', () => {
  test('nothing is sent before; what is shown is the whole plan; approved it is done once', async () => {
    const run = await stage.start({ agent: 'tickets-approval' });

    const wait = await people.asked(run, 'approval');

    expect(await stage.runs.get(stage.tenant, run.ref.run)).toMatchObject({ state: 'WAITING_USER' });
    expect(wait).toMatchObject({ requester: 'alice', mayRespond: true, responses: [] });
    expect(wait.plan).toMatchObject({
      kind: 'plan',
      isComplete: true,
      operations: [
        {
          operation: wait.operation,
          tool: 'reassign_ticket',
          risk: 'medium',
          target: 'ticket:T100',
          expectedVersion: '3',
          arguments: { ticket: 'T100', team: 'payments-oncall' },
        },
      ],
    });
    expect(await sendsOf(stage, 'reassign')).toBe(0);

    expect(await people.answer(wait, { decision: 'approve' })).toMatchObject({ ...ACCEPTED, isSignalled: true });
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await journalOf(run)).toContainEqual(
      expect.objectContaining({ kind: 'response', subject: 'bob', verdict: 'accepted', wait: wait.wait }),
    );
  });

  test('denied, nothing is done, and the answer says so', async () => {
    const run = await stage.start({ agent: 'tickets-approval' });

    await people.answer(await people.asked(run, 'approval'), { decision: 'deny', reason: 'not before the release' });
    const row = await stage.end(run);

    expect(row).toMatchObject({ terminal: 'FAILED', reason: 'blocked.denied' });
    expect((await stage.runs.result(stage.tenant, run.ref.run))?.answer).toContain('not before the release');
    expect(await sendsOf(stage, 'reassign')).toBe(0);
    expect(await effectsOf(stage)).toEqual([]);
  });
});

test('A3: a wrong answer is refused with its field, the right one continues the same run with the same ledger', async () => {
  const run = await stage.start({ goal: 'Reassign my ticket by the on-call rules and explain it.', data: {} });
  const wait = await people.asked(run, 'question');
  const before = (await stage.runs.details(stage.tenant, run.ref.run)).totals;

  const wrong = await people.answer(wait, { ticket: 100 });
  const right = await people.answer(wait, { ticket: 'T100' });
  const row = await stage.end(run);

  expect(wait.responseSchema).toMatchObject({ properties: { ticket: { type: 'string' } }, required: ['ticket'] });
  expect(wrong).toMatchObject(refusedAs('response.invalid'));
  expect(wrong.verdict).toHaveProperty('message', expect.stringMatching(/^ticket: got 100, expected a text/));
  expect(right).toMatchObject(ACCEPTED);
  expect(row).toMatchObject({ terminal: 'SUCCEEDED', ref: run.ref });
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  const { totals, attempts } = await stage.runs.details(stage.tenant, run.ref.run);
  expect(totals.steps).toBeGreaterThan(before.steps);
  expect(totals.attempts).toBe(attempts.length);
  expect(attempts[0]?.step).toBe(1);
});

test('A10: a rejected answer is revised, and the deed is not done again', async () => {
  const run = await stage.start({ agent: 'tickets-acceptance' });
  const first = await people.asked(run, 'acceptance');
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);

  await people.answer(first, { accept: false, reason: 'Say which rule it was.' });
  const second = await people.asked(run, 'acceptance', [first.wait]);
  await people.answer(second, { accept: true });
  const row = await stage.end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  expect(await sendsOf(stage, 'reassign')).toBe(1);
  const events = (await journalOf(run)).map((line) => ('event' in line ? line.event : undefined));
  expect(events.filter((event) => event === 'acceptanceRejected')).toHaveLength(1);
  expect(stage.model.requests.at(-1)?.body).toContain('Say which rule it was.');
});

test('A11: the runtime asks which of two tickets is meant, and the answer leads to one effect', async () => {
  const run = await stage.start({ goal: 'Give the ticket "Login broken" to the right team and explain.', data: {} });
  const wait = await people.asked(run, 'question');

  expect(wait.plan).toMatchObject({ kind: 'question', askedBy: 'runtime', candidates: ['ticket:T101', 'ticket:T102'] });
  await people.answer(wait, { choice: 'ticket:T102' });
  const row = await stage.end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toEqual([{ kind: 'reassign', ticket: 'T102', args: { team: 'identity-oncall' } }]);
});

test('B5: what nobody can look up a person finds out; who and why are recorded, and the run goes on from it', async () => {
  await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });
  const run = await stage.start({ agent: 'tickets-neither' });
  const wait = await people.asked(run, 'reconciliation');

  await people.answer(wait, { state: 'SUCCEEDED', why: 'the audit log of the desk shows it' });
  const row = await stage.end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  expect(await sendsOf(stage, 'reassign')).toBe(1);
  const { waits, operations } = await stage.runs.details(stage.tenant, run.ref.run);
  expect(waits.find(({ id }) => id === wait.wait)?.response).toMatchObject({
    state: 'SUCCEEDED',
    why: 'the audit log of the desk shows it',
  });
  expect(operations.find(({ id }) => id === wait.operation)).toMatchObject({
    state: 'SUCCEEDED',
    evidence: expect.stringMatching(/^W/),
  });
  expect((await people.waits.get(people.bob, wait.wait)).responses).toMatchObject([
    { principal: { subject: 'bob' }, verdict: 'accepted' },
  ]);
});
