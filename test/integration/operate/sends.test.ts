/** Sequences of sends and look-ups against a real desk and a real database. Effects are counted at the desk. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { FAILURE, PLAN } from '../../../activities/context/artifact-shapes';
import { readArtifact } from '../../../activities/context/read-artifact';
import type { FaultRuleInput } from '../../../examples/tickets/desk/core/faults';
import { REASSIGN } from '../../support/operate/calls';
import {
  openOperateStage,
  QUIET_MS,
  TIMES,
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

const onReassign = (fault: FaultRuleInput['fault'], rule: Partial<FaultRuleInput> = {}): Promise<number> =>
  stage.desk.addFault({ match: { route: 'reassign' }, fault, ...rule });

const effects = async (): Promise<readonly string[]> =>
  (await stage.desk.effects()).map(({ kind, ticket, key }) => `${kind} ${ticket} ${key ?? 'without a key'}`);

/** Where nobody listens any more. */
const closedAddress = async (): Promise<string> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a TCP address');
  return `http://127.0.0.1:${String(address.port)}`;
};

const failureOf = async (run: OperateRun, hash: Parameters<typeof readArtifact>[1]['hash'] | undefined) => {
  if (hash === undefined) throw new Error('no failure is stored');
  return readArtifact(stage.store, { tenant: run.ref.tenant, hash }, FAILURE);
};

describe('a write that works', () => {
  test('is sent once, and its facts, evidence and bodies are stored', async () => {
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);

    const sent = await call.dispatch();

    expect(sent).toMatchObject({
      kind: 'outcome',
      outcome: { kind: 'settled', state: 'SUCCEEDED' },
      totals: { toolCalls: 1 },
    });
    expect(await effects()).toEqual([`reassign T100 ${call.id}`]);
    const row = await call.row();
    expect(row).toMatchObject({ state: 'SUCCEEDED', generation: 1, evidence: 'E1.1', openGenerations: [] });
    expect(sent).toMatchObject({ outcome: { result: row.resultHash?.slice(0, 16) } });
    const facts = await run.facts();
    expect(facts).toContainEqual(
      expect.objectContaining({
        object: 'ticket:T100',
        field: 'team',
        value: 'payments-oncall',
        version: '4',
        evidence: 'E1.1',
      }),
    );
    const raw = row.raw && (await stage.store.artifacts.get(run.ref.tenant, row.raw));
    expect(Buffer.from(raw?.bytes ?? []).toString('utf8')).toContain('"ticketVersion":4');
    const decisions = await stage.store.decisions.list(run.ref, 1);
    expect(decisions).toMatchObject([{ validator: 'policy', phase: 'dispatch', verdict: 'pass', ordinal: 1, try: 1 }]);
  });

  test('run again, the activity tells the same and sends nothing', async () => {
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);

    const first = await call.dispatch();
    const again = await call.dispatch();

    expect(again).toEqual(first);
    expect(await stage.sends()).toHaveLength(1);
  });
});

