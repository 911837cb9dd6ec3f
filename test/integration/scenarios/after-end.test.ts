/** What goes on after a run's end: reconciliation, resolutions, ends from outside. Effects are counted at the desk. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { AfterEnd } from '../../../client/after-end';
import { compileAgents } from '../../../definition/compile-agent';
import { createTicketsAgent } from '../../../examples/tickets/agent';
import { sweepClosed } from '../../../relays/sweep';
import { relayWakes } from '../../../relays/wake-relay';
import type { OperationRow, RunRow } from '../../../store/rows';
import type { Result } from '../../../workflows/contract/records';
import { reconcileIdOf } from '../../../workflows/contract/reconcile';
import { effectsOf, sendsOf, type Seen } from '../../support/scenario/effects';
import { checkInvariants } from '../../support/scenario/invariants';
import { setStage, type Stage } from '../../support/scenario/stage';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

const REASSIGNED: Seen = { kind: 'reassign', ticket: 'T100', args: { team: 'payments-oncall' } };

const reassignOf = async (run: RunRow): Promise<OperationRow> => {
  const { operations } = await stage.runs.details(stage.tenant, run.ref.run);
  const found = operations.find(({ tool }) => tool === 'reassign_ticket');
  if (found === undefined) throw new Error('it was not reassigned yet');
  return found;
};

const reassignIn = (run: RunRow, state: OperationRow['state']): Promise<OperationRow | undefined> =>
  stage.until(
    async () => (await stage.store.operations.list(run.ref)).find(({ tool }) => tool === 'reassign_ticket'),
    (operation) => operation?.state === state,
  );

const resultAt = (run: RunRow, version: number): Promise<Result | undefined> =>
  stage.until(
    () => stage.runs.result(stage.tenant, run.ref.run),
    (result) => (result?.version ?? 0) >= version,
  );

/** The desk does it, its receipt is lost, and it cannot be asked until the faults are cleared. */
const losingTheReceipt = async (): Promise<void> => {
  await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });
  await stage.desk.addFault({ match: { route: 'lookup' }, times: 'always', fault: { kind: 'status', status: 503 } });
};

test('E5: the deadline passes with an operation unknown; reconciliation goes on by itself and appends a resolution', async () => {
  await losingTheReceipt();

  const run = await stage.start({ agent: 'tickets-brief', limits: { deadlineMs: 6_000 } });
  const row = await stage.end(run);
  const first = await stage.runs.result(stage.tenant, run.ref.run);
  await stage.desk.clearFaults();
  const second = await resultAt(run, 2);

  expect(row).toMatchObject({ terminal: 'EXPIRED', reason: 'deadline' });
  const { id } = await reassignOf(run);
  expect(first).toMatchObject({ version: 1, terminal: 'EXPIRED' });
  expect(first?.warnings.join()).toContain('operation.unproved');
  expect(second).toMatchObject({
    version: 2,
    terminal: 'EXPIRED',
    reason: 'deadline',
    resolutions: [{ operation: id, from: 'UNKNOWN', to: 'SUCCEEDED', by: { kind: 'lookUp' } }],
  });
  expect(second?.warnings.join()).not.toContain('operation.unproved');
  expect(await stage.runs.result(stage.tenant, run.ref.run, 1)).toEqual(first);
  expect(await stage.runs.get(stage.tenant, run.ref.run)).toEqual(row);
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  expect(await sendsOf(stage, 'reassign')).toBe(1);
  // It has nothing left to do, and owes nothing.
  const reconcile = stage.temporal.workflow.getHandle(reconcileIdOf(id));
  expect(await reconcile.result()).toEqual({ kind: 'settled', state: 'SUCCEEDED' });
});

test('E3: a cancel that cannot be proved is followed by the truth, and the terminal stays', async () => {
  await losingTheReceipt();

  const run = await stage.start({ agent: 'tickets-brief' });
  await reassignIn(run, 'UNKNOWN');
  await stage.runs.cancel(stage.tenant, run.ref.run);
  const row = await stage.end(run);
  await stage.desk.clearFaults();
  const result = await resultAt(run, 2);

  expect(row.terminal).toBe('CANCEL_UNKNOWN');
  expect(result).toMatchObject({
    terminal: 'CANCEL_UNKNOWN',
    operations: expect.arrayContaining([expect.objectContaining({ tool: 'reassign_ticket', state: 'SUCCEEDED' })]),
    resolutions: [{ from: 'UNKNOWN', to: 'SUCCEEDED' }],
  });
  expect(await stage.runs.get(stage.tenant, run.ref.run)).toMatchObject({ terminal: 'CANCEL_UNKNOWN' });
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  expect(await sendsOf(stage, 'reassign')).toBe(1);
});

