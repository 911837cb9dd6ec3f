/** What keeps a write from being sent, or from being sent again. Requests are counted at the desk. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { FAILURE, PLAN } from '../../../activities/context/artifact-shapes';
import { readArtifact } from '../../../activities/context/read-artifact';
import { REASSIGN } from '../../support/operate/calls';
import {
  openOperateStage,
  ticketsAgent,
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

const COMMENT = { tool: 'add_comment', args: { ticket: 'T100', text: 'Reassigned.' } } as const;
const NO_POLICY = '@id("nothing") forbid (principal, action, resource);';
const APPROVED_ONLY = '@id("ask") permit (principal, action == Action::"execute", resource);';

const codeOf = async (run: OperateRun, call: DrivenCall) => {
  const { failure } = await call.row();
  if (failure === undefined) throw new Error('no failure is stored');
  return readArtifact(stage.store, { tenant: run.ref.tenant, hash: failure }, FAILURE);
};

const drop = (): Promise<number> =>
  stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'drop-before-apply' } });
const limit = (retryAfter: number): Promise<number> =>
  stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'status', status: 429, retryAfter } });

describe('the policy in force', () => {
  test('C7: permission revoked between approval and dispatch: refused, a fact, nothing sent', async () => {
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);
    const later = run.on({}, [ticketsAgent(stage.deskUrl, {}, { policy: NO_POLICY })]);

    const sent = await dispatchOn(later, call, true);

    expect(sent).toMatchObject({ outcome: { kind: 'settled', state: 'REFUSED', code: 'PERMISSION_DENIED' } });
    expect(await call.row()).toMatchObject({ state: 'REFUSED', generation: 0 });
    expect(await run.facts()).toContainEqual(
      expect.objectContaining({
        object: 'policy:reassign_ticket',
        field: 'denied',
        value: expect.objectContaining({ policies: ['nothing'] }),
      }),
    );
    expect(await codeOf(run, call)).toMatchObject({ code: 'PERMISSION_DENIED' });
    const decisions = await stage.store.decisions.list(run.ref, 1);
    expect(decisions).toMatchObject([
      { validator: 'policy', phase: 'dispatch', verdict: 'fail', code: 'PERMISSION_DENIED' },
    ]);
    expect(await stage.sends()).toEqual([]);
  });

  test('approval needed now though the proposal did not: a plan; once approved it is sent', async () => {
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);
    const later = run.on({}, [ticketsAgent(stage.deskUrl, {}, { policy: APPROVED_ONLY })]);

    const asked = await dispatchOn(later, call, false);

    if (asked.kind !== 'outcome' || asked.outcome.kind !== 'approvalRequired') throw new Error(JSON.stringify(asked));
    const plan = await readArtifact(stage.store, { tenant: run.ref.tenant, hash: asked.outcome.plan }, PLAN);
    expect(plan).toMatchObject({
      kind: 'approval',
      operations: [{ id: call.id, arguments: REASSIGN.args, risk: 'medium' }],
    });
    expect(await call.row()).toMatchObject({ state: 'CREATED' });
    expect(await stage.sends()).toEqual([]);

    expect(await dispatchOn(later, call, true)).toMatchObject({ outcome: { state: 'SUCCEEDED' } });
    const decisions = await stage.store.decisions.list(run.ref, 1);
    expect(decisions.map(({ verdict }) => verdict)).toEqual(['ask', 'pass']);
  });

  test('a second send that is denied leaves an unknown operation unknown, and proved unexecuted in the end', async () => {
    await drop();
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);
    const first = await call.dispatch();
    if (first.kind !== 'outcome') throw new Error(first.kind);
    const later = run.on({}, [ticketsAgent(stage.deskUrl, {}, { policy: NO_POLICY })]);

    const denied = await dispatchOn(later, call, false);
    expect(denied).toMatchObject({ outcome: { kind: 'pending', state: 'UNKNOWN', next: { action: 'lookUp' } } });
    const driven = await call.goOn(first.outcome, {
      onOutcome: async (outcome) => {
        if (outcome.kind !== 'pending' || outcome.next.action !== 'resend') return;
        expect(await dispatchOn(later, call, false)).toMatchObject({ outcome: { state: 'CANCELLED' } });
      },
    });

    expect(driven.outcome).toMatchObject({ kind: 'settled', state: 'CANCELLED' });
    expect(await stage.sends()).toHaveLength(1);
  });

  test('a send in back-off that is denied is called off', async () => {
    await limit(1);
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);
    await call.dispatch();
    const later = run.on({}, [ticketsAgent(stage.deskUrl, {}, { policy: NO_POLICY })]);

    expect(await dispatchOn(later, call, true)).toMatchObject({
      outcome: { kind: 'settled', state: 'CANCELLED', code: 'PERMISSION_DENIED' },
    });
    expect(await stage.sends()).toHaveLength(1);
  });
});

const dispatchOn = (run: OperateRun, call: DrivenCall, isApproved: boolean) => {
  const [, step = '1'] = /_(\d+)_\d+$/.exec(call.id) ?? [];
  return run.dispatch({ step: Number(step), ordinal: call.ordinal, isApproved });
};

describe('what has changed since', () => {
  test('a newer version in the facts: not sent, the object is to be read again', async () => {
    const run = await stage.begin();
    const read = await run.proposeOne({ tool: 'get_ticket', args: { ticket: 'T100' }, step: 1 });
    await stage.desk.putTicket({ id: 'T100', title: 'Checkout is down' });
    await read.readShort();
    const call = await run.proposeOne({ ...REASSIGN, step: 2 });

    const sent = await call.dispatch(true);

    expect(sent).toMatchObject({ outcome: { kind: 'settled', state: 'REFUSED', code: 'STATE_CONFLICT' } });
    expect(await codeOf(run, call)).toMatchObject({ confirmed: { object: 'ticket:T100', version: '4' } });
    expect(await stage.sends()).toEqual([]);
  });

  test('another definition of the tool on this worker: called off, nothing sent; reads likewise', async () => {
    const run = await stage.begin();
    const [call, read] = await run.propose(REASSIGN, { tool: 'get_ticket', args: { ticket: 'T100' } });
    if (call === undefined || read === undefined) throw new Error('two were proposed');
    const agent = ticketsAgent(stage.deskUrl);
    const tools = agent.tools.map((tool) => ({ ...tool, repeatable: true }));
    const elsewhere = run.on({}, [{ ...agent, tools }]);

    expect(await dispatchOn(elsewhere, call, true)).toMatchObject({
      outcome: { kind: 'settled', state: 'CANCELLED', code: 'UNAVAILABLE' },
    });
    expect(await elsewhere.readShort({ step: 1, ordinal: read.ordinal })).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await stage.desk.requests()).toEqual([]);
  });
});

describe('B14: nothing is sent after a stop', () => {
  // prettier-ignore
  test.each([
    ['cancel',        (run: OperateRun) => stage.store.runs.requestCancel(run.ref)],
    ['amend',         (run: OperateRun) => stage.store.runs.changePlan(run.ref, { id: 'm1', kind: 'amend', body: { text: 'x' } })],
    ["the run's way to its end", (run: OperateRun) => stage.store.runs.stopOperations({ ref: run.ref, events: [] }, false)],
  ] as const)('%s while it waits for its next send', async (_title, stop) => {
    await limit(0);
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);
    await call.dispatch();
    await stop(run);

    const { outcome } = await call.goOn({ kind: 'pending', state: 'NOT_EXECUTED', next: { action: 'resend', afterMs: 600 } });

    expect(outcome).toMatchObject({ kind: 'settled', state: 'CANCELLED' });
    expect(await stage.sends()).toHaveLength(1);
    expect(await call.row()).toMatchObject({ state: 'CANCELLED', generation: 1 });
  });

  // prettier-ignore
  test.each([
    ['cancel',        (run: OperateRun) => stage.store.runs.requestCancel(run.ref)],
    ['amend',         (run: OperateRun) => stage.store.runs.changePlan(run.ref, { id: 'm1', kind: 'amend', body: { text: 'x' } })],
  ] as const)('%s while it is unknown and due for a second send: only looked up, proved and called off', async (_title, stop) => {
    await drop();
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);

    const { outcome, trail } = await call.drive({
      onOutcome: async (each) => {
        if (each.kind === 'pending' && each.next.action === 'resend') await stop(run);
      },
    });

    expect(trail).toContain('UNKNOWN resend');
    expect(outcome).toMatchObject({ kind: 'settled', state: 'CANCELLED' });
    expect(await stage.sends()).toHaveLength(1);
    expect(await stage.desk.effects()).toEqual([]);
  });

  test('key only, cancelled: nobody can be asked, so it stays open and nothing is sent', async () => {
    await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });
    const run = await stage.begin({ contract: 'key only' });
    const call = await run.proposeOne(REASSIGN);
    await call.dispatch();
    await stage.store.runs.requestCancel(run.ref);

    const { outcome } = await call.goOn({
      kind: 'pending',
      state: 'UNKNOWN',
      next: { action: 'resend', afterMs: 1_200 },
    });

    expect(outcome.kind).toBe('unresolved');
    expect(await call.row()).toMatchObject({ state: 'UNKNOWN' });
    expect(await stage.sends()).toHaveLength(1);
  });

  test('created and never sent: called off by the dispatch itself', async () => {
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);
    await stage.store.runs.requestCancel(run.ref);

    expect(await call.dispatch(true)).toMatchObject({
      outcome: { kind: 'settled', state: 'CANCELLED', code: 'CANCELLED' },
    });
    expect(await stage.sends()).toEqual([]);
  });
});

test('B9: a write on an object whose earlier write is unknown stays unsent until that is settled', async () => {
  await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });
  const run = await stage.begin();
  const [first, second] = await run.propose(REASSIGN, COMMENT);
  if (first === undefined || second === undefined) throw new Error('two were proposed');
  await first.dispatch();

  const held = await second.dispatch();
  expect(held).toMatchObject({ outcome: { kind: 'pending', state: 'NOT_EXECUTED', next: { action: 'resend' } } });
  expect(await second.row()).toMatchObject({ state: 'CREATED', generation: 0 });
  expect(await first.pursue()).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });
  const driven = await second.drive();

  // What the first write made of the ticket is no surprise: both were proposed together.
  expect(driven.outcome).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });
  expect((await stage.desk.effects()).map(({ kind }) => kind)).toEqual(['reassign', 'comment']);
});

test('a write on an object whose earlier write only a person could resolve ends, and the model is told why', async () => {
  await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });
  const run = await stage.begin({ contract: 'neither', times: { timeoutMs: 300, settleWindowMs: 1 } });
  const first = await run.proposeOne(REASSIGN);
  expect((await first.drive()).outcome.kind).toBe('unresolved');
  const second = await run.proposeOne({ ...COMMENT, step: 2 });

  expect(await second.dispatch()).toMatchObject({
    outcome: { kind: 'settled', state: 'CANCELLED', code: 'OUTCOME_UNKNOWN' },
  });

  expect(await second.row()).toMatchObject({ state: 'CANCELLED', generation: 0 });
  expect(await codeOf(run, second)).toMatchObject({
    code: 'OUTCOME_UNKNOWN',
    confirmed: { executed: false, waitsFor: first.id, state: 'UNRESOLVED' },
  });
  expect(await first.row()).toMatchObject({ state: 'UNRESOLVED' });
  expect(await stage.sends()).toHaveLength(1);

  // Once a person has said it, the same may be proposed again, and is sent.
  await stage.store.operations.settle(run.ref, first.id, { state: 'SUCCEEDED' });
  const third = await run.proposeOne({ ...COMMENT, step: 3 });
  expect(await third.dispatch()).toMatchObject({ outcome: { kind: 'settled', state: 'SUCCEEDED' } });
});

test('a spent budget of tool calls sends nothing', async () => {
  const run = await stage.begin({ row: { limits: { maxToolCalls: 1 } } });
  const [first, second] = await run.propose(REASSIGN, { ...COMMENT, args: { ticket: 'T101', text: 'x' } });
  if (first === undefined || second === undefined) throw new Error('two were proposed');

  expect(await first.dispatch()).toMatchObject({ kind: 'outcome', outcome: { state: 'SUCCEEDED' } });
  expect(await second.dispatch()).toMatchObject({ kind: 'budgetSpent', totals: { toolCalls: 1 } });
  expect(await second.row()).toMatchObject({ state: 'CREATED' });
  expect(await stage.sends()).toHaveLength(1);
});

test("past the run's deadline an approved write is not sent any more", async () => {
  const run = await stage.begin();
  const call = await run.proposeOne(REASSIGN);
  const past = { ...(await stage.store.runs.get(run.ref)), deadlineAt: Date.now() - 1 };
  const store = { ...stage.store, runs: { ...stage.store.runs, get: () => Promise.resolve(past) } };

  expect(await dispatchOn(run.on({ store: parseStore(store) }), call, true)).toMatchObject({
    outcome: { kind: 'settled', state: 'CANCELLED', code: 'EXPIRED' },
  });
  expect(await stage.sends()).toEqual([]);
});

const parseStore = (store: unknown): OperateStage['store'] => store as OperateStage['store'];