describe('a lost receipt', () => {
  test('A5: the look-up by key finds it, and nothing is sent again', async () => {
    await onReassign({ kind: 'apply-then-drop' });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);

    const { outcome, trail } = await call.drive();

    expect(outcome).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });
    expect(trail).toEqual(['UNKNOWN lookUp', 'SUCCEEDED']);
    expect(await effects()).toEqual([`reassign T100 ${call.id}`]);
    expect(await stage.sends()).toHaveLength(1);
    expect(await run.facts()).toContainEqual(
      expect.objectContaining({ object: 'ticket:T100', field: 'team', evidence: 'E1.1' }),
    );
  });

  test('B1: dropped before it was applied, it is sent again with the same key once everything is quiet', async () => {
    await onReassign({ kind: 'drop-before-apply' });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);

    const { trail } = await call.drive();

    expect(trail).toEqual(['UNKNOWN lookUp', 'UNKNOWN lookUp', 'UNKNOWN resend', 'SUCCEEDED']);
    expect(await effects()).toEqual([`reassign T100 ${call.id}`]);
    const sends = await stage.sends();
    expect(sends.map(({ key }) => key)).toEqual([call.id, call.id]);
    expect((sends[1]?.at ?? 0) - (sends[0]?.at ?? 0)).toBeGreaterThanOrEqual(QUIET_MS);
    expect(await call.row()).toMatchObject({ generation: 2, state: 'SUCCEEDED' });
  });

  test('R12: applied late and seen later still, it is found before anything is sent', async () => {
    await stage.desk.changeSettings({ lookupLagMs: 200 });
    await onReassign({ kind: 'apply-late', delayMs: 500 });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);

    const { outcome } = await call.drive();

    expect(outcome).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });
    expect(await stage.sends()).toHaveLength(1);
    expect(await effects()).toHaveLength(1);
  });

  test('a desk that answers after the deadline is looked up, too', async () => {
    await onReassign({ kind: 'apply-then-hold', delayMs: 5_000 });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);

    const { outcome } = await call.drive();

    expect(outcome).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });
    expect(await stage.sends()).toHaveLength(1);
  });

  describe("B10: with the desk's own dedupe switched off there is still one effect", () => {
    test.each([['apply-then-drop'], ['drop-before-apply']] as const)('%s', async (kind) => {
      await stage.desk.changeSettings({ dedupe: false });
      await onReassign({ kind });
      const run = await stage.begin();
      const call = await run.proposeOne(REASSIGN);

      const { outcome } = await call.drive();

      expect(outcome).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });
      expect(await effects()).toEqual([`reassign T100 ${call.id}`]);
    });
  });

  test('R11: past the time that keys are remembered, a person is asked instead of sending again', async () => {
    await onReassign({ kind: 'drop-before-apply' });
    const run = await stage.begin({ times: { keyRetentionMs: 1_000 } });
    const call = await run.proposeOne(REASSIGN);

    const { outcome } = await call.drive();

    expect(outcome.kind).toBe('unresolved');
    expect(await stage.sends()).toHaveLength(1);
  });
});

describe('a dead or slow sender', () => {
  test('B2: killed after the desk had applied it, another worker finds it and sends nothing', async () => {
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);
    await stage.store.operations.dispatch(run.ref, call.id, {
      decision: 'd',
      timeoutMs: TIMES.timeoutMs,
      maySendAgain: false,
      maxToolCalls: 40,
    });
    await fetch(`${stage.deskUrl}/tickets/T100/reassign`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': call.id },
      body: JSON.stringify({ team: 'payments-oncall' }),
    });

    const { outcome, trail } = await call.drive();

    expect(trail).toEqual(['UNKNOWN lookUp', 'SUCCEEDED']);
    expect(outcome).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });
    expect(await stage.sends()).toHaveLength(1);
  });

  test('killed before anything had left, it is sent again only once everything is quiet', async () => {
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);
    const grantedAt = Date.now();
    await stage.store.operations.dispatch(run.ref, call.id, {
      decision: 'd',
      timeoutMs: TIMES.timeoutMs,
      maySendAgain: false,
      maxToolCalls: 40,
    });

    await call.drive();

    const [only] = await stage.sends();
    expect((only?.at ?? 0) - grantedAt).toBeGreaterThanOrEqual(QUIET_MS - 50);
    expect(await effects()).toHaveLength(1);
    expect(await call.row()).toMatchObject({ state: 'SUCCEEDED', generation: 2 });
  });

  test('B3: two workers at once, one sends, and both tell the same end', async () => {
    await onReassign({ kind: 'slow', delayMs: 300 });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);

    const [one, other] = await Promise.all([call.drive(), call.drive()]);

    expect(one.outcome).toEqual(other.outcome);
    expect(one.outcome).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });
    expect(await stage.sends()).toHaveLength(1);
    expect(await effects()).toHaveLength(1);
  });

  test('a tool that can tell nothing is asked of a person only when its sender had its time', async () => {
    const run = await stage.begin({ contract: 'neither' });
    const call = await run.proposeOne(REASSIGN);
    await stage.store.operations.dispatch(run.ref, call.id, {
      decision: 'd',
      timeoutMs: TIMES.timeoutMs,
      maySendAgain: false,
      maxToolCalls: 40,
    });

    const { trail } = await call.drive();

    expect(trail).toEqual(['UNKNOWN lookUp', 'unresolved']);
    const { dispatchDeadlineAt = 0 } = await call.row();
    expect(Date.now()).toBeGreaterThanOrEqual(dispatchDeadlineAt);
  });
});

