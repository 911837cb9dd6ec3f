/** Writes that the desk accepts as jobs. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { REASSIGN } from '../../support/operate/calls';
import { openOperateStage, regular, type OperateStage } from '../../support/operate/operate-stage';

let stage: OperateStage;
beforeAll(async () => {
  stage = await openOperateStage();
});
afterEach(() => stage.reset());
afterAll(() => stage.close());

const acceptAsJob = (job: object): Promise<number> =>
  stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'accept-job', ...job } });

test('A4: accepted, polled while it works, and done only when the job is', async () => {
  await acceptAsJob({ manual: true });
  const run = await stage.begin();
  const call = await run.proposeOne(REASSIGN);

  const { outcome, trail } = await call.drive({
    onOutcome: async (seen) => {
      if (seen.kind === 'pending' && seen.state === 'RUNNING') await stage.desk.finishJob('J3');
    },
  });

  expect(outcome).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });
  expect(trail[0]).toBe('ACCEPTED poll');
  expect(trail).toContain('RUNNING poll');
  expect(await call.row()).toMatchObject({ state: 'SUCCEEDED', job: 'J3', generation: 1 });
  expect(await stage.desk.effects()).toHaveLength(1);
  expect(await run.facts()).toContainEqual(
    expect.objectContaining({ object: 'ticket:T100', field: 'team', value: 'payments-oncall' }),
  );
});

test('a job that fails is a failure of its real kind', async () => {
  await acceptAsJob({ runMs: 100, outcome: 'failed' });
  const run = await stage.begin();
  const call = await run.proposeOne(REASSIGN);

  const { outcome } = await call.drive();

  expect(outcome).toMatchObject({ kind: 'settled', state: 'FAILED' });
  expect(await stage.desk.effects()).toEqual([]);
});

describe('R51: a job that is not heard of', () => {
  test('polls that get no answer are made less and less often, until the limit; then the key is asked about', async () => {
    await acceptAsJob({ manual: true });
    await stage.desk.addFault({ match: { route: 'job' }, times: 'always', fault: { kind: 'status', status: 503 } });
    const run = await stage.begin({ times: { pollLimitMs: 3_000 } });
    const call = await run.proposeOne(REASSIGN);
    const waits: number[] = [];

    const { trail } = await call.drive({
      isImpatient: false,
      onOutcome: async (outcome) => {
        if (outcome.kind !== 'pending') return;
        if (outcome.next.action === 'poll') waits.push(outcome.next.afterMs);
        else if ((await stage.desk.effects()).length === 0) await stage.desk.finishJob('J3');
      },
    });

    // The last one is cut by the limit.
    const whole = waits.slice(0, -1);
    expect(whole.length).toBeGreaterThan(1);
    expect(whole).toEqual(whole.map((_, index) => 100 * 2 ** index));
    expect(trail).toContain('UNKNOWN lookUp');
    expect(trail.at(-1)).toBe('SUCCEEDED');
    expect(await stage.sends()).toHaveLength(1);
  });

  test('a desk that has forgotten the job contradicts itself: a person, and nothing is sent', async () => {
    await acceptAsJob({ manual: true });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);
    const first = await call.dispatch();
    if (first.kind !== 'outcome') throw new Error(first.kind);
    await stage.desk.reset();

    const { trail } = await call.goOn(first.outcome);

    expect(trail).toEqual(['ACCEPTED poll', 'UNKNOWN lookUp', 'unresolved']);
    expect(await call.row()).toMatchObject({ state: 'UNRESOLVED', job: 'J3' });
    expect(await stage.sends()).toEqual([]);
  });
});

describe('a cancel while a job works', () => {
  test('one that can be cancelled is, and that is proved by the next poll', async () => {
    await acceptAsJob({ manual: true });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);
    const first = await call.dispatch();
    if (first.kind !== 'outcome') throw new Error(first.kind);

    const stopped = await regular().run(run.worker.stopOperations, {
      ref: run.ref,
      events: [],
      isCancel: true,
      step: 1,
    });
    const { outcome } = await call.goOn(first.outcome);

    expect(stopped).toEqual({ cancelled: [] });
    expect(outcome).toMatchObject({ kind: 'settled', state: 'CANCELLED' });
    expect(await stage.desk.jobs()).toMatchObject([{ status: 'cancelled' }]);
  });

  test('one that cannot be cancelled goes on, and its true end is told', async () => {
    await acceptAsJob({ runMs: 500, cancellable: false });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);
    const first = await call.dispatch();
    if (first.kind !== 'outcome') throw new Error(first.kind);

    await regular().run(run.worker.stopOperations, { ref: run.ref, events: [], isCancel: true, step: 1 });
    const { outcome } = await call.goOn(first.outcome);

    expect(outcome).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });
    expect(await stage.desk.effects()).toHaveLength(1);
  });

  test('unsent writes of the open step are named as called off, reads are left to end', async () => {
    const run = await stage.begin();
    await run.propose(
      REASSIGN,
      { tool: 'get_ticket', args: { ticket: 'T100' } },
      { tool: 'close_ticket', args: { ticket: 'T101' } },
    );

    const stopped = await regular().run(run.worker.stopOperations, {
      ref: run.ref,
      events: [],
      isCancel: true,
      step: 1,
    });

    expect(stopped).toEqual({ cancelled: [1, 3] });
  });
});
