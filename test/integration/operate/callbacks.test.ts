/** What a write makes of the callbacks that are reported about it, in whatever order they come. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Effect } from '../../../examples/tickets/desk/core/model';
import type { InboxEffect, OperationRow } from '../../../store/rows';
import { canMove } from '../../../workflows/machine/operation-transitions';
import type { OperationOutcome } from '../../../workflows/machine/events';
import {
  openOperateStage,
  regular,
  ticketsAgent,
  TIMES,
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

const COMMENT = { tool: 'add_comment', args: { ticket: 'T100', text: 'seen' } } as const;
const TYPES = ['job.accepted', 'job.running', 'job.done'] as const;
type Type = (typeof TYPES)[number] | 'job.failed';

interface Accepted {
  readonly run: OperateRun;
  readonly call: DrivenCall;
  /** At the desk, done. */
  readonly job: { readonly id: string; readonly effect?: Effect | undefined };
}

/** Accepted as a job, which is done at the desk, and of which nobody has heard. */
const beginAccepted = async (options: Parameters<OperateStage['begin']>[0] = {}): Promise<Accepted> => {
  await stage.desk.addFault({ match: { route: 'comment' }, fault: { kind: 'accept-job', manual: true } });
  const run = await stage.begin(options);
  const call = await run.proposeOne(COMMENT);
  await call.dispatch();
  const { job: id = '' } = await call.row();
  return { run, call, job: await stage.desk.finishJob(id) };
};

interface Report {
  readonly type: Type;
  readonly eventId: string;
  readonly changes?: { readonly job?: string; readonly key?: string | null; readonly effect?: Effect };
}

/** As the service stores it. */
const report = async ({ run: { ref }, call, job }: Accepted, { type, eventId, changes = {} }: Report) => {
  const at = '2026-01-01T00:00:00.000Z';
  const done = type === 'job.done' ? { effect: job.effect } : {};
  const body = { eventId, job: job.id, key: call.id, type, sequence: 1, at, ...done, ...changes };
  const stored = await stage.store.artifacts.putJson(ref.tenant, body);
  return stage.store.inbox.receive(ref, { operation: call.id, eventId, body: stored });
};

const effectsOf = async ({ run: { ref } }: Accepted): Promise<readonly (InboxEffect | undefined)[]> =>
  (await stage.store.inbox.list(ref)).map(({ effect }) => effect);

/** Of the journal: what people see of the reports. */
const linesOf = async ({ run: { ref } }: Accepted) =>
  (await stage.store.journal.list(ref, { after: 0, limit: 99 }))
    .filter(({ kind }) => kind === 'outside')
    .map(({ body }) => [body['kind'], body['event'], body['effect']]);

const orders = <T>(items: readonly T[]): readonly (readonly T[])[] =>
  items.length <= 1
    ? [items]
    : items.flatMap((item, index) => orders(items.filter((_, at) => at !== index)).map((rest) => [item, ...rest]));

describe('R48: accepted, running and done in every order, each one to three times', () => {
  /** After each report the run looks; the state never moves back, and one report is the end. */
  const play = async (sequence: readonly (typeof TYPES)[number][]): Promise<void> => {
    const accepted = await beginAccepted({ times: { pollEveryMs: 60_000, pollLimitMs: 600_000 } });
    const { run, call } = accepted;
    let before: OperationRow = await call.row();
    let ended: { readonly row: OperationRow; readonly outcome: OperationOutcome } | undefined;
    for (const [index, type] of sequence.entries()) {
      // Sent again it has the same event id, except that the third time it is another event which says the same.
      const count = sequence.slice(0, index).filter((each) => each === type).length;
      await report(accepted, { type, eventId: count === 2 ? `${type}.again` : type });
      const outcome = await call.pursue();
      const row = await call.row();
      expect(row.state === before.state || canMove(before.state, row.state)).toBe(true);
      if (ended === undefined) expect(row.state === 'SUCCEEDED').toBe(type === 'job.done');
      else expect({ row, outcome }).toEqual(ended);
      if (row.state === 'SUCCEEDED') ended ??= { row, outcome };
      before = row;
    }
    expect(before).toMatchObject({ state: 'SUCCEEDED', polls: 0, lookUps: 0, generation: 1 });
    // The poll that comes now agrees.
    expect(await call.pursue('poll')).toEqual(ended?.outcome);
    const effects = await effectsOf(accepted);
    expect(effects).not.toContain(undefined);
    expect(effects.filter((effect) => effect === 'moved').length).toBeLessThanOrEqual(2);
    expect(
      (await run.facts()).filter(({ object, field }) => object === 'ticket:T100' && field === 'version'),
    ).toHaveLength(1);
  };

  // Twice is in the mixed ones.
  const COUNTS = [1, 3] as const;
  const times = COUNTS.flatMap((a) => COUNTS.flatMap((b) => COUNTS.map((c) => [a, b, c] as const)));

  test.each(orders(TYPES).map((order) => [order.join(', '), order] as const))('%s', async (_title, order) => {
    for (const counts of times) {
      await play(order.flatMap((type, index) => Array.from({ length: counts[index] ?? 1 }, () => type)));
      await stage.reset();
    }
  });

  test('mixed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray([...TYPES, ...TYPES, ...TYPES], { minLength: 4 }), async (sequence) => {
        fc.pre(sequence.includes('job.done'));
        await play(sequence);
        await stage.reset();
      }),
      { numRuns: 20 },
    );
  });
});