describe('B4: the look-up itself is down', () => {
  test('it is asked with growing back-off, a bounded number of times, then a person; nothing is sent', async () => {
    await stage.desk.changeSettings({ lookup: 'fail' });
    await onReassign({ kind: 'drop-before-apply' });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);
    const waits: number[] = [];

    const { outcome } = await call.drive({
      isImpatient: true,
      onOutcome: (each) => {
        if (each.kind === 'pending') waits.push(each.next.afterMs);
        return Promise.resolve();
      },
    });

    expect(outcome.kind).toBe('unresolved');
    expect(waits).toEqual([250, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]);
    expect(await stage.sends()).toHaveLength(1);
    expect(await call.row()).toMatchObject({ state: 'UNRESOLVED', lookUps: 8 });
  });

  test('a look-up that never answers has a deadline of its own', async () => {
    await onReassign({ kind: 'apply-then-drop' });
    await stage.desk.addFault({ match: { route: 'lookup' }, fault: { kind: 'hang' } });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);

    const { trail } = await call.drive();

    expect(trail).toEqual(['UNKNOWN lookUp', 'UNKNOWN lookUp', 'SUCCEEDED']);
  });
});

describe('B11: each declaration ends in its own way when the receipt is lost', () => {
  test('key only: the same key again is the truth', async () => {
    await onReassign({ kind: 'apply-then-drop' });
    const run = await stage.begin({ contract: 'key only' });
    const call = await run.proposeOne(REASSIGN);

    const { trail } = await call.drive();

    expect(trail).toEqual(['UNKNOWN resend', 'SUCCEEDED']);
    expect(await effects()).toHaveLength(1);
    expect((await stage.sends()).map(({ key }) => key)).toEqual([call.id, call.id]);
  });

  test('look-up only: found is settled', async () => {
    await onReassign({ kind: 'apply-then-drop' });
    const run = await stage.begin({ contract: 'look-up only' });
    const call = await run.proposeOne(REASSIGN);

    expect((await call.drive()).trail).toEqual(['UNKNOWN lookUp', 'SUCCEEDED']);
    expect(await stage.sends()).toHaveLength(1);
  });

  test.each([
    ['look-up only, not found', 'look-up only', 'drop-before-apply', 0],
    ['neither', 'neither', 'apply-then-drop', 1],
  ] as const)('%s: a person is told everything and asked', async (_title, contract, kind, count) => {
    await onReassign({ kind });
    const run = await stage.begin({ contract });
    const call = await run.proposeOne(REASSIGN);

    const { outcome } = await call.drive();

    if (outcome.kind !== 'unresolved') throw new Error(`it ended as ${outcome.kind}`);
    const plan = await readArtifact(stage.store, { tenant: run.ref.tenant, hash: outcome.plan }, PLAN);
    expect(plan).toMatchObject({
      kind: 'reconciliation',
      isComplete: true,
      operations: [
        {
          id: call.id,
          tool: 'reassign_ticket',
          arguments: REASSIGN.args,
          target: 'ticket:T100',
          expectedVersion: '3',
          risk: 'medium',
        },
      ],
    });
    expect(plan.why).toContain(`Idempotency key: ${call.id}`);
    expect(plan.why).toMatch(/Sent once, first at \d{4}-/);
    expect(await call.row()).toMatchObject({ state: 'UNRESOLVED' });
    expect(await effects()).toHaveLength(count);
    expect(await stage.sends()).toHaveLength(1);
  });
});

