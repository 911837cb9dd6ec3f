/** Work that the desk takes as a job, and what it calls back. Effects are counted at the desk. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { optionalTsToMs } from '@temporalio/common/lib/time';
import type { FaultRuleInput } from '../../../examples/tickets/desk/core/faults';
import type { Job } from '../../../examples/tickets/desk/core/model';
import type { InboxRow, OperationRow, RunRow } from '../../../store/rows';
import { effectsOf, sendsOf, type Seen } from '../../support/scenario/effects';
import { readExecutions } from '../../support/scenario/histories';
import { createPeople } from '../../support/scenario/people';
import type { ServiceProcess } from '../../support/scenario/service-process';
import { setStage, type Stage } from '../../support/scenario/stage';
import type { WorkerProcess } from '../../support/scenario/worker-process';

let stage: Stage;
let worker: WorkerProcess;
let service: ServiceProcess;
beforeAll(async () => {
  stage = await setStage({ isWorkerStarted: false, isServiceStarted: true });
  const [first] = stage.services;
  if (first === undefined) throw new Error('the stage has a service');
  service = first;
  worker = await stage.startWorker();
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

/** Polls every two minutes: whatever is known earlier is known by a callback. */
const BY_CALLBACK = { agent: 'tickets-callbacks' };
const REASSIGNED: Seen = { kind: 'reassign', ticket: 'T100', args: { team: 'payments-oncall' } };
const ROUTE = { match: { route: 'reassign' } } as const;

type CallbackMode = Omit<Extract<FaultRuleInput['fault'], { kind: 'callback' }>, 'kind'>;

const acceptJob = async (job: object = {}, callback: CallbackMode = { when: 'normal' }): Promise<void> => {
  // A service that is slow to answer under load is not the subject here: the desk would call again.
  await stage.desk.changeSettings({ callbackTimeoutMs: 30_000 });
  await stage.desk.addFault({ ...ROUTE, fault: { kind: 'accept-job', ...job } });
  await stage.desk.addFault({ ...ROUTE, fault: { kind: 'callback', ...callback } });
};

const reassignOf = async ({ ref }: RunRow): Promise<OperationRow | undefined> =>
  (await stage.runs.details(stage.tenant, ref.run)).operations.find(({ tool }) => tool === 'reassign_ticket');

const untilState = (run: RunRow, state: RunRow['state']): Promise<RunRow> =>
  stage.until(
    () => stage.runs.get(stage.tenant, run.ref.run),
    (row) => row.state === state,
  );

const untilJob = async (): Promise<Job> => {
  const jobs = await stage.until(
    () => stage.desk.jobs(),
    ([first]) => first?.status === 'running',
  );
  const [job] = jobs;
  if (job === undefined) throw new Error('it was waited for');
  return job;
};

const inboxOf = ({ ref }: RunRow): Promise<readonly InboxRow[]> => stage.store.inbox.list(ref);
const effectsIn = async (run: RunRow): Promise<readonly (string | undefined)[]> =>
  (await inboxOf(run)).map(({ effect }) => effect);

const until = <T>(read: (run: RunRow) => Promise<T>, run: RunRow, holds: (value: T) => boolean): Promise<T> =>
  stage.until(() => read(run), holds);

/** Events that gave the write its end. */
const endingsOf = async ({ ref }: RunRow): Promise<readonly unknown[]> =>
  (await stage.runs.events(stage.tenant, ref.run, { after: 0, limit: 1_000 })).filter(({ body }) => {
    const { event, cause } = body;
    return (event === 'operationMoved' || event === 'dispatchEnded') && JSON.stringify(cause).includes('SUCCEEDED');
  });

/** States of the run, in order, each entry once. */
const pathOf = async ({ ref }: RunRow): Promise<readonly unknown[]> =>
  (await stage.runs.events(stage.tenant, ref.run, { after: 0, limit: 1_000 }))
    .filter(({ kind }) => kind === 'machine')
    .map(({ body }) => body['to'])
    .filter((state, index, all) => state !== all[index - 1]);