test('B14: what is found not to have happened after the end is not sent then', async () => {
  await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'drop-before-apply' } });
  await stage.desk.addFault({ match: { route: 'lookup' }, times: 'always', fault: { kind: 'status', status: 503 } });

  const run = await stage.start({ agent: 'tickets-brief', limits: { deadlineMs: 6_000 } });
  const row = await stage.end(run);
  await stage.desk.clearFaults();
  const result = await resultAt(run, 2);

  expect(row.terminal).toBe('EXPIRED');
  expect(result).toMatchObject({ resolutions: [{ from: 'UNKNOWN', to: 'CANCELLED', by: { kind: 'lookUp' } }] });
  expect(await effectsOf(stage)).toEqual([]);
  expect(await sendsOf(stage, 'reassign')).toBe(1);
});

describe('where the far side offers no way to ask', () => {
  test('nobody goes on asking: it is unresolved until a person says what became of it', async () => {
    await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });
    const afterEnd = makeAfterEnd();
    const resolve = (subject: string, id: string, state: 'SUCCEEDED' | 'FAILED' = 'SUCCEEDED') =>
      afterEnd.resolve({ tenant: stage.tenant, subject }, run.ref.run, {
        id,
        operation: operation?.id ?? '',
        state,
        why: 'the desk shows it',
      });

    const run = await stage.start({ agent: 'tickets-brief-neither', limits: { deadlineMs: 7_000 } });
    const operation = await reassignIn(run, 'UNRESOLVED');
    await expect(resolve('bob', 'r0')).rejects.toMatchObject({ code: 'resolve.run_not_ended' });
    const row = await stage.end(run);
    const reconcile = stage.temporal.workflow.getHandle(reconcileIdOf((await reassignOf(run)).id));
    await stage.until(
      () => reconcile.describe().catch(() => undefined),
      (described) => described?.status.name === 'COMPLETED',
    );

    expect(row.terminal).toBe('EXPIRED');
    expect(await reconcile.result()).toEqual({ kind: 'givenUp' });
    const first = await stage.runs.result(stage.tenant, run.ref.run);
    expect(first?.version).toBe(1);

    await expect(resolve('alice', 'r1')).rejects.toMatchObject({ code: 'resolve.not_permitted' });
    const { result } = await resolve('bob', 'r2');
    expect(result).toMatchObject({
      version: 2,
      terminal: 'EXPIRED',
      resolutions: [
        {
          id: 'r2',
          operation: operation?.id,
          from: 'UNRESOLVED',
          to: 'SUCCEEDED',
          by: { kind: 'person', subject: 'bob' },
          why: 'the desk shows it',
        },
      ],
    });
    expect(await resolve('bob', 'r2')).toEqual({ id: 'r2', result });
    await expect(resolve('bob', 'r3', 'FAILED')).rejects.toMatchObject({ code: 'resolve.settled' });
    expect(await stage.runs.result(stage.tenant, run.ref.run)).toEqual(result);
    expect(await stage.runs.result(stage.tenant, run.ref.run, 1)).toEqual(first);
    const notes = await stage.runs.events(stage.tenant, run.ref.run, { after: 0, limit: 1_000 });
    expect(notes.flatMap(({ eventId }) => (eventId?.startsWith('resolution') === true ? [eventId] : []))).toEqual([
      'resolution_refused:r0:resolve.run_not_ended',
      'resolution_refused:r1:resolve.not_permitted',
      'resolution:2',
      'resolution_refused:r3:resolve.settled',
    ]);
    expect(await sendsOf(stage, 'reassign')).toBe(1);
  });
});

