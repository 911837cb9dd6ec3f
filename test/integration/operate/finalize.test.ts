/** FINALIZING against a real database and a real desk. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { MockActivityEnvironment } from '@temporalio/testing';
import { FINDING, PLAN } from '../../../activities/context/artifact-shapes';
import { readArtifact } from '../../../activities/context/read-artifact';
import type { AgentDefinition, CompletionView } from '../../../definition/agent';
import type { CommitOutcome, EndCheck, PlanOvertook } from '../../../workflows/contract/activities';
import type { Answer } from '../../../workflows/contract/records';
import type { Ending } from '../../../workflows/machine/run';
import { REASSIGN } from '../../support/operate/calls';
import {
  openOperateStage,
  regular,
  ticketsAgent,
  type OperateRun,
  type OperateStage,
} from '../../support/operate/operate-stage';

let stage: OperateStage;
beforeAll(async () => {
  stage = await openOperateStage();
});
afterEach(() => stage.reset());
afterAll(() => stage.close());

const GET = { tool: 'get_ticket', args: { ticket: 'T100' } } as const;

/** Done once the ticket is with payments-oncall and the answer says so. */
const conditions: AgentDefinition['conditions'] = [
  {
    name: 'with-payments',
    check: ({ facts, answer }: CompletionView) =>
      facts.find('ticket:T100', 'team')?.value === 'payments-oncall' && answer?.answer.includes('payments') === true
        ? { kind: 'met' }
        : { kind: 'gap', gap: { kind: 'fact', lacks: 'the ticket with payments-oncall', needs: ['ticket:T100.team'] } },
  },
];

const agent = (changes: Partial<AgentDefinition> = {}): AgentDefinition => {
  const { confirm: _none, ...plain } = ticketsAgent(stage.deskUrl);
  return { ...plain, conditions, ...changes };
};

const ANSWER: Answer = { schemaVersion: 1, outcome: 'done', answer: 'It is with payments-oncall now.', claims: [] };

const endingOf = async (run: OperateRun, as: Ending['as'] = 'SUCCEEDED', answer: Answer = ANSWER): Promise<Ending> => ({
  as,
  reason: 'finish.done',
  answer: await stage.store.artifacts.putJson(run.ref.tenant, answer),
});

const check = async (run: OperateRun, ending: Ending, planVersion = 1): Promise<EndCheck> =>
  new MockActivityEnvironment().run(run.worker.checkEnd, { ref: run.ref, ending, planVersion });

const findingOf = async (run: OperateRun, { artifact }: EndCheck) => {
  if (artifact === undefined) throw new Error('nothing is named');
  return readArtifact(stage.store, { tenant: run.ref.tenant, hash: artifact }, FINDING);
};

const reassigned = async (changes: Partial<AgentDefinition> = {}): Promise<OperateRun> => {
  const run = await stage.begin({ agents: [agent(changes)] });
  await (await run.proposeOne(REASSIGN)).drive();
  return run;
};