describe('A4: accepted as a job', () => {
  test('it waits without a model call, is no success before the job is done, and the callback ends the wait', async () => {
    await acceptJob({ manual: true });

    const run = await stage.start(BY_CALLBACK);
    await untilState(run, 'WAITING_TOOL');
    const job = await untilJob();
    // The acknowledgements have been read, and are no completion.
    await until(effectsIn, run, (effects) => effects.length === 2 && !effects.includes(undefined));
    const calls = stage.model.requests.length;
    expect(await stage.runs.get(stage.tenant, run.ref.run)).toMatchObject({ state: 'WAITING_TOOL' });
    expect(await reassignOf(run)).toMatchObject({ state: 'RUNNING', job: job.id });
    expect(await effectsOf(stage)).toEqual([]);
    await stage.desk.finishJob(job.id);
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await sendsOf(stage, 'reassign')).toBe(1);
    expect(await reassignOf(run)).toMatchObject({ state: 'SUCCEEDED', job: job.id, generation: 1, polls: 0 });
    expect(Date.parse(stage.model.book[calls]?.at ?? '')).toBeGreaterThan(
      Date.parse((await stage.desk.effects())[0]?.at ?? ''),
    );
    expect(await pathOf(run)).toContain('WAITING_TOOL');
    expect((await stage.desk.callbacks()).map(({ status }) => status)).toEqual([204, 204, 204]);
  });

  test('the job fails: recorded, and the model is told of what kind', async () => {
    await acceptJob({ runMs: 300, outcome: 'failed' });

    const run = await stage.start(BY_CALLBACK);
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    const { operations } = await stage.runs.details(stage.tenant, run.ref.run);
    const writes = operations.filter(({ tool }) => tool === 'reassign_ticket');
    expect(writes).toMatchObject([{ state: 'FAILED', code: 'UNAVAILABLE' }, { state: 'SUCCEEDED' }]);
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    const told = stage.model.requests.map((request) => JSON.stringify(request)).join('\n');
    expect(told).toContain('UNAVAILABLE');
    expect(told).toContain('job_failed');
  });
});

describe('C1, R43: a callback before anybody waits for it', () => {
  test('before the receipt: kept, and read when the receipt is recorded', async () => {
    await acceptJob({ runMs: 20 }, { when: 'early' });

    const run = await stage.start(BY_CALLBACK);
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await reassignOf(run)).toMatchObject({ state: 'SUCCEEDED', generation: 1, polls: 0, lookUps: 0 });
    expect(await effectsIn(run)).toEqual(['moved', 'nothing_new', 'moved']);
    expect((await stage.desk.callbacks()).map(({ status }) => status)).toEqual([204, 204, 204]);
    expect(await stage.store.wakes.take({ limit: 10 })).toEqual([]);
  });

  test('right after the receipt, while it is being recorded', async () => {
    await acceptJob({ runMs: 0 });

    const run = await stage.start(BY_CALLBACK);
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await reassignOf(run)).toMatchObject({ state: 'SUCCEEDED', generation: 1, polls: 0 });
    expect((await inboxOf(run)).length).toBe(3);
  });

  test('while no worker runs: stored and answered, and the next worker goes on from it', async () => {
    await acceptJob({ manual: true });
    const run = await stage.start(BY_CALLBACK);
    await untilState(run, 'WAITING_TOOL');
    const job = await untilJob();
    await until(effectsIn, run, (effects) => effects.length === 2 && !effects.includes(undefined));

    await worker.kill();
    await stage.desk.finishJob(job.id);
    await until(inboxOf, run, (reports) => reports.length === 3);
    expect(await reassignOf(run)).toMatchObject({ state: 'RUNNING' });
    worker = await stage.startWorker();
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await reassignOf(run)).toMatchObject({ state: 'SUCCEEDED', polls: 0 });
  });

  test('while the service is away: the desk sends it again, and nothing is lost', async () => {
    await stage.desk.changeSettings({ callbackAttempts: 20, callbackBackoffMs: 100 });
    await acceptJob({ manual: true });
    const run = await stage.start(BY_CALLBACK);
    await untilState(run, 'WAITING_TOOL');
    const job = await untilJob();
    await until(inboxOf, run, (reports) => reports.length === 2);

    await service.kill();
    await stage.desk.finishJob(job.id);
    await stage.until(
      () => stage.desk.callbacks(),
      (sent) => sent.some(({ type, status }) => type === 'job.done' && status === undefined),
    );
    service = await stage.startService();
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await reassignOf(run)).toMatchObject({ state: 'SUCCEEDED', polls: 0 });
  });

  test('the service dies between storing it and waking the run: a relay wakes it', async () => {
    await acceptJob({ manual: true }, { when: 'never' });
    const run = await stage.start(BY_CALLBACK);
    await untilState(run, 'WAITING_TOOL');
    const job = await stage.desk.finishJob((await untilJob()).id);
    const operation = (await reassignOf(run))?.id;
    if (operation === undefined) throw new Error('it waits for one');

    const body = { eventId: 'evt_x', job: job.id, key: operation, type: 'job.done', sequence: 3, effect: job.effect };
    const stored = await stage.store.artifacts.putJson(run.ref.tenant, body);
    await stage.store.inbox.receive(run.ref, { operation, eventId: 'evt_x', body: stored });
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsIn(run)).toEqual(['moved']);
    expect(await reassignOf(run)).toMatchObject({ state: 'SUCCEEDED', polls: 0 });
  });
});