describe('a run that the engine has closed', () => {
  const log = pino({ level: 'silent' });
  const sweep = (): Promise<number> => sweepClosed(stage.store, { temporal: stage.temporal, taskQueue: '' }, log);
  /** What the engine lists lags behind what it knows. */
  const sweepUntilClosed = (run: RunRow): Promise<RunRow> =>
    stage.until(
      async () => {
        await sweep();
        return stage.runs.get(stage.tenant, run.ref.run);
      },
      ({ terminal }) => terminal !== undefined,
    );

  test('fails with that reason; what it had sent is gone after', async () => {
    await losingTheReceipt();
    const run = await stage.start();
    await reassignIn(run, 'UNKNOWN');

    await stage.temporal.workflow.getHandle(run.ref.run).terminate('by hand');
    const row = await sweepUntilClosed(run);
    await stage.desk.clearFaults();
    const result = await resultAt(run, 2);

    expect(row).toMatchObject({ state: 'FAILED', terminal: 'FAILED', reason: 'engine.terminated' });
    expect(await stage.runs.result(stage.tenant, run.ref.run, 1)).toMatchObject({
      terminal: 'FAILED',
      reason: 'engine.terminated',
    });
    expect(result).toMatchObject({ resolutions: [{ to: 'SUCCEEDED' }] });
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await sendsOf(stage, 'reassign')).toBe(1);
    expect(await sweep()).toBe(0);
  });

  test('leaves no approval open, and sends nothing for one that was waiting', async () => {
    const run = await stage.start({ agent: 'tickets-approval' });
    await stage.until(
      () => stage.runs.get(stage.tenant, run.ref.run),
      ({ state }) => state === 'WAITING_USER',
    );

    await stage.temporal.workflow.getHandle(run.ref.run).terminate('by hand');
    await sweepUntilClosed(run);

    const waits = await stage.store.waits.list(run.ref.tenant, { run: run.ref.run, limit: 9 });
    expect(waits.map(({ state }) => state)).toEqual(['VOID']);
    expect(await effectsOf(stage)).toEqual([]);
  });

  test('keeps the terminal that it had', async () => {
    const run = await stage.start();
    const row = await stage.end(run);
    const { id } = await reassignOf(run);

    const end = await stage.store.runs.closeFromOutside(run.ref, {
      reason: 'engine.terminated',
      eventId: 'closed:late',
      body: { operation: id },
    });

    expect(end).toEqual({ terminal: 'SUCCEEDED', reason: row.reason });
    expect(await stage.runs.get(stage.tenant, run.ref.run)).toEqual(row);
  });
});

describe('signals that are owed', () => {
  const log = pino({ level: 'silent' });

  test('a relay delivers a cancel that nobody has signalled', async () => {
    const run = await stage.start({ agent: 'tickets-approval' });
    await stage.until(
      () => stage.runs.get(stage.tenant, run.ref.run),
      ({ state }) => state === 'WAITING_USER',
    );

    // As a caller does that dies before it signals.
    await stage.store.runs.requestCancel(run.ref);
    const row = await stage.end(run);

    expect(row).toMatchObject({ terminal: 'CANCELLED', reason: 'cancelled.signal' });
    expect(await stage.store.wakes.take({ limit: 100 })).toEqual([]);
  });

  test('an engine that is away leaves them owed', async () => {
    await losingTheReceipt();
    const run = await stage.start({ agent: 'tickets-brief', limits: { deadlineMs: 5_000 } });
    const { id } = (await reassignIn(run, 'UNKNOWN')) ?? {};
    await stage.workers.at(-1)?.kill();
    const ended = await stage.store.runs.closeFromOutside(run.ref, { reason: 'test', eventId: 'closed:1', body: {} });
    const connection = Connection.lazy({ address: '127.0.0.1:1', connectTimeout: 100 });
    const away = { temporal: new Client({ connection }), taskQueue: stage.taskQueue };

    expect(await relayWakes(stage.store, away, log)).toBe(0);
    await connection.close();
    await stage.startWorker();
    await stage.desk.clearFaults();
    const result = await resultAt(run, 2);

    expect(ended.terminal).toBe('FAILED');
    expect(result).toMatchObject({ resolutions: [{ operation: id, to: 'SUCCEEDED' }] });
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  });
});

