/** What goes on after a run's end: reconciliation, resolutions, ends from outside. Effects are counted at the desk. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { AfterEnd } from '../../../client/after-end';
import { compileAgents } from '../../../definition/compile-agent';
import { createTicketsAgent } from '../../../examples/tickets/agent';
import type { OperationRow, RunRow } from '../../../store/rows';
import type { Result } from '../../../workflows/contract/records';
import { reconcileIdOf } from '../../../workflows/contract/reconcile';
import { effectsOf, sendsOf, type Seen } from '../../support/scenario/effects';
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

/** As a service has it: nobody resolves their own run. */
const makeAfterEnd = (): AfterEnd => {
  const agent = createTicketsAgent({
    name: 'tickets-brief-neither',
    tools: { deskUrl: stage.deskProcess.url, contract: 'neither' },
  });
  const notYourOwn = `@id("not-your-own") forbid (principal, action == Action::"respond", resource is Wait)
    when { resource.kind == "reconciliation" && context.requester == principal.subject };`;
  const agents = compileAgents([{ ...agent, policy: `${agent.policy}\n${notYourOwn}` }]);
  return new AfterEnd({ store: stage.store, temporal: stage.temporal, taskQueue: stage.taskQueue, agents });
};