describe('C2: the same callback several times', () => {
  test('three at once of each: one continuation', async () => {
    await acceptJob({ runMs: 200 }, { when: 'twice', copies: 3 });

    const run = await stage.start(BY_CALLBACK);
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await inboxOf(run)).toHaveLength(3);
    const sent = await stage.desk.callbacks();
    expect(sent.map(({ status }) => status)).toEqual(Array(9).fill(204));
    expect(await endingsOf(run)).toHaveLength(1);
  });

  test('two different ones that say the same: the second changes nothing', async () => {
    await acceptJob({ manual: true }, { when: 'never' });
    const run = await stage.start(BY_CALLBACK);
    await untilState(run, 'WAITING_TOOL');
    const job = await stage.desk.finishJob((await untilJob()).id);

    await Promise.all(
      ['evt_a', 'evt_b'].map((eventId) => stage.desk.sendCallback(job.id, { type: 'job.done', eventId })),
    );
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await endingsOf(run)).toHaveLength(1);
    const [first, second] = await effectsIn(run);
    expect(first).toBe('moved');
    expect(['late', 'nothing_new']).toContain(second);
  });
});

test('C3: forged, expired, unsigned and wrongly addressed callbacks are refused, journaled, and change nothing', async () => {
  await acceptJob({ manual: true }, { when: 'forged' });
  const run = await stage.start(BY_CALLBACK);
  await untilState(run, 'WAITING_TOOL');
  const job = await stage.desk.finishJob((await untilJob()).id);
  const operation = await reassignOf(run);
  const url = job.callback?.url ?? '';
  const send = async (callback: Parameters<typeof stage.desk.sendCallback>[1]): Promise<number | undefined> =>
    (await stage.desk.sendCallback(job.id, callback))[0]?.status;

  expect(await send({ type: 'job.done', eventId: 'evt_1', signing: 'forged' })).toBe(401);
  expect(await send({ type: 'job.done', eventId: 'evt_2', signing: 'expired' })).toBe(401);
  expect(await send({ type: 'job.done', eventId: 'evt_3', signing: 'none' })).toBe(401);
  expect(await send({ type: 'job.done', url: url.replace(/_(\d+)_(\d+)$/, '_99_1') })).toBe(404);
  expect(await send({ type: 'job.done', url: url.replace(/op_.*$/, 'op_nobodyhasthis_1_1') })).toBe(404);
  expect(await send({ type: 'job.done', url: url.replace(/op_.*$/, 'nonsense') })).toBe(404);

  const lines = await stage.runs.events(stage.tenant, run.ref.run, { after: 0, limit: 1_000 });
  const refused = lines.filter(({ kind, body }) => kind === 'outside' && body['kind'] === 'callback refused');
  expect(refused.map(({ body }) => body['reason'])).toEqual(
    expect.arrayContaining(['callback.signature_invalid', 'callback.expired', 'callback.signature_missing']),
  );
  expect(await inboxOf(run)).toEqual([]);
  expect(await stage.runs.get(stage.tenant, run.ref.run)).toMatchObject({ state: 'WAITING_TOOL' });
  expect(await reassignOf(run)).toEqual(operation);

  expect(await send({ type: 'job.done', eventId: 'evt_4' })).toBe(204);
  expect((await stage.end(run)).terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
});

test("another operation's callback, rightly signed, at this one's address: kept, and it changes nothing", async () => {
  await acceptJob({ manual: true }, { when: 'never' });
  const run = await stage.start(BY_CALLBACK);
  await untilState(run, 'WAITING_TOOL');
  const job = await stage.desk.finishJob((await untilJob()).id);
  await stage.desk.addFault({ match: { route: 'comment' }, fault: { kind: 'accept-job', manual: true } });
  const foreign = await fetch(`${stage.deskProcess.url}/tickets/T101/comments`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'somebody-else' },
    body: JSON.stringify({ text: 'not ours' }),
  });
  expect(foreign.status).toBe(202);
  const [other] = (await stage.desk.jobs()).filter(({ id }) => id !== job.id);
  const done = await stage.desk.finishJob(other?.id ?? '');

  await stage.desk.sendCallback(done.id, { type: 'job.done', eventId: 'evt_1', url: job.callback?.url });
  await until(effectsIn, run, ([first]) => first !== undefined);

  expect(await effectsIn(run)).toEqual(['other_operation']);
  expect(await reassignOf(run)).toMatchObject({ state: 'ACCEPTED' });
  await stage.desk.sendCallback(job.id, { type: 'job.done', eventId: 'evt_2' });
  expect((await stage.end(run)).terminal).toBe('SUCCEEDED');
  expect((await effectsOf(stage)).filter(({ kind }) => kind === 'reassign')).toEqual([REASSIGNED]);
});

