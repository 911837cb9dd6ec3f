/** Waits: what a person is shown, and what their answer makes of the operation. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { FAILURE, PLAN } from '../../../activities/context/artifact-shapes';
import { readArtifact } from '../../../activities/context/read-artifact';
import { responseSchemaSchema } from '../../../definition/response-schema';
import { makeToken } from '../../../responses/token';
import type { Question } from '../../../workflows/contract/records';
import { REASSIGN } from '../../support/operate/calls';
import {
  openOperateStage,
  regular,
  type DrivenCall,
  type OperateRun,
  type OperateStage,
} from '../../support/operate/operate-stage';

let stage: OperateStage;
beforeAll(async () => {
  stage = await openOperateStage();
});
afterEach(() => stage.reset());
afterAll(() => stage.close());

const failureOf = async (run: OperateRun, call: DrivenCall) => {
  const { failure } = await call.row();
  if (failure === undefined) throw new Error('no failure is stored');
  return readArtifact(stage.store, { tenant: run.ref.tenant, hash: failure }, FAILURE);
};

const anyPlan = (run: OperateRun) => stage.store.artifacts.putJson(run.ref.tenant, { kind: 'approval' });

describe('opening', () => {
  test('tells how long it is open, with the schema of its kind', async () => {
    const run = await stage.begin();
    const wait = await run.openWait('approval', { call: await run.proposeOne(REASSIGN), plan: await anyPlan(run) });

    expect(wait.reading).toMatchObject({ kind: 'open' });
    const opened = await stage.store.waits.read(run.ref, wait.id);
    expect(opened?.row).toMatchObject({ kind: 'approval', state: 'OPEN', planVersion: 1 });
    expect(opened?.row.operation).toMatch(/_1_1$/);
    const { responseSchema } = opened?.row ?? {};
    expect(responseSchemaSchema.parse(responseSchema).properties).toHaveProperty('decision');
    if (wait.reading.kind === 'open') expect(wait.reading.remainingMs).toBeGreaterThan(6 * 24 * 3_600_000);
  });

  test('a hand-off is shown why, with its diagnosis', async () => {
    const run = await stage.begin();
    const wait = await run.openWait('handoff', { reason: 'definition.missing' });

    const opened = await stage.store.waits.read(run.ref, wait.id);
    const plan = opened && (await readArtifact(stage.store, { tenant: run.ref.tenant, hash: opened.row.plan }, PLAN));
    expect(plan).toMatchObject({ kind: 'handoff', operations: [], isComplete: true });
    expect(plan?.why).toContain('definition.missing');
    expect(opened?.row.reason).toBe('definition.missing');
  });

  test('a question is answered by its own schema', async () => {
    const run = await stage.begin();
    const responseSchema = { type: 'object', properties: { ticket: { type: 'string' } }, required: ['ticket'] };
    const question: Question = { schemaVersion: 1, question: 'Which ticket?', responseSchema, askedBy: 'model' };
    const wait = await run.openWait('question', {
      plan: await stage.store.artifacts.putJson(run.ref.tenant, question),
    });

    expect((await stage.store.waits.read(run.ref, wait.id))?.row.responseSchema).toEqual(responseSchema);
    expect(await wait.answer({ ticket: 'T100' })).toEqual({ kind: 'consumed', response: { kind: 'answerGiven' } });
  });

  test('one that the plan has overtaken is void from the start', async () => {
    const run = await stage.begin();
    await stage.store.runs.stopOperations({ ref: run.ref, events: [] }, true);

    expect((await run.openWait('handoff', { reason: 'loop' })).reading).toEqual({ kind: 'void' });
  });
});

// prettier-ignore
test.each([
  ['approval', { decision: 'approve' }, 'approvalGiven'],
  ['approval', { decision: 'deny' }, 'approvalDenied'],
  ['acceptance', { accept: true }, 'acceptanceGiven'],
  ['acceptance', { accept: false, reason: 'no' }, 'acceptanceRejected'],
  ['handoff', { take: true }, 'takenOver'],
  ['handoff', { take: false, guidance: 'x' }, 'guidanceGiven'],
] as const)('%s answered with %j is %s', async (kind, response, expected) => {
  const run = await stage.begin();
  const about = kind === 'approval' ? { call: await run.proposeOne(REASSIGN) } : {};
  const wait = await run.openWait(kind, { ...about, plan: await anyPlan(run) });

  expect(await wait.answer(response)).toEqual({ kind: 'consumed', response: { kind: expected } });
});

describe('what becomes of an operation that was asked about', () => {
  test('denied: refused with the reason, and the same call finds nothing left to wait for', async () => {
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);
    const wait = await run.openWait('approval', { call, plan: await anyPlan(run) });

    await wait.answer({ decision: 'deny', reason: 'not on a Friday' });

    expect(await call.row()).toMatchObject({ state: 'REFUSED', code: 'DENIED' });
    const failure = await failureOf(run, call);
    expect(failure.message).toContain('not on a Friday');
    expect(failure.evidence).toEqual([`W${wait.id.split('_').slice(2).join('.')}`]);
    expect(await call.dispatch(true)).toMatchObject({ outcome: { kind: 'settled', state: 'REFUSED', code: 'DENIED' } });
    expect(await stage.sends()).toEqual([]);
  });

  test('expired: called off, also where it had been sent and was proved unexecuted', async () => {
    await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'status', status: 429, retryAfter: 0 } });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);
    await call.dispatch();
    const wait = await run.openWait('approval', { call, plan: await anyPlan(run) });

    expect(await wait.expire()).toEqual({ kind: 'expired' });
    expect(await wait.read()).toEqual({ kind: 'expired' });
    expect(await call.row()).toMatchObject({ state: 'CANCELLED', code: 'EXPIRED' });
  });
});

describe('B5: a person finds out what became of it', () => {
  const lose = async (kind: 'apply-then-drop' | 'drop-before-apply') => {
    await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind } });
    const run = await stage.begin({ contract: 'neither' });
    const call = await run.proposeOne(REASSIGN);
    const { outcome } = await call.drive();
    if (outcome.kind !== 'unresolved') throw new Error(outcome.kind);
    return { run, call, wait: await run.openWait('reconciliation', { call, plan: outcome.plan }) };
  };

  test('it was executed: recorded as done, on the evidence of the response', async () => {
    const { run, call, wait } = await lose('apply-then-drop');

    const reading = await wait.answer({ state: 'SUCCEEDED', why: 'the ticket log shows it' });
    const again = await wait.read();

    expect(reading).toMatchObject({
      kind: 'consumed',
      response: { kind: 'reconciliationAnswered', state: 'SUCCEEDED' },
    });
    expect(again).toEqual(reading);
    const evidence = `W${wait.id.split('_').slice(2).join('.')}`;
    expect(await call.row()).toMatchObject({ state: 'SUCCEEDED', evidence });
    expect(await run.facts()).toContainEqual(
      expect.objectContaining({ object: `operation:${call.id}`, field: 'outcome', value: 'SUCCEEDED', evidence }),
    );
    expect(await stage.sends()).toHaveLength(1);
  });

  test('it failed: the model is told so, with what the person said', async () => {
    const { run, call, wait } = await lose('drop-before-apply');

    expect(await wait.answer({ state: 'FAILED', why: 'the desk rejected it' })).toMatchObject({
      response: { kind: 'reconciliationAnswered', state: 'FAILED', code: 'UNAVAILABLE' },
    });
    expect((await failureOf(run, call)).message).toContain('the desk rejected it');
  });

  test('it was never executed: sent again, once', async () => {
    const { call, wait } = await lose('drop-before-apply');

    expect(await wait.answer({ state: 'NOT_EXECUTED', why: 'nothing in the log' })).toMatchObject({
      response: { state: 'NOT_EXECUTED' },
    });
    const { outcome } = await call.drive();

    expect(outcome).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });
    expect(await stage.desk.effects()).toHaveLength(1);
    expect(await call.row()).toMatchObject({ generation: 2 });
  });

  test('what was proved meanwhile stands against what the person says', async () => {
    const { run, call, wait } = await lose('apply-then-drop');
    await stage.store.operations.settle(run.ref, call.id, {
      state: 'SUCCEEDED',
      evidence: (await call.row()).evidence ?? parseEvidence('E1.1'),
    });

    expect(await wait.answer({ state: 'NOT_EXECUTED', why: 'I do not see it' })).toMatchObject({
      response: { state: 'SUCCEEDED' },
    });
    expect(await call.row()).toMatchObject({ state: 'SUCCEEDED' });
  });
});

const parseEvidence = (text: string): NonNullable<Awaited<ReturnType<DrivenCall['row']>>['evidence']> =>
  text as NonNullable<Awaited<ReturnType<DrivenCall['row']>>['evidence']>;

describe('a changed plan', () => {
  test('is adopted with the calls of the step that it ended', async () => {
    const run = await stage.begin();
    await run.propose(REASSIGN, { tool: 'close_ticket', args: { ticket: 'T101' } });
    const adopt = (planVersion: number) =>
      regular().run(run.worker.adoptPlan, { ref: run.ref, events: [], planVersion, step: 1 });

    expect(await adopt(1)).toBeUndefined();
    await stage.store.runs.changePlan(run.ref, { id: 'm1', kind: 'amend', body: { text: 'x' } });
    await stage.store.runs.changePlan(run.ref, { id: 'm2', kind: 'withdraw', body: {} });

    expect(await adopt(1)).toEqual({ planVersion: 3, change: 'withdrawn', cancelled: [1, 2] });
    expect(await adopt(3)).toBeUndefined();
  });
});

test('R23: what nobody approved as it is needs an approval of its own, whatever the workflow believes', async () => {
  const run = await stage.begin();
  const call = await run.proposeOne(REASSIGN);
  const wait = await run.openWait('approval', { call, plan: await anyPlan(run) });
  await wait.answer({ decision: 'approve', argumentHash: 'of other arguments' });

  const sent = await regular().run(run.worker.dispatch, {
    ref: run.ref,
    events: [],
    step: 1,
    ordinal: call.ordinal,
    isApproved: true,
  });

  expect(sent).toMatchObject({ outcome: { kind: 'approvalRequired' } });
  expect(await call.row()).toMatchObject({ state: 'CREATED' });
  expect(await stage.sends()).toEqual([]);
});

describe('a whole response that came as a raw signal', () => {
  const tokenKey = Buffer.alloc(32, 5);
  const begin = async () => {
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);
    const wait = await run.openWait('approval', { call, plan: await anyPlan(run) });
    const opened = await stage.store.waits.read(run.ref, wait.id);
    if (opened === undefined) throw new Error('it was opened');
    const signal = (on: OperateRun, response: unknown) =>
      regular().run(on.worker.judgeSignalled, { ref: run.ref, signal: { wait: wait.id, response } });
    return { run, wait, token: makeToken(tokenKey, opened.row), signal };
  };
  const DENY = { id: 's1', body: { decision: 'deny' }, principal: { subject: 'the-boss', roles: ['approver'] } };

  test('counts by its token alone; who it says it is from is not believed', async () => {
    const { run, wait, token, signal } = await begin();

    expect(await signal(run.on({ tokenKey }), { ...DENY, id: 's0', token: 'made up' })).toEqual({
      verdict: 'response.token_invalid',
    });
    expect(await signal(run.on({ tokenKey }), { ...DENY, token })).toEqual({ verdict: 'accepted' });

    expect(await wait.read()).toMatchObject({ kind: 'consumed', response: { kind: 'approvalDenied' } });
    expect(await stage.store.waits.responses(run.ref, wait.id)).toMatchObject([
      { id: 's0', principal: { subject: 'signal', roles: [] }, verdict: 'response.token_invalid' },
      { id: 's1', principal: { subject: 'signal', roles: [] }, verdict: 'accepted' },
    ]);
  });

  test('where the worker has no key, none counts', async () => {
    const { run, wait, token, signal } = await begin();

    expect(await signal(run, { ...DENY, token })).toEqual({ verdict: 'response.token_invalid' });
    expect(await wait.read()).toMatchObject({ kind: 'open' });
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'approve'],
    ['no token', { id: 'x', body: {} }],
    ['an id with a line break', { id: 'x\ny', body: {}, token: 't' }],
  ])('%s is none', async (_what, response) => {
    const { run, signal } = await begin();

    expect(await signal(run.on({ tokenKey }), response)).toEqual({ verdict: 'signal.invalid' });
  });
});