describe('what a callback proves', () => {
  test('the end, with its facts and the body as evidence', async () => {
    const accepted = await beginAccepted();
    const { run, call, job } = accepted;
    await report(accepted, { type: 'job.done', eventId: 'evt_1' });

    expect(await call.pursue()).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });

    const row = await call.row();
    const [stored] = await stage.store.inbox.list(run.ref);
    expect(row).toMatchObject({ state: 'SUCCEEDED', evidence: 'E1.1', raw: stored?.body, polls: 0 });
    expect(stored).toMatchObject({ effect: 'moved', job: job.id });
    expect(await run.facts()).toContainEqual(
      expect.objectContaining({ object: 'ticket:T100', field: 'version', operation: call.id }),
    );
  });

  test('"failed" without a category makes the desk be asked, and the real one is recorded', async () => {
    await stage.desk.addFault({ match: { route: 'comment' }, fault: { kind: 'accept-job', manual: true } });
    const run = await stage.begin();
    const call = await run.proposeOne(COMMENT);
    await call.dispatch();
    const { job: id = '' } = await call.row();
    const accepted = { run, call, job: await stage.desk.finishJob(id, 'failed') };
    await report(accepted, { type: 'job.failed', eventId: 'evt_1' });

    expect(await call.pursue()).toMatchObject({ kind: 'settled', state: 'FAILED', code: 'UNAVAILABLE' });

    expect(await call.row()).toMatchObject({ state: 'FAILED', polls: 1 });
    expect(await effectsOf(accepted)).toEqual(['asked']);
  });

  test('one that does not say makes what comes next come at once', async () => {
    const accepted = await beginAccepted();
    const { call } = accepted;
    const row = await call.row();
    await report(accepted, { type: 'job.failed', eventId: 'evt_1' });

    // As when it comes while the receipt is being recorded: the dispatch is told again.
    const told = await call.dispatch();

    expect(row.state).toBe('ACCEPTED');
    expect(told).toMatchObject({
      outcome: { kind: 'pending', state: 'ACCEPTED', next: { action: 'poll', afterMs: 0 } },
    });
  });

  test('a question that is cut short answers nothing: whoever looks next asks', async () => {
    const accepted = await beginAccepted({ times: { pollEveryMs: 60_000, pollLimitMs: 600_000 } });
    const { run, call } = accepted;
    await stage.desk.addFault({ match: { route: 'job' }, fault: { kind: 'hang' } });
    await report(accepted, { type: 'job.failed', eventId: 'evt_1' });
    const environment = regular();
    const cut = environment.run(run.worker.pursue, {
      ref: run.ref,
      events: [],
      step: 1,
      ordinal: 1,
      action: 'lookUp' as const,
    });
    await untilAsked();
    environment.cancel();
    await Promise.allSettled([cut]);
    expect(await effectsOf(accepted)).toEqual([undefined]);

    expect(await call.pursue('lookUp')).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });

    expect(await effectsOf(accepted)).toEqual(['asked']);
  });

  test.each<[string, Partial<Report['changes'] & object>, InboxEffect]>([
    ['another job', { job: 'J99' }, 'other_job'],
    ["another operation's key", { key: 'op_other_1_1' }, 'other_operation'],
  ])('%s: kept, and nothing moves', async (_title, changes, effect) => {
    const accepted = await beginAccepted({ times: { pollEveryMs: 60_000, pollLimitMs: 600_000 } });
    const { call } = accepted;
    const before = await call.row();
    await report(accepted, { type: 'job.done', eventId: 'evt_1', changes });

    expect(await call.pursue()).toMatchObject({ kind: 'pending', state: 'ACCEPTED' });

    expect(await call.row()).toEqual(before);
    expect(await effectsOf(accepted)).toEqual([effect]);
    expect((await linesOf(accepted)).at(-1)).toEqual(['callback read', 'evt_1', effect]);
  });

  test('two that contradict each other: the first end stays, the other is evidence', async () => {
    const accepted = await beginAccepted({
      agents: [
        withReader(({ json }) =>
          String(typeof json === 'object' && json !== null && 'type' in json ? json.type : '') === 'job.done'
            ? { kind: 'cancelled' }
            : { kind: 'failed', code: 'STATE_CONFLICT', message: 'the ticket is closed' },
        ),
      ],
    });
    await report(accepted, { type: 'job.failed', eventId: 'evt_1' });
    await report(accepted, { type: 'job.done', eventId: 'evt_2' });

    expect(await accepted.call.pursue()).toMatchObject({ kind: 'settled', state: 'FAILED', code: 'STATE_CONFLICT' });

    expect(await effectsOf(accepted)).toEqual(['moved', 'contradicts']);
    expect(await linesOf(accepted)).toEqual([
      ['callback', 'evt_1', undefined],
      ['callback', 'evt_2', undefined],
      ['callback read', 'evt_2', 'contradicts'],
    ]);
    // Looked at again, nothing is added.
    await accepted.call.pursue();
    expect(await linesOf(accepted)).toHaveLength(3);
  });

  test('one that comes after the end is kept, marked as late, and moves nothing', async () => {
    const accepted = await beginAccepted();
    const { run, call } = accepted;
    await report(accepted, { type: 'job.done', eventId: 'evt_1' });
    await call.pursue();
    const before = await call.row();
    await report(accepted, { type: 'job.failed', eventId: 'evt_2' });

    expect(await call.pursue()).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });

    expect(await call.row()).toEqual(before);
    expect(await effectsOf(accepted)).toEqual(['moved', 'late']);
    const lines = await stage.store.journal.list(run.ref, { after: 0, limit: 99 });
    const [, stored] = await stage.store.inbox.list(run.ref);
    expect(lines.at(-1)?.body).toEqual({
      kind: 'callback',
      operation: call.id,
      event: 'evt_2',
      artifact: stored?.body,
      isLate: true,
    });
  });

  test('a tool without a reader, or one that throws, is asked', async () => {
    for (const reader of [
      undefined,
      () => {
        throw new Error('what is this');
      },
    ]) {
      const accepted = await beginAccepted({ agents: [withReader(reader)] });
      await report(accepted, { type: 'job.accepted', eventId: 'evt_1' });

      expect(await accepted.call.pursue()).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });

      expect(await accepted.call.row()).toMatchObject({ polls: 1 });
      expect(await effectsOf(accepted)).toEqual(['asked']);
      await stage.reset();
    }
  });

  test('a worker without the tool leaves it to one that has it', async () => {
    const accepted = await beginAccepted();
    const { run, call } = accepted;
    await report(accepted, { type: 'job.done', eventId: 'evt_1' });
    const other = run.on({}, [withReader(undefined, 'other')]);

    await other.dispatch({ step: 1, ordinal: 1, isApproved: false });
    expect(await effectsOf(accepted)).toEqual([undefined]);

    expect(await call.pursue()).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });
  });
});