describe('an intended success', () => {
  test('holds where facts meet every condition', async () => {
    const run = await reassigned();

    expect(await check(run, await endingOf(run))).toEqual({ unproved: 0 });
  });

  test('A7: the word of the model meets none; the gap is named', async () => {
    const run = await stage.begin({ agents: [agent()] });
    await (await run.proposeOne(GET)).readShort();

    const checked = await check(run, await endingOf(run));

    expect(checked).toMatchObject({ obstacle: 'conditionUnmet', unproved: 0 });
    expect(await findingOf(run, checked)).toMatchObject({
      code: 'finish.condition_unmet',
      gaps: [{ name: 'with-payments', needs: ['ticket:T100.team'] }],
    });
  });

  test('waits for an operation whose end is open', async () => {
    await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });
    const run = await stage.begin({ agents: [agent()] });
    await (await run.proposeOne(REASSIGN)).dispatch();

    expect(await check(run, await endingOf(run))).toEqual({ obstacle: 'operationOpen', unproved: 1 });
  });

  test('is none while nobody knows what became of an operation: a person is asked about it again', async () => {
    await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });
    const other = ticketsAgent(stage.deskUrl, { contract: 'neither' });
    const run = await stage.begin({ agents: [agent({ tools: other.tools })] });
    await (await run.proposeOne(REASSIGN)).drive();

    const checked = await check(run, await endingOf(run));

    expect(checked).toMatchObject({
      obstacle: 'reconciliationRequired',
      about: { step: 1, ordinal: 1 },
      unproved: 1,
    });
    const { artifact } = checked;
    if (artifact === undefined) throw new Error('a person has to be shown what it is about');
    expect(await stage.store.artifacts.getJson(run.ref.tenant, artifact)).toMatchObject({
      kind: 'reconciliation',
      operations: [{ tool: 'reassign_ticket' }],
    });
  });

  test('gives way to a plan that has changed meanwhile', async () => {
    const run = await reassigned();
    await stage.store.runs.changePlan(run.ref, { id: 'm1', kind: 'amend', body: { text: 'and close it' } });

    const checked = await check(run, await endingOf(run));

    expect(await findingOf(run, checked)).toMatchObject({ code: 'finish.plan_changed' });
  });

  test('cannot be checked by a worker without the definition', async () => {
    const run = await reassigned();
    const elsewhere = run.on({}, [agent({ conditions: [{ name: 'other', check: () => ({ kind: 'met' }) }] })]);

    await expect(check(elsewhere, await endingOf(run))).rejects.toMatchObject({
      code: 'definition.missing',
      isRetryable: true,
    });
  });
});

describe('a fresh read before the end', () => {
  const confirm: AgentDefinition['confirm'] = () => ({ tool: 'get_ticket', arguments: { ticket: 'T100' } });

  test('finds everything as it was', async () => {
    const run = await reassigned({ confirm });

    expect(await check(run, await endingOf(run))).toEqual({ unproved: 0 });
  });

  test('finds what somebody has changed since', async () => {
    const run = await reassigned({ confirm });
    await stage.desk.putTicket({ id: 'T100', team: 'legal' });

    const checked = await check(run, await endingOf(run));

    expect(checked).toMatchObject({ obstacle: 'conditionUnmet' });
    expect(await findingOf(run, checked)).toMatchObject({
      code: 'finish.object_changed',
      field: 'ticket:T100.team',
      value: 'payments-oncall',
      expected: '"legal"',
    });
  });

  test('that cannot be made confirms nothing', async () => {
    const run = await reassigned({ confirm });
    await stage.desk.addFault({ match: { route: 'get_ticket' }, fault: { kind: 'status', status: 503 } });

    const checked = await check(run, await endingOf(run));

    expect(await findingOf(run, checked)).toMatchObject({ code: 'finish.unconfirmed' });
  });

  test('is subject to the policy as every read', async () => {
    const run = await reassigned({ confirm });
    const denied = run.on({}, [agent({ confirm, policy: '@id("no") forbid (principal, action, resource);' })]);

    const finding = await findingOf(run, await check(denied, await endingOf(run)));

    expect(finding.message).toContain('PERMISSION_DENIED');
  });
});

describe("a person's acceptance", () => {
  test('A10: is asked for after the facts hold, for this very answer', async () => {
    const run = await reassigned({ acceptance: true });
    const ending = await endingOf(run);

    const asked = await check(run, ending);

    expect(asked).toMatchObject({ obstacle: 'acceptanceRequired' });
    if (asked.artifact === undefined) throw new Error('no plan');
    const plan = await readArtifact(stage.store, { tenant: run.ref.tenant, hash: asked.artifact }, PLAN);
    expect(plan).toMatchObject({
      kind: 'acceptance',
      isComplete: true,
      operations: [{ tool: 'reassign_ticket', arguments: REASSIGN.args }],
    });
    expect(plan.why).toContain(ANSWER.answer);

    const wait = await run.openWait('acceptance', { plan: asked.artifact });
    expect(await check(run, ending)).toMatchObject({ obstacle: 'acceptanceRequired' });
    await wait.answer({ accept: true });
    expect(await check(run, ending)).toEqual({ unproved: 0 });

    const other = await endingOf(run, 'SUCCEEDED', { ...ANSWER, answer: 'Done: payments has it.' });
    expect(await check(run, other)).toMatchObject({ obstacle: 'acceptanceRequired' });
  });

  test('that was refused accepts nothing', async () => {
    const run = await reassigned({ acceptance: true });
    const ending = await endingOf(run);
    const { artifact } = await check(run, ending);
    const wait = await run.openWait('acceptance', artifact === undefined ? {} : { plan: artifact });
    await wait.answer({ accept: false });

    expect(await check(run, ending)).toMatchObject({ obstacle: 'acceptanceRequired' });
  });
});