describe('C4, R51: the callback never comes', () => {
  test('the poll finds the end', async () => {
    await acceptJob({ runMs: 500 }, { when: 'never' });

    const run = await stage.start();
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect((await reassignOf(run))?.polls).toBeGreaterThan(0);
    expect(await inboxOf(run)).toEqual([]);
  });

  test('a desk that has never heard of the job: a person, and nothing is sent again', async () => {
    await acceptJob({ manual: true }, { when: 'never' });
    const unheard = (route: 'job' | 'lookup', code: string): Promise<number> =>
      stage.desk.addFault({ match: { route }, times: 'always', fault: { kind: 'status', status: 404, code } });
    await unheard('job', 'job_not_found');
    await unheard('lookup', 'operation_not_found');
    const people = await createPeople(stage);

    const run = await stage.start();
    const wait = await people.asked(run, 'reconciliation');
    await stage.desk.clearFaults();
    await stage.desk.finishJob('J3');
    await people.answer(wait, { state: 'SUCCEEDED', why: 'seen at the desk' });
    await stage.end(run);

    expect(await sendsOf(stage, 'reassign')).toBe(1);
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await reassignOf(run)).toMatchObject({ state: 'SUCCEEDED', generation: 1 });
  });

  test('a status that cannot be asked for: asked less and less often, no loop, and a cancel is heard at once', async () => {
    await acceptJob({ manual: true, cancellable: false }, { when: 'never' });
    await stage.desk.addFault({ match: { route: 'job' }, times: 'always', fault: { kind: 'status', status: 503 } });

    const run = await stage.start({ agent: 'tickets-brief' });
    await stage.until(
      () => reassignOf(run),
      (operation) => (operation?.polls ?? 0) >= 2,
    );
    expect(await stage.runs.get(stage.tenant, run.ref.run)).toMatchObject({ state: 'WAITING_TOOL' });
    const calls = stage.model.requests.length;
    await stage.runs.cancel(stage.tenant, run.ref.run);
    const row = await stage.end(run, 15_000);

    expect(row.terminal).toBe('CANCEL_UNKNOWN');
    expect(stage.model.requests).toHaveLength(calls);
    expect(await sendsOf(stage, 'reassign')).toBe(1);
    expect(await effectsOf(stage)).toEqual([]);
  });
});

test('C5: after a cancel that could not be proved the callback is kept, the terminal stays, and a resolution follows', async () => {
  await acceptJob({ manual: true, cancellable: false });
  const run = await stage.start({ agent: 'tickets-brief' });
  await untilState(run, 'WAITING_TOOL');
  const job = await untilJob();
  await stage.runs.cancel(stage.tenant, run.ref.run);
  const row = await stage.end(run);
  expect(row.terminal).toBe('CANCEL_UNKNOWN');

  await stage.desk.finishJob(job.id);
  const result = await stage.until(
    () => stage.runs.result(stage.tenant, run.ref.run),
    (newest) => (newest?.version ?? 0) >= 2,
  );

  expect(result?.resolutions).toMatchObject([{ to: 'SUCCEEDED' }]);
  expect(await stage.runs.get(stage.tenant, run.ref.run)).toMatchObject({ terminal: 'CANCEL_UNKNOWN' });
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  expect((await inboxOf(run)).length).toBe(3);
});