describe('before the receipt is there', () => {
  test('a callback that says it is done ends what the sender does not know', async () => {
    await stage.desk.addFault({ match: { route: 'comment' }, fault: { kind: 'apply-then-drop' } });
    const run = await stage.begin();
    const call = await run.proposeOne(COMMENT);
    const sent = call.dispatch();
    const job = { id: 'J3', effect: await untilEffect() };
    await report({ run, call, job }, { type: 'job.done', eventId: 'evt_1' });

    const outcome = await sent;

    const { trail } = outcome.kind === 'outcome' ? await call.goOn(outcome.outcome) : { trail: [outcome.kind] };
    expect(trail.at(-1)).toBe('SUCCEEDED');
    expect(await stage.desk.effects()).toHaveLength(1);
    expect(await stage.sends()).toHaveLength(1);
  });

  test('one that comes while nothing has been sent is kept until something is', async () => {
    await stage.desk.addFault({ match: { route: 'comment' }, fault: { kind: 'accept-job', manual: true } });
    const run = await stage.begin();
    const call = await run.proposeOne(COMMENT);
    await report({ run, call, job: { id: 'J3' } }, { type: 'job.running', eventId: 'evt_1' });
    expect((await stage.store.inbox.list(run.ref)).map(({ effect }) => effect)).toEqual([undefined]);

    expect(await call.dispatch()).toMatchObject({ outcome: { kind: 'pending', state: 'RUNNING' } });

    expect(await call.row()).toMatchObject({ state: 'RUNNING', job: 'J3' });
  });

  test('before anything is sent again the reports are read', async () => {
    await stage.desk.addFault({ match: { route: 'comment' }, fault: { kind: 'apply-then-drop' } });
    const run = await stage.begin({ contract: 'key only' });
    const call = await run.proposeOne(COMMENT);
    const first = await call.dispatch();
    expect(first).toMatchObject({ outcome: { kind: 'pending', state: 'UNKNOWN', next: { action: 'resend' } } });
    const [effect] = await stage.desk.effects();
    await report(
      { run, call, job: { id: 'J3', effect } },
      {
        type: 'job.done',
        eventId: 'evt_1',
      },
    );

    expect(await call.dispatch()).toMatchObject({ outcome: { kind: 'settled', state: 'SUCCEEDED' } });

    expect(await stage.sends()).toHaveLength(1);
    expect(await stage.desk.effects()).toHaveLength(1);
  });
});