describe('refusals', () => {
  test('B6: a 429 is waited out, at least as long as it asks for, and sent with the same key', async () => {
    await onReassign({ kind: 'status', status: 429, retryAfter: 1 });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);

    const { trail } = await call.drive();

    expect(trail).toEqual(['NOT_EXECUTED resend', 'SUCCEEDED']);
    const sends = await stage.sends();
    expect((sends[1]?.at ?? 0) - (sends[0]?.at ?? 0)).toBeGreaterThanOrEqual(1_000);
    expect(new Set(sends.map(({ key }) => key))).toEqual(new Set([call.id]));
    expect(await effects()).toHaveLength(1);
  });

  test('a back-off that is not over by the database is waited for again, and nothing is sent', async () => {
    await onReassign({ kind: 'status', status: 429, retryAfter: 30 });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);
    await call.dispatch();

    const early = await call.dispatch();

    expect(early).toMatchObject({
      kind: 'outcome',
      outcome: { kind: 'pending', state: 'NOT_EXECUTED', next: { action: 'resend' } },
    });
    const { outcome } = early.kind === 'outcome' ? early : { outcome: undefined };
    const afterMs = outcome?.kind === 'pending' ? outcome.next.afterMs : 0;
    expect(afterMs).toBeGreaterThan(28_000);
    expect(afterMs).toBeLessThanOrEqual(30_000);
    expect(await stage.sends()).toHaveLength(1);
  });

  test('what is refused again and again has failed, with the reason', async () => {
    await onReassign({ kind: 'status', status: 429 }, { times: 'always' });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);

    const { outcome, trail } = await call.drive();

    expect(outcome).toMatchObject({ kind: 'settled', state: 'FAILED', code: 'RATE_LIMITED' });
    expect(trail).toHaveLength(5);
    expect(await stage.sends()).toHaveLength(5);
    expect(await failureOf(run, (await call.row()).failure)).toMatchObject({ code: 'RATE_LIMITED' });
  });

  // prettier-ignore
  test.each([
    ['B7', 412, 'STATE_CONFLICT'],
    ['B7', 409, 'STATE_CONFLICT'],
    ['B8', 403, 'PERMISSION_DENIED'],
    ['an argument', 422, 'INVALID_ARGUMENT'],
    ['nothing there', 404, 'NOT_FOUND'],
  ] as const)('%s: a %i ends the operation as %s, told with what is known, and is not sent again', async (_title, status, code) => {
    await onReassign({ kind: 'status', status }, { times: 'always' });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);

    const { trail } = await call.drive();
    await call.dispatch();

    expect(trail).toEqual([`FAILED ${code}`]);
    expect(await stage.sends()).toHaveLength(1);
    const failure = await failureOf(run, (await call.row()).failure);
    expect(failure.code).toBe(code);
    expect(failure.recoveries.length).toBeGreaterThan(0);
    if (code === 'STATE_CONFLICT') expect(failure.confirmed).toMatchObject({ currentVersion: 3 });
  });

  test('a 503 leaves the outcome unknown, whatever it says, and is looked up', async () => {
    await onReassign({ kind: 'status', status: 503, applied: true });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);

    expect((await call.drive()).trail).toEqual(['UNKNOWN lookUp', 'SUCCEEDED']);
    expect(await effects()).toHaveLength(1);
    expect(await stage.sends()).toHaveLength(1);
  });

  test('nobody listens: provably not executed', async () => {
    const run = await stage.begin({ agents: [ticketsAgent(await closedAddress())] });
    const call = await run.proposeOne(REASSIGN);

    expect(await call.dispatch()).toMatchObject({
      outcome: { kind: 'pending', state: 'NOT_EXECUTED', next: { action: 'resend' } },
    });
    expect(await call.row()).toMatchObject({ state: 'NOT_EXECUTED', code: 'UNAVAILABLE', openGenerations: [] });
  });
});

/** Lets nobody go on before so many have come and it is open; who has come before goes on. */
const meeting = (size: number, open: () => Promise<unknown>): ((name: string) => Promise<unknown>) => {
  const names = new Set<string>();
  let opened = (_value: unknown): void => undefined;
  const whenOpen = new Promise((resolve) => (opened = resolve));
  return (name) => {
    if (!names.has(name) && names.add(name).size === size) opened(open());
    return whenOpen;
  };
};

const BLIND_MS = 3_600_000;