describe('any other end', () => {
  test('only counts what is not proved', async () => {
    await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });
    const run = await stage.begin({ agents: [agent()] });
    await (await run.proposeOne(REASSIGN)).dispatch();

    expect(await check(run, { as: 'CANCELLED', reason: 'cancelled.signal' })).toEqual({ unproved: 1 });
  });
});

describe('the commit', () => {
  const commit = (run: OperateRun, ending: Ending): Promise<CommitOutcome | PlanOvertook> =>
    regular().run(run.worker.commit, { ref: run.ref, events: [], ending, planVersion: 1, step: 1 });

  test('stores answer, operations, ledger and terminal, once', async () => {
    const run = await reassigned();
    const ending = await endingOf(run);

    const outcome = await commit(run, ending);
    const again = await commit(run, { as: 'FAILED', reason: 'other' });

    expect(outcome).toEqual({ terminal: 'SUCCEEDED', reason: 'finish.done' });
    expect(again).toEqual(outcome);
    expect(await stage.store.runs.result(run.ref)).toMatchObject({
      version: 1,
      terminal: 'SUCCEEDED',
      answer: ANSWER.answer,
      operations: [{ tool: 'reassign_ticket', state: 'SUCCEEDED', target: 'ticket:T100', evidence: 'E1.1' }],
      ledger: { toolCalls: 1 },
      warnings: [],
    });
  });

  test('two at once: one terminal, and both tell it (E4)', async () => {
    const run = await reassigned();

    const [one, other] = await Promise.all([
      commit(run, await endingOf(run)),
      commit(run, { as: 'EXPIRED', reason: 'deadline' }),
    ]);

    expect(one).toEqual(other);
    expect(await stage.store.runs.get(run.ref)).toMatchObject(one);
  });

  test('E1: without an answer it reports what was done in the outside world', async () => {
    await stage.desk.addFault({ match: { route: 'comment' }, fault: { kind: 'status', status: 403 } });
    const run = await stage.begin({ agents: [agent()] });
    const calls = await run.propose(REASSIGN, { tool: 'add_comment', args: { ticket: 'T101', text: 'secret words' } });
    for (const call of calls) await call.drive();

    await commit(run, { as: 'BUDGET_EXHAUSTED', reason: 'budget.steps' });

    const { answer } = (await stage.store.runs.result(run.ref)) ?? {};
    expect(answer).toContain('budget.steps');
    expect(answer).toMatch(/Done:\n- reassign_ticket on ticket:T100: SUCCEEDED/);
    expect(answer).toMatch(/Not done:\n- add_comment on ticket:T101: FAILED \(PERMISSION_DENIED\)/);
    expect(answer).not.toContain('secret words');
  });

  test('a cancel with an unproved operation ends as CANCEL_UNKNOWN, and says which', async () => {
    await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });
    const run = await stage.begin({ agents: [agent()] });
    const call = await run.proposeOne(REASSIGN);
    await call.dispatch();

    expect(await commit(run, { as: 'CANCELLED', reason: 'cancelled.signal' })).toMatchObject({
      terminal: 'CANCEL_UNKNOWN',
    });
    const result = await stage.store.runs.result(run.ref);
    expect(result?.answer).toMatch(/Not proved, and still being found out:\n- reassign_ticket/);
    expect(result?.warnings).toEqual([expect.stringContaining(call.id)]);
  });

  test('what was not executed is called off with it', async () => {
    await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'status', status: 429, retryAfter: 60 } });
    const run = await stage.begin({ agents: [agent()] });
    const call = await run.proposeOne(REASSIGN);
    await call.dispatch();

    await commit(run, { as: 'EXPIRED', reason: 'deadline' });

    expect(await call.row()).toMatchObject({ state: 'CANCELLED' });
    expect(await stage.store.runs.result(run.ref)).toMatchObject({ operations: [{ state: 'CANCELLED' }] });
  });
});