describe('the far side said that it did nothing, and did it', () => {
  /** A tool without a key: a second send is a second effect. */
  const beginRefused = async (contract: 'neither' | 'look-up only' = 'neither') => {
    await stage.desk.addFault({
      match: { route: 'comment' },
      fault: { kind: 'status', status: 429, retryAfter: 0, applied: true },
    });
    const run = await stage.begin({ contract, times: { timeoutMs: 300, settleWindowMs: 1 } });
    const call = await run.proposeOne(COMMENT);
    const sent = await call.dispatch();
    expect(sent).toMatchObject({ outcome: { kind: 'pending', state: 'NOT_EXECUTED', next: { action: 'resend' } } });
    const [effect] = await stage.desk.effects();
    return { run, call, job: { id: 'J3', effect } };
  };

  const expectOneEffect = async (): Promise<void> => {
    expect(await stage.sends()).toHaveLength(1);
    expect(await stage.desk.effects()).toHaveLength(1);
  };

  test('"done" is read before it is sent again, and is its end', async () => {
    const refused = await beginRefused();
    const { call } = refused;
    await report(refused, { type: 'job.done', eventId: 'evt_1', changes: { key: null } });

    expect(await call.dispatch()).toMatchObject({ outcome: { kind: 'settled', state: 'SUCCEEDED' } });

    expect(await call.row()).toMatchObject({ state: 'SUCCEEDED', generation: 1, evidence: 'E1.1' });
    expect(await effectsOf(refused)).toEqual(['moved']);
    await expectOneEffect();
  });

  test('"done" is read as soon as the run is told that something came', async () => {
    const refused = await beginRefused();
    await report(refused, { type: 'job.done', eventId: 'evt_1', changes: { key: null } });

    expect(await refused.call.pursue()).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });

    await expectOneEffect();
  });

  test('"running" makes it a job that is polled, not sent', async () => {
    const refused = await beginRefused();
    await report(refused, { type: 'job.running', eventId: 'evt_1', changes: { key: null } });

    expect(await refused.call.dispatch()).toMatchObject({
      outcome: { kind: 'pending', state: 'RUNNING', next: { action: 'poll' } },
    });

    expect(await refused.call.row()).toMatchObject({ state: 'RUNNING', job: 'J3', openGenerations: [1] });
    await expectOneEffect();
  });

  test('one that does not say makes it unknown: looked up where that can be done', async () => {
    const refused = await beginRefused('look-up only');
    await report(refused, { type: 'job.failed', eventId: 'evt_1', changes: { key: null } });

    const { trail } = await refused.call.drive();

    expect(trail).toEqual(['UNKNOWN lookUp', 'SUCCEEDED']);
    expect(await effectsOf(refused)).toEqual(['moved']);
    await expectOneEffect();
  });

  test('one that does not say goes to a person where nobody can be asked, once', async () => {
    const refused = await beginRefused();
    const { run, call } = refused;
    await report(refused, { type: 'job.failed', eventId: 'evt_1', changes: { key: null } });

    expect((await call.drive()).trail.at(-1)).toBe('unresolved');
    await expectOneEffect();

    // Whoever says that it did not happen is believed: the report has been read.
    await stage.store.operations.settle(run.ref, call.id, { state: 'NOT_EXECUTED' });
    expect(await call.dispatch()).toMatchObject({ outcome: { kind: 'settled', state: 'SUCCEEDED' } });
    expect(await stage.sends()).toHaveLength(2);
  });

  test('a cancel calls nothing off of which somebody has reported: its truth is found out', async () => {
    const refused = await beginRefused();
    const { run, call } = refused;
    await report(refused, { type: 'job.done', eventId: 'evt_1', changes: { key: null } });

    expect(await run.worker.stopOperations({ ref: run.ref, events: [], isCancel: true, step: 1 })).toEqual({
      cancelled: [],
    });
    expect(await call.dispatch()).toMatchObject({ outcome: { kind: 'settled', state: 'SUCCEEDED' } });

    await expectOneEffect();
  });

  test('a cancel without a report calls it off', async () => {
    const { run, call } = await beginRefused();

    await run.worker.stopOperations({ ref: run.ref, events: [], isCancel: true, step: 1 });

    expect(await call.row()).toMatchObject({ state: 'CANCELLED' });
  });
});