describe('B13: a later send that is refused proves nothing about the first, which worked', () => {
  test('generation 2 gets 429, 403, 409 or 412', async () => {
    // Blind until all have been sent a second time, so that no look-up sees the first effect before.
    await stage.desk.changeSettings({ lookupLagMs: BLIND_MS });
    const cases = [429, 403, 409, 412].map((status, index) => ({ status, ticket: `T10${String(index)}` }));

    const secondSends = meeting(cases.length, () => stage.desk.changeSettings({ lookupLagMs: 0 }));
    const ends = await Promise.all(
      cases.map(async ({ status, ticket }) => {
        const match = { route: 'reassign', ticket } as const;
        await stage.desk.addFault({ match, fault: { kind: 'apply-then-drop' } });
        await stage.desk.addFault({ match, fault: { kind: 'status', status, retryAfter: 1 } });
        const run = await stage.begin();
        const call = await run.proposeOne({ tool: 'reassign_ticket', args: { ticket, team: 'legal' } });
        const onOutcome = async (): Promise<void> => {
          if ((await call.row()).generation === 2) await secondSends(ticket);
        };
        return { ticket, call, ...(await call.drive({ onOutcome })) };
      }),
    );

    for (const { ticket, call, outcome, trail } of ends) {
      expect(outcome).toMatchObject({ kind: 'settled', state: 'SUCCEEDED' });
      expect(trail.filter((each) => !each.startsWith('UNKNOWN'))).toEqual(['SUCCEEDED']);
      expect((await effects()).filter((each) => each.includes(ticket))).toEqual([`reassign ${ticket} ${call.id}`]);
      expect(await call.row()).toMatchObject({ generation: 2 });
    }
  });

  test('generation 2 is refused for good and the first was never executed: that is its end, without a third send', async () => {
    await onReassign({ kind: 'drop-before-apply' });
    await onReassign({ kind: 'status', status: 403 }, { times: 'always' });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);

    const { outcome } = await call.drive();

    expect(outcome).toMatchObject({ kind: 'settled', state: 'FAILED', code: 'PERMISSION_DENIED' });
    expect(await stage.sends()).toHaveLength(2);
    expect(await effects()).toEqual([]);
  });
});

describe('our own fault', () => {
  test('a reply that the tool cannot read is no second send: the look-up says that it happened', async () => {
    await stage.desk.addFault({
      match: { route: 'reassign' },
      fault: { kind: 'body', content: { text: '{"effect":' } },
    });
    const run = await stage.begin();
    const call = await run.proposeOne(REASSIGN);

    expect((await call.drive()).trail).toEqual(['UNKNOWN lookUp', 'SUCCEEDED']);
    expect(await stage.sends()).toHaveLength(1);
  });

  test('where the look-up cannot be read either, it counts as done and says so', async () => {
    const agent = ticketsAgent(stage.deskUrl);
    const tools = agent.tools.map((tool) =>
      tool.name === 'reassign_ticket'
        ? { ...tool, facts: () => { throw new TypeError('team of undefined'); } } // prettier-ignore
        : tool,
    );
    const run = await stage.begin({ agents: [{ ...agent, tools }] });
    const call = await run.proposeOne(REASSIGN);

    const { outcome } = await call.drive();

    expect(outcome).toMatchObject({ kind: 'settled', state: 'SUCCEEDED', code: 'TOOL_FAULT' });
    expect(await stage.sends()).toHaveLength(1);
    expect(await effects()).toHaveLength(1);
    expect(await failureOf(run, (await call.row()).failure)).toMatchObject({
      code: 'TOOL_FAULT',
      confirmed: { executed: true },
    });
  });

  test('a tool that breaks before it sends has failed once that is proved, and is not tried again', async () => {
    const agent = ticketsAgent(stage.deskUrl);
    const tools = agent.tools.map((tool) =>
      tool.name === 'reassign_ticket'
        ? { ...tool, execute: () => Promise.reject(new TypeError('x is not a function')) }
        : tool,
    );
    const run = await stage.begin({ agents: [{ ...agent, tools }] });
    const call = await run.proposeOne(REASSIGN);

    const { outcome } = await call.drive();

    expect(outcome).toMatchObject({ kind: 'settled', state: 'FAILED', code: 'TOOL_FAULT' });
    expect(await call.row()).toMatchObject({ generation: 1 });
    expect(await effects()).toEqual([]);
  });
});

test('B12: a reply is kept while the database is away, and nothing is sent again', async () => {
  await onReassign({ kind: 'apply-then-hold', delayMs: 400 });
  const run = await stage.begin();
  const call = await run.proposeOne(REASSIGN);
  const dispatched = call.dispatch();
  const started = Date.now();
  while ((await effects()).length === 0 && Date.now() - started < 5_000);

  stage.proxy.cut();
  const refused = stage.proxy.whenRefused();
  await refused;
  stage.proxy.mend();

  expect(await dispatched).toMatchObject({ outcome: { kind: 'settled', state: 'SUCCEEDED' } });
  expect(await stage.sends()).toHaveLength(1);
  expect(await call.row()).toMatchObject({ state: 'SUCCEEDED', generation: 1 });
});