test('R48: whatever order they come in, nothing moves back, and what contradicts the first end is evidence only', async () => {
  await acceptJob({ manual: true }, { when: 'never' });
  const run = await stage.start(BY_CALLBACK);
  await untilState(run, 'WAITING_TOOL');
  const job = await stage.desk.finishJob((await untilJob()).id);
  const send = async (type: 'job.accepted' | 'job.running' | 'job.done' | 'job.failed', eventId: string) => {
    const [sent] = await stage.desk.sendCallback(job.id, { type, eventId, copies: 2 });
    expect(sent?.status).toBe(204);
  };

  await send('job.running', 'evt_2');
  await send('job.done', 'evt_3');
  await send('job.accepted', 'evt_1');
  await send('job.running', 'evt_2');
  await send('job.failed', 'evt_4');
  const row = await stage.end(run);
  await send('job.done', 'evt_5');

  expect(row.terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  expect(await reassignOf(run)).toMatchObject({ state: 'SUCCEEDED', job: job.id });
  expect(await endingsOf(run)).toHaveLength(1);
  expect(await inboxOf(run)).toHaveLength(5);
  expect((await effectsIn(run)).filter((effect) => effect === 'moved').length).toBeLessThanOrEqual(2);
  expect(await effectsIn(run)).not.toContain(undefined);
});

test('R52: "success" for the acceptance is no completion', async () => {
  await acceptJob({ manual: true });
  await stage.desk.addFault({
    ...ROUTE,
    fault: { kind: 'body', status: 200, content: { text: '{"status":"success","finished":false,"job":"J3"}' } },
  });

  const run = await stage.start();
  await untilState(run, 'WAITING_TOOL');
  const job = await untilJob();
  await stage.until(
    () => reassignOf(run),
    (operation) => operation?.state === 'RUNNING',
  );
  const calls = stage.model.requests.length;
  await stage.desk.sendCallback(job.id, { type: 'job.running', eventId: 'evt_progress' });
  await until(effectsIn, run, (effects) => effects.length >= 3 && !effects.includes(undefined));
  expect(await stage.runs.get(stage.tenant, run.ref.run)).toMatchObject({ state: 'WAITING_TOOL' });
  expect(stage.model.requests).toHaveLength(calls);
  await stage.desk.finishJob(job.id);
  const row = await stage.end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  expect(await sendsOf(stage, 'reassign')).toBe(1);
  expect(JSON.stringify(stage.model.requests)).not.toContain('"finished":false');
});

test('R44: the worker dies before the desk has taken the submission: sent with the same key, one job', async () => {
  await stage.desk.addFault({ ...ROUTE, fault: { kind: 'hang' } });
  await acceptJob({ runMs: 300 });

  const run = await stage.start(BY_CALLBACK);
  await stage.until(
    () => sendsOf(stage, 'reassign'),
    (sends) => sends === 1,
  );
  await worker.kill();
  expect(await reassignOf(run)).toMatchObject({ state: 'DISPATCHED', generation: 1 });
  worker = await stage.startWorker();
  const row = await stage.end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  expect(await stage.desk.jobs()).toHaveLength(1);
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  const sends = (await stage.desk.requests()).filter(({ path }) => path.endsWith('/reassign'));
  expect(sends.map(({ key }) => key)).toEqual([(await reassignOf(run))?.id, (await reassignOf(run))?.id]);
});

test('B3: the worker is paused past its heartbeat, a second one takes over, the first one wakes', async () => {
  await stage.desk.addFault({ ...ROUTE, fault: { kind: 'apply-then-hold', delayMs: 1_000 } });

  const run = await stage.start();
  await stage.until(
    () => stage.desk.effects(),
    (effects) => effects.length === 1,
  );
  const paused = worker;
  paused.pause();
  worker = await stage.startWorker();
  // Workflow tasks that the server gives to the open polls of the paused one are lost until they time out, one by one.
  const row = await stage.end(run, 90_000);
  const operation = await reassignOf(run);
  const { decisions, ledger } = await stage.runs.details(stage.tenant, run.ref.run);
  paused.resume();
  // Both work now: the one that slept has had its say when it has gone.
  await paused.terminate();

  expect(row.terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  expect(await sendsOf(stage, 'reassign')).toBe(1);
  expect(operation).toMatchObject({ state: 'SUCCEEDED', generation: 1 });
  expect(await reassignOf(run)).toEqual(operation);
  expect(await endingsOf(run)).toHaveLength(1);
  const after = await stage.runs.details(stage.tenant, run.ref.run);
  expect(after.decisions).toEqual(decisions);
  expect(after.ledger).toEqual(ledger);
});

describe('B4: the look-up itself is down', () => {
  /** Runs of earlier tests may have left an operation that reconciliation still asks about. */
  const lookUpsOf = async ({ ref }: RunRow): Promise<readonly number[]> =>
    (await stage.desk.requests())
      .filter(({ path }) => path.startsWith(`/operations/op_${ref.run.slice('run_'.length)}_`))
      .map(({ at }) => Date.parse(at));
  /** How long after the end of each pursuit the next one was asked for, by the engine's clock. */
  const gapsOf = async ({ ref }: RunRow): Promise<readonly number[]> => {
    const events = (await readExecutions(stage.temporal, ref.run)).flatMap(({ history }) => history.events ?? []);
    const begun = events.filter((each) => each.activityTaskScheduledEventAttributes?.activityType?.name === 'pursue');
    return begun.slice(1).map((next, index) => {
      const ended = events.find(
        ({ activityTaskCompletedEventAttributes: completed }) =>
          completed && String(completed.scheduledEventId) === String(begun[index]?.eventId),
      );
      return (optionalTsToMs(next.eventTime) ?? 0) - (optionalTsToMs(ended?.eventTime) ?? Infinity);
    });
  };
  /** For how long the run set its timers, in order, without those of its deadline. */
  const pausesOf = async ({ ref }: RunRow): Promise<readonly number[]> =>
    (await readExecutions(stage.temporal, ref.run))
      .flatMap(({ history }) => history.events ?? [])
      .flatMap(({ timerStartedEventAttributes: timer }) =>
        timer ? [optionalTsToMs(timer.startToFireTimeout) ?? 0] : [],
      )
      .filter((ms) => ms < 60_000);

  test('for a while: asked again with growing pauses, found when it is back, and not sent again', async () => {
    await stage.desk.changeSettings({ lookup: 'fail' });
    await stage.desk.addFault({ ...ROUTE, fault: { kind: 'apply-then-drop' } });

    const run = await stage.start();
    await until(lookUpsOf, run, (asked) => asked.length >= 3);
    await stage.desk.changeSettings({ lookup: 'on' });
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    // As planned, and kept: a busy machine makes a pause longer, never shorter. The engine may have an activity run again,
    // which asks again, so that requests at the desk may stand closer together.
    expect((await pausesOf(run)).slice(0, 3)).toEqual([250, 1_000, 2_000]);
    const [first = 0, second = 0] = await gapsOf(run);
    expect(first).toBeGreaterThanOrEqual(1_000);
    expect(second).toBeGreaterThanOrEqual(2_000);
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await sendsOf(stage, 'reassign')).toBe(1);
  });

  test('for longer than it is worth: a person, never a blind second send', async () => {
    await stage.desk.changeSettings({ lookup: 'fail' });
    await stage.desk.addFault({ ...ROUTE, fault: { kind: 'apply-then-drop' } });
    const people = await createPeople(stage);

    const run = await stage.start({ agent: 'tickets-impatient' });
    const wait = await people.asked(run, 'reconciliation');
    expect(await lookUpsOf(run)).toHaveLength(3);
    expect(await reassignOf(run)).toMatchObject({ state: 'UNRESOLVED', generation: 1 });
    await people.answer(wait, { state: 'SUCCEEDED', why: 'seen at the desk' });
    await stage.end(run);

    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await sendsOf(stage, 'reassign')).toBe(1);
    expect(await reassignOf(run)).toMatchObject({ state: 'SUCCEEDED', generation: 1 });
  });
});
