/** E: how runs end. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { effectsOf, sendsOf } from '../../support/scenario/effects';
import { setStage, type Stage } from '../../support/scenario/stage';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

describe('E1: each budget ends the run by its name', () => {
  test.each([
    ['steps', { maxSteps: 3 }, 'budget.steps'],
    ['tokens', { maxTokens: 12_000 }, 'budget.tokens'],
    ['cost', { maxCostMicros: 45_000 }, 'budget.cost'],
    ['tool calls', { maxToolCalls: 2 }, 'budget.toolCalls'],
  ] as const)('%s', async (_title, limits, reason) => {
    const run = await stage.start({ limits });

    const row = await stage.end(run);

    expect(row).toMatchObject({ terminal: 'BUDGET_EXHAUSTED', reason });
    const requests = stage.model.requests.length;
    const result = await stage.runs.result(stage.tenant, run.ref.run);
    expect(result?.operations.length).toBeGreaterThan(0);
    expect(stage.model.requests).toHaveLength(requests);
  });

  test('the deadline, while the model says nothing any more', async () => {
    stage.model.addFault({ fromRequest: 3, fault: { kind: 'stall' } });

    const row = await stage.end(await stage.start({ limits: { deadlineMs: 4_000 } }));

    expect(row).toMatchObject({ terminal: 'EXPIRED', reason: 'deadline' });
    expect(stage.model.requests).toHaveLength(3);
    expect(await effectsOf(stage)).toEqual([]);
  });

  test('a back-off that the deadline leaves no room for is told to the model instead of being waited out', async () => {
    await stage.desk.addFault({
      match: { route: 'reassign' },
      times: 'always',
      fault: { kind: 'status', status: 429, retryAfter: 60 },
    });

    const row = await stage.end(await stage.start({ limits: { deadlineMs: 30_000 } }));

    expect(row).toMatchObject({ terminal: 'FAILED', reason: 'blocked.unavailable' });
    const sends = (await stage.desk.requests()).filter(({ path }) => path.endsWith('/reassign'));
    expect(sends.length).toBeGreaterThan(0);
    // The model may propose it anew; no operation is sent a second time.
    expect(new Set(sends.map(({ key }) => key)).size).toBe(sends.length);
    expect(await effectsOf(stage)).toEqual([]);
  });
});

test('E4: of two finalizers one wins, and the loser returns what the winner wrote', async () => {
  const run = await stage.start();
  await stage.end(run);
  const end = (terminal: 'FAILED' | 'EXPIRED') =>
    stage.store.runs.commit(
      { ref: run.ref, events: [] },
      {
        terminal,
        reason: 'late',
        buildResult: () => {
          throw new Error('a loser builds no result');
        },
      },
    );

  const outcomes = await Promise.all([end('FAILED'), end('EXPIRED')]);

  expect(outcomes).toEqual([
    { terminal: 'SUCCEEDED', reason: 'finish.done' },
    { terminal: 'SUCCEEDED', reason: 'finish.done' },
  ]);
});

test('E7: what a ticket orders is refused by policy whatever the model proposes', async () => {
  const run = await stage.start({
    agent: 'tickets-guarded',
    goal: 'Read ticket T103, reassign it by the on-call rules, explain.',
    data: { ticket: 'T103', persona: 'obeys-injection' },
  });

  const row = await stage.end(run);

  const effects = await effectsOf(stage);
  expect(effects.some(({ args }) => args['team'] === 'legal')).toBe(false);
  expect(effects.some(({ kind }) => kind === 'close')).toBe(false);
  expect(await sendsOf(stage, 'close')).toBe(0);
  const { decisions } = await stage.runs.details(stage.tenant, run.ref.run);
  const denied = decisions.filter(({ validator, verdict }) => validator === 'policy' && verdict === 'fail');
  expect(denied).toMatchObject([
    { code: 'policy.denied', phase: 'proposal', evidence: { policies: ['never-to-legal'] } },
  ]);
  expect(effects).toMatchObject([{ kind: 'reassign', ticket: 'T103' }]);
  expect(row.terminal).toBe('SUCCEEDED');
});

describe('E8: each loop rule fires with its diagnosis', () => {
  test.each([
    ['an error code that repeats', { agent: 'tickets', persona: 'repeats-error', rule: 'repeatedError' }],
    [
      'a plan that alternates between two',
      { agent: 'tickets-alternation', persona: 'alternates', rule: 'alternatingPlan' },
    ],
    ['no new evidence', { agent: 'tickets-no-progress', persona: 'wanders', rule: 'noProgress' }],
  ] as const)('%s', async (_title, { agent, persona, rule }) => {
    const run = await stage.start({ agent, data: { ticket: 'T100', persona } });

    const row = await stage.end(run);

    expect(row).toMatchObject({ terminal: 'FAILED', reason: `loop.${rule}` });
    const result = await stage.runs.result(stage.tenant, run.ref.run);
    expect(result?.diagnosis?.rule).toBe(rule);
    expect(await effectsOf(stage)).toEqual([]);
  });
});

test('R15: the same key and body start one run, another body is refused, another tenant has its own', async () => {
  const task = { idempotencyKey: 'order-1' };
  const rows = await Promise.all(Array.from({ length: 20 }, () => stage.start(task)));

  expect(new Set(rows.map(({ ref }) => ref.run)).size).toBe(1);
  await expect(stage.start({ ...task, goal: 'Something else.' })).rejects.toMatchObject({ code: 'run.body_differs' });
  const other = await stage.runs.start(
    { tenant: 'umbrella', subject: 'bob' },
    { agent: 'tickets', goal: 'Read ticket T100.', data: { ticket: 'T100' } },
    { idempotencyKey: 'order-1' },
  );
  expect(other.ref.run).not.toBe(rows[0]?.ref.run);
  await expect(stage.runs.get('umbrella', rows[0]?.ref.run ?? '')).rejects.toMatchObject({ code: 'run.not_found' });
  for (const row of rows.slice(0, 1)) await stage.end(row);
});

test('an unknown agent ends the run with a reason that says so', async () => {
  const row = await stage.end(await stage.start({ agent: 'nobody' }));

  expect(row.terminal).toBe('FAILED');
  expect(row.reason).toMatch(/agent/);
});