describe('a person is being asked', () => {
  test('a callback that says it is done ends the asking', async () => {
    await stage.desk.addFault({ match: { route: 'comment' }, fault: { kind: 'apply-then-drop' } });
    const run = await stage.begin({ contract: 'neither', times: { ...TIMES, timeoutMs: 300, settleWindowMs: 1 } });
    const call = await run.proposeOne(COMMENT);
    expect((await call.drive()).trail.at(-1)).toBe('unresolved');
    const [effect] = await stage.desk.effects();
    await report(
      { run, call, job: { id: 'J3', effect } },
      {
        type: 'job.done',
        eventId: 'evt_1',
        changes: { key: null },
      },
    );

    expect(await call.pursue()).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });
  });
});

type Reader = NonNullable<ReturnType<typeof ticketsAgent>['tools'][number]['readCallback']>;

const withReader = (readCallback: Reader | undefined, version = '1') => {
  const agent = ticketsAgent(stage.deskUrl, { times: { pollEveryMs: 60_000, pollLimitMs: 600_000 } });
  const tools = agent.tools.map(({ readCallback: own, ...tool }) => ({
    ...tool,
    ...(own === undefined || readCallback === undefined ? {} : { readCallback }),
    // Another contract is another tool.
    ...(version === '1' || tool.effect === 'read' ? {} : { repeatable: true }),
  }));
  return { ...agent, tools };
};

const untilEffect = async (): Promise<Effect> => {
  for (let tries = 0; tries < 200; tries += 1) {
    const [effect] = await stage.desk.effects();
    if (effect !== undefined) return effect;
  }
  throw new Error('the desk did nothing');
};

const untilAsked = async (): Promise<void> => {
  for (let tries = 0; tries < 1_000; tries += 1) {
    if ((await stage.desk.requests()).some(({ path }) => path.startsWith('/jobs/'))) return;
  }
  throw new Error('the desk was not asked');
};
