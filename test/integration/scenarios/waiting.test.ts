/** Waiting for people: what they are asked, what their answers do, and what is refused. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Message } from '../../../client/messages';
import type { RunRow } from '../../../store/rows';
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

const APPROVE = { decision: 'approve' };
const DENY = { decision: 'deny', reason: 'no' };

describe('C6: what is not an answer to what is asked is refused, each with its own code', () => {
  test('token of another run or none, old versions, too much, no such agent, nobody’s wait; then once, and not twice', async () => {
    const [run, other] = await Promise.all([1, 2].map(() => stage.start({ agent: 'tickets-approval' })));
    if (run === undefined || other === undefined) throw new Error('two were started');
    const [wait, foreign] = await Promise.all([people.asked(run, 'approval'), people.asked(other, 'approval')]);
    const { token, stateVersion, planVersion } = wait;
    const say = (changes: object) =>
      people.waits.respond(people.bob, wait.wait, { body: APPROVE, ...(token && { token }), ...changes });

    const codeOf = async (changes: object) => {
      const { verdict } = await say(changes);
      return verdict.kind === 'refused' ? verdict.code : verdict.kind;
    };

    expect(await codeOf({ token: foreign.token })).toBe('response.token_invalid');
    expect(await codeOf({ token: undefined })).toBe('response.token_invalid');
    expect(await codeOf({ stateVersion: stateVersion - 1 })).toBe('response.state_changed');
    expect(await codeOf({ planVersion: planVersion + 1 })).toBe('response.plan_changed');
    expect(await codeOf({ body: { ...DENY, reason: 'x'.repeat(200_000) } })).toBe('response.too_large');
    expect(await codeOf({ body: { decision: 'perhaps' } })).toBe('response.invalid');
    expect(
      (await people.without('agents').respond(people.bob, wait.wait, { body: APPROVE, ...(token && { token }) }))
        .verdict,
    ).toMatchObject({ code: 'response.agent_unknown' });
    await expect(
      people.waits.respond({ ...people.bob, tenant: 'rival' }, wait.wait, { body: APPROVE }),
    ).rejects.toMatchObject({ code: 'wait.not_found' });
    expect(await sendsOf(stage, 'reassign')).toBe(0);

    expect(await codeOf({ id: 'once', body: DENY })).toBe('accepted');
    expect(await codeOf({ id: 'once', body: DENY })).toBe('accepted');
    expect(await codeOf({ id: 'once', body: APPROVE })).toBe('response.id_taken');
    const late = await say({ body: APPROVE });
    expect(late).toMatchObject(refusedAs('response.already_decided'));
    expect(late.verdict).toHaveProperty('message', expect.stringContaining('"deny"'));
    await people.answer(foreign, DENY);
    await Promise.all([stage.end(run), stage.end(other)]);
    expect(await codeOf({ body: APPROVE })).toBe('response.run_ended');
    expect(await effectsOf(stage)).toEqual([]);
    const codes = (await journalOf(run)).flatMap((line) => ('verdict' in line ? [line.verdict] : []));
    expect(codes).toEqual(
      expect.arrayContaining(['response.token_invalid', 'response.too_large', 'response.already_decided', 'accepted']),
    );
  });

  test('after expiry: not applied, the model is told, and nothing is sent', async () => {
    const run = await stage.start({ agent: 'tickets-approval-tell' });
    const wait = await people.asked(run, 'approval');
    await stage.until(
      () => people.waits.get(people.bob, wait.wait),
      ({ state }) => state === 'EXPIRED',
    );

    const { verdict } = await people.waits.respond(people.bob, wait.wait, {
      body: APPROVE,
      ...(wait.token === undefined ? {} : { token: wait.token }),
    });
    const row = await stage.end(run);

    expect(verdict).toMatchObject({ kind: 'refused', code: 'response.expired' });
    expect(row).toMatchObject({ terminal: 'FAILED', reason: 'blocked.expired' });
    expect(await sendsOf(stage, 'reassign')).toBe(0);
  });
});

describe('C8: approved with other arguments', () => {
  test('what is sent is what was approved; both are kept, and the model is told', async () => {
    const run = await stage.start({ agent: 'tickets-approval' });
    const wait = await people.asked(run, 'approval');
    const edited = { ticket: 'T100', team: 'payments-oncall', reason: 'Bob says so.' };

    expect(await people.answer(wait, { ...APPROVE, arguments: { ...edited, team: 7 } })).toMatchObject(
      refusedAs('response.edit_invalid'),
    );
    expect(await people.answer(wait, { ...APPROVE, arguments: edited })).toMatchObject(ACCEPTED);
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    expect((await stage.desk.effects()).map(({ args }) => args)).toEqual([
      { team: 'payments-oncall', reason: 'Bob says so.' },
    ]);
    const after = await people.waits.get(people.bob, wait.wait);
    expect(after.plan).toEqual(wait.plan);
    expect(after.response).toMatchObject({ decision: 'approve', arguments: edited });
    expect(stage.model.requests.at(-1)?.body).toContain('approved by a person with other arguments');
  });

  test('the policy is asked about them, for the approver and for whoever the run works for', async () => {
    const run = await stage.start({ agent: 'tickets-approval-guarded' });
    const wait = await people.asked(run, 'approval');

    const toLegal = await people.answer(wait, { ...APPROVE, arguments: { ticket: 'T100', team: 'legal' } });

    expect(toLegal).toMatchObject(refusedAs('response.edit_not_permitted'));
    expect(toLegal.verdict).toHaveProperty('message', expect.stringContaining('never-to-legal'));
    await people.answer(wait, DENY);
    await stage.end(run);
    expect(await effectsOf(stage)).toEqual([]);
  });
});

describe('C9: messages say what they are', () => {
  const send = (run: RunRow, message: Message) => stage.runs.message(people.alice, run.ref.run, message);

  test('without a kind refused with the three that there are; amend makes the old approval void', async () => {
    const run = await stage.start({ agent: 'tickets-approval' });
    const old = await people.asked(run, 'approval');

    await expect(send(run, { id: 'm0', text: 'Do something else' })).rejects.toMatchObject({
      code: 'message.kind_unknown',
      message: expect.stringMatching(/amend.*withdraw.*new_goal/),
    });
    const sent = await send(run, { id: 'm1', kind: 'amend', text: 'Mention the release.' });
    expect(await send(run, { id: 'm1', kind: 'amend', text: 'Mention the release.' })).toMatchObject({
      planVersion: sent.planVersion,
    });
    expect(await people.answer(old, APPROVE)).toMatchObject(refusedAs('response.plan_changed'));
    const wait = await people.asked(run, 'approval', [old.wait]);
    await people.answer(wait, APPROVE);
    const row = await stage.end(run);

    expect(row).toMatchObject({ terminal: 'SUCCEEDED', planVersion: 2 });
    const effects = await stage.desk.effects();
    expect(effects).toHaveLength(1);
    expect(effects[0]?.args).toMatchObject({ reason: expect.stringContaining('Mention the release.') });
    expect(await journalOf(run)).toContainEqual(
      expect.objectContaining({ kind: 'message_refused', code: 'message.kind_unknown', subject: 'alice' }),
    );
  });

  test('withdraw takes back what an open wait asks about, and the model is told', async () => {
    const run = await stage.start({ agent: 'tickets-approval' });
    const old = await people.asked(run, 'approval');

    await send(run, { id: 'w1', kind: 'withdraw', wait: old.wait, text: 'not now' });
    await expect(send(run, { id: 'w2', kind: 'withdraw', wait: old.wait })).rejects.toMatchObject({
      code: 'message.wait_not_open',
    });
    expect(await people.answer(old, APPROVE)).toMatchObject(refusedAs('response.plan_changed'));
    const again = await people.asked(run, 'approval', [old.wait]);
    expect(stage.model.requests.at(-1)?.body).toMatch(/withdraw.*not now/);
    await people.answer(again, DENY);
    await stage.end(run);
    expect(await effectsOf(stage)).toEqual([]);
  });

  test('a new goal starts a linked run and leaves the first alone', async () => {
    const run = await stage.start({ agent: 'tickets-approval' });
    const wait = await people.asked(run, 'approval');
    const goal: Message = { id: 'g1', kind: 'new_goal', text: 'Reassign ticket T101.', data: { ticket: 'T101' } };

    const { started } = await send(run, goal);
    expect((await send(run, goal)).started?.ref).toEqual(started?.ref);
    if (started === undefined) throw new Error('nothing was started');
    expect(started).toMatchObject({ follows: run.ref.run, agent: 'tickets-approval' });
    await people.answer(await people.asked(started, 'approval'), APPROVE);
    await stage.end(started);

    expect(await effectsOf(stage)).toEqual([{ kind: 'reassign', ticket: 'T101', args: { team: 'identity-oncall' } }]);
    expect(await people.waits.get(people.bob, wait.wait)).toMatchObject({ state: 'OPEN', planVersion: 1 });
    await people.answer(wait, APPROVE);
    expect((await stage.end(run)).terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toHaveLength(2);
  });
});

test('R19: an approval of what was denied comes late, and the newer one stays open', async () => {
  const run = await stage.start({ agent: 'tickets-approval', data: { ticket: 'T100', persona: 'insists' } });
  const first = await people.asked(run, 'approval');
  await people.answer(first, DENY);
  const second = await people.asked(run, 'approval', [first.wait]);

  const late = await Promise.all([people.answer(first, APPROVE), people.answer(first, APPROVE)]);

  expect(late).toMatchObject([refusedAs('response.already_decided'), refusedAs('response.already_decided')]);
  expect(await people.waits.get(people.bob, second.wait)).toMatchObject({ state: 'OPEN' });
  await people.answer(second, DENY);
  await people.answer(await people.asked(run, 'approval', [first.wait, second.wait]), DENY);
  expect((await stage.end(run)).reason).toBe('blocked.denied');
  expect(await effectsOf(stage)).toEqual([]);
});

test('R21, R31: identical calls are decided one by one, and the model speaks again once all are', async () => {
  const run = await stage.start({ agent: 'tickets-approval', data: { ticket: 'T100', persona: 'same-comment-twice' } });
  const reassign = await people.asked(run, 'approval');
  const one = await people.asked(run, 'approval', [reassign.wait]);
  const two = await people.asked(run, 'approval', [reassign.wait, one.wait]);
  const asked = stage.model.requests.length;
  const inOrder = [reassign, one, two].sort((a, b) => (a.operation ?? '').localeCompare(b.operation ?? ''));
  const [write, comment, same] = inOrder;
  if (write === undefined || comment === undefined || same === undefined) throw new Error('three were asked');

  await people.answer(same, DENY);
  await stage.until(
    async () => (await stage.runs.details(stage.tenant, run.ref.run)).operations,
    (operations) => operations.some(({ id, state }) => id === same.operation && state === 'REFUSED'),
  );
  expect(await stage.runs.get(stage.tenant, run.ref.run)).toMatchObject({ state: 'WAITING_USER' });
  expect(stage.model.requests).toHaveLength(asked);
  await people.answer(write, APPROVE);
  await people.answer(comment, APPROVE);
  const row = await stage.end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  expect(stage.model.requests).toHaveLength(asked + 1);
  expect((await effectsOf(stage)).map(({ kind }) => kind).sort()).toEqual(['comment', 'reassign']);
  expect(stage.model.requests.at(-1)?.body).toContain('DENIED');
});

test('R37: all calls denied, and a message meanwhile: the model is told of all and ends the run', async () => {
  const run = await stage.start({ agent: 'tickets-approval', data: { ticket: 'T100', persona: 'same-comment-twice' } });
  const seen: string[] = [];
  const denials = ['first denial', 'second denial', 'third denial'];
  for (const reason of denials) {
    const wait = await people.asked(run, 'approval', seen);
    seen.push(wait.wait);
    await people.answer(wait, { decision: 'deny', reason });
  }
  await stage.runs.message(people.alice, run.ref.run, { kind: 'amend', text: 'Just tell me what you found.' });
  const row = await stage.end(run);

  expect(row).toMatchObject({ terminal: 'FAILED', reason: 'blocked.denied' });
  const last = stage.model.requests.at(-1)?.body ?? '';
  for (const said of [...denials, 'Just tell me what you found.']) expect(last).toContain(said);
  expect(await effectsOf(stage)).toEqual([]);
});

test('R42: nobody approves their own run where a line of policy says so', async () => {
  const run = await stage.start({ agent: 'tickets-separate' });
  const wait = await people.asked(run, 'approval');
  const { mayRespond, token } = await people.waits.get(people.alice, wait.wait);

  const own = await people.answer(wait, APPROVE, { by: people.alice, ...(wait.token && { token: wait.token }) });
  expect({ mayRespond, token }).toEqual({ mayRespond: false, token: undefined });
  expect(own).toMatchObject(refusedAs('response.not_permitted'));
  expect(own.verdict).toHaveProperty('message', expect.stringContaining('not-your-own'));
  expect(await people.waits.get(people.bob, wait.wait)).toMatchObject({ state: 'OPEN' });
  expect(await people.answer(wait, APPROVE)).toMatchObject(ACCEPTED);
  await stage.end(run);

  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  const said = (await journalOf(run)).flatMap((line) => ('verdict' in line ? [line] : []));
  expect(said).toMatchObject([
    { subject: 'alice', verdict: 'response.not_permitted', evidence: { policies: ['not-your-own'] } },
    { subject: 'bob', verdict: 'accepted', evidence: { policies: ['answer'] } },
  ]);
});

test('signals that say nothing, or claim to be a response, break nothing and decide nothing', async () => {
  const run = await stage.start({ agent: 'tickets-approval' });
  const wait = await people.asked(run, 'approval');
  const handle = stage.temporal.workflow.getHandle(run.ref.run);
  const forged = { id: 'forged-1', token: 'made up', body: { decision: 'approve' }, principal: { subject: 'bob' } };

  for (const name of ['respond', 'toolEvent', 'message']) {
    await handle.signal(name);
    for (const given of [null, 'x', 7, [], { wait: 7 }, { operation: 'op_x' }, { wait: 'wait_else_1_0' }])
      await handle.signal(name, given);
  }
  await handle.signal('respond', { wait: wait.wait, response: forged });

  const noted = await stage.until(
    () => journalOf(run),
    (lines) => lines.some(({ eventId }) => eventId === 'response:forged-1'),
  );
  expect(noted).toContainEqual(
    expect.objectContaining({ eventId: 'response:forged-1', verdict: 'response.token_invalid', subject: 'signal' }),
  );
  expect(await stage.runs.get(stage.tenant, run.ref.run)).toMatchObject({ state: 'WAITING_USER' });
  expect(await sendsOf(stage, 'reassign')).toBe(0);

  expect(await people.answer(wait, { decision: 'approve' })).toMatchObject(ACCEPTED);
  expect(await stage.end(run)).toMatchObject({ terminal: 'SUCCEEDED' });
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
});