describe('reopen', () => {
  const alice = { tenant: 'acme', subject: 'alice', roles: ['agent-operator'] };
  const carol = { tenant: 'acme', subject: 'carol', roles: ['budget-owner'] };

  test('another run goes on with steps, account, facts and operations, and nothing is done twice', async () => {
    const old = await stage.start({ limits: { maxSteps: 3 } });
    const ended = await stage.end(old);
    const before = await stage.runs.details(stage.tenant, old.ref.run);
    expect(ended).toMatchObject({ terminal: 'BUDGET_EXHAUSTED', reason: 'budget.steps' });
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);

    const afterEnd = makeAfterEnd();
    const run = await afterEnd.reopen(alice, old.ref.run);
    const row = await stage.end(run);

    expect(row).toMatchObject({ terminal: 'SUCCEEDED', reopens: old.ref.run });
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await sendsOf(stage, 'reassign')).toBe(1);
    const after = await stage.runs.details(stage.tenant, run.ref.run);
    expect(Math.min(...after.attempts.map(({ step }) => step))).toBe(ended.step + 1);
    expect(after.totals.steps).toBe(before.totals.steps + new Set(after.attempts.map(({ step }) => step)).size);
    expect(after.ledger[0]).toMatchObject({
      reference: `reopened:${old.ref.run}`,
      kind: 'carried',
      usage: { costMicros: before.totals.costMicros, inputTokens: before.totals.inputTokens },
    });
    const facts = await stage.store.facts.list(run.ref, { step: ended.step, alsoOf: [] });
    const known = await stage.store.facts.list(old.ref, { step: ended.step, alsoOf: [] });
    expect(facts).toEqual(known);
    expect(facts.length).toBeGreaterThan(0);
    const task = JSON.stringify(stage.model.requests.at(-1)?.body);
    expect(task).toContain('budget.steps');
    // Again it is the same run; with another task it is refused.
    expect((await afterEnd.reopen(alice, old.ref.run)).ref).toEqual(run.ref);
    await expect(afterEnd.reopen(alice, old.ref.run, { goal: 'Something else.' })).rejects.toMatchObject({
      code: 'reopen.reopened_already',
    });
    expect(await stage.runs.get(stage.tenant, old.ref.run)).toEqual(ended);
    await checkInvariants(stage, row);
  });

  test('is refused while the run goes on, and while nobody knows what became of an operation', async () => {
    await losingTheReceipt();
    const afterEnd = makeAfterEnd();
    const run = await stage.start({ agent: 'tickets-brief' });
    await reassignIn(run, 'UNKNOWN');
    await expect(afterEnd.reopen(alice, run.ref.run)).rejects.toMatchObject({ code: 'reopen.run_not_ended' });
    await stage.runs.cancel(stage.tenant, run.ref.run);
    await stage.end(run);

    await expect(afterEnd.reopen(alice, run.ref.run)).rejects.toMatchObject({ code: 'reopen.operation_unknown' });

    await stage.desk.clearFaults();
    await resultAt(run, 2);
    const next = await afterEnd.reopen(alice, run.ref.run);
    expect((await stage.end(next)).terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await sendsOf(stage, 'reassign')).toBe(1);
  });

  test('what was spent counts on, and more than the limits of the agent takes a permission', async () => {
    const afterEnd = makeAfterEnd();
    const old = await stage.start({ limits: { maxSteps: 2 } });
    await stage.end(old);
    const narrow = await afterEnd.reopen(alice, old.ref.run, { limits: { maxSteps: 2 } });
    expect(await stage.end(narrow)).toMatchObject({ terminal: 'BUDGET_EXHAUSTED', reason: 'budget.steps', step: 4 });
    expect(await effectsOf(stage)).toEqual([]);

    const more = { limits: { maxSteps: 1_000 } };
    await expect(afterEnd.reopen(alice, narrow.ref.run, more)).rejects.toMatchObject({
      code: 'reopen.limits_not_permitted',
    });
    const wide = await afterEnd.reopen(carol, narrow.ref.run, more);

    expect(wide).toMatchObject({ extension: { maxSteps: 1_000 }, principal: { subject: 'carol' } });
    expect((await stage.end(wide)).terminal).toBe('SUCCEEDED');
    await checkInvariants(stage, narrow, wide);
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  });
});

/** As a service has it: nobody resolves their own run, and who owns budgets may extend them. */
const makeAfterEnd = (): AfterEnd => {
  const agentNamed = (name: string) =>
    createTicketsAgent({ name, tools: { deskUrl: stage.deskProcess.url, contract: 'neither' } });
  const extend = `@id("extend") permit (principal in Role::"budget-owner", action == Action::"extend", resource is Agent)
    when { context.limits has maxSteps && context.limits.maxSteps <= 1000 };`;
  const notYourOwn = `@id("not-your-own") forbid (principal, action == Action::"respond", resource is Wait)
    when { resource.kind == "reconciliation" && context.requester == principal.subject };`;
  const agents = compileAgents(
    ['tickets', 'tickets-brief', 'tickets-brief-neither'].map((name) => {
      const agent = agentNamed(name);
      return { ...agent, policy: [agent.policy, extend, notYourOwn].join('\n') };
    }),
  );
  return new AfterEnd({ store: stage.store, temporal: stage.temporal, taskQueue: stage.taskQueue, agents });
};
