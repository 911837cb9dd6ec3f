/**
 * B: outcomes that nobody knows at first. Effects are counted at the desk. What is told by its effects alone (B10, further
 * refusals of B13) is played by declared.test.ts.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { FaultRuleInput } from '../../../examples/tickets/desk/core/faults';
import type { OperationRow } from '../../../store/rows';
import { effectsOf, sendsOf, type Seen } from '../../support/scenario/effects';
import { setStage, type Stage } from '../../support/scenario/stage';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

const REASSIGNED: Seen = { kind: 'reassign', ticket: 'T100', args: { team: 'payments-oncall' } };

const reassignOf = async (run: { readonly ref: { readonly run: string } }): Promise<OperationRow | undefined> =>
  (await stage.runs.details(stage.tenant, run.ref.run)).operations.find(({ tool }) => tool === 'reassign_ticket');

test('B1: what was dropped before it was applied is sent again with the same key, after the deadline', async () => {
  await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'drop-before-apply' } });

  const run = await stage.start();
  const row = await stage.end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  const operation = await reassignOf(run);
  expect(operation).toMatchObject({ state: 'SUCCEEDED', generation: 2 });
  const sends = (await stage.desk.requests()).filter(({ path }) => path.endsWith('/reassign'));
  expect(sends.map(({ key }) => key)).toEqual([operation?.id, operation?.id]);
  const [first, second] = sends.map(({ at }) => new Date(at).getTime());
  // The tool's time-out and its settle window.
  expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(3_000);
});

test('B6: a 429 is waited out, then the same operation is sent with the same key', async () => {
  await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'status', status: 429, retryAfter: 2 } });

  const run = await stage.start();
  const row = await stage.end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  const sends = (await stage.desk.requests()).filter(({ path }) => path.endsWith('/reassign'));
  expect(new Set(sends.map(({ key }) => key)).size).toBe(1);
  const [first, second] = sends.map(({ at }) => new Date(at).getTime());
  expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(2_000);
});

test('B7: a ticket that changed in between is read again, and never written with the stale version', async () => {
  await stage.desk.addFault({
    match: { route: 'reassign' },
    fault: { kind: 'status', status: 412, code: 'version_mismatch' },
  });

  const run = await stage.start();
  const row = await stage.end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  const { operations } = await stage.runs.details(stage.tenant, run.ref.run);
  const writes = operations.filter(({ tool }) => tool === 'reassign_ticket');
  expect(writes.map(({ state, code }) => [state, code])).toEqual([
    ['FAILED', 'STATE_CONFLICT'],
    ['SUCCEEDED', undefined],
  ]);
  expect(writes[1]?.step).toBeGreaterThan((writes[0]?.step ?? 0) + 1);
});

test('B8: a 403 is never sent again and ends as blocked', async () => {
  await stage.desk.addFault({ match: { route: 'reassign' }, times: 'always', fault: { kind: 'status', status: 403 } });

  const run = await stage.start();
  const row = await stage.end(run);

  expect(row).toMatchObject({ terminal: 'FAILED', reason: 'blocked.permission' });
  expect(await sendsOf(stage, 'reassign')).toBe(1);
  expect(await effectsOf(stage)).toEqual([]);
  const result = await stage.runs.result(stage.tenant, run.ref.run);
  expect(result?.answer).toMatch(/PERMISSION_DENIED/);
});

test('B9: a second write on the ticket stays CREATED until the first settles; an equal proposal gets the recorded result', async () => {
  await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });
  await stage.desk.addFault({ match: { route: 'lookup' }, times: 2, fault: { kind: 'status', status: 503 } });

  const run = await stage.start({ data: { ticket: 'T100', persona: 'two-writes' } });
  await stage.until(
    () => reassignOf(run),
    (operation) => operation?.state === 'UNKNOWN',
  );
  const { operations } = await stage.runs.details(stage.tenant, run.ref.run);
  expect(operations.find(({ tool }) => tool === 'add_comment')?.state).toBe('CREATED');
  const row = await stage.end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  expect((await effectsOf(stage)).filter(({ kind }) => kind === 'reassign')).toEqual([REASSIGNED]);
  expect(await sendsOf(stage, 'reassign')).toBe(1);
});

describe('B11: each declaration ends in its own way when the receipt is lost', () => {
  test('key only: the same key again is the truth', async () => {
    await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });

    const run = await stage.start({ agent: 'tickets-key-only' });
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await reassignOf(run)).toMatchObject({ state: 'SUCCEEDED', generation: 2 });
  });

  test('look-up only: found is settled', async () => {
    await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });

    const run = await stage.start({ agent: 'tickets-look-up-only' });
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    expect(await reassignOf(run)).toMatchObject({ state: 'SUCCEEDED', generation: 1 });
  });

  test.each([
    ['look-up only, not found', 'tickets-look-up-only', 'drop-before-apply', 0],
    ['neither', 'tickets-neither', 'apply-then-drop', 1],
  ] as const)('%s: a person is asked', async (_title, agent, kind, effects) => {
    await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind } });

    const run = await stage.start({ agent });
    const waits = await stage.until(
      () => stage.store.waits.list(run.ref.tenant, { run: run.ref.run, state: 'OPEN', limit: 10 }),
      (found) => found.length > 0,
    );

    expect(waits).toMatchObject([{ kind: 'reconciliation' }]);
    expect(await reassignOf(run)).toMatchObject({ state: 'UNRESOLVED' });
    expect(
      await stage.until(
        () => stage.runs.get(stage.tenant, run.ref.run),
        ({ state }) => state === 'WAITING_USER',
      ),
    ).toBeDefined();
    expect(await effectsOf(stage)).toHaveLength(effects);
    expect(await sendsOf(stage, 'reassign')).toBe(1);
  });
});

describe('B13: a later send that is refused proves nothing about the first, which worked', () => {
  test.each<[string, FaultRuleInput['fault']]>([
    ['no connection', { kind: 'drop-before-apply' }],
    ['403', { kind: 'status', status: 403 }],
  ])('generation 2 gets %s', async (_title, fault) => {
    await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });
    await stage.desk.addFault({ match: { route: 'reassign' }, fault });

    // Without a look-up the same key is sent again: that reply is the truth, a refusal is none.
    const run = await stage.start({ agent: 'tickets-key-only' });
    const row = await stage.end(run, 60_000);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    const events = await stage.runs.events(stage.tenant, run.ref.run, { after: 0, limit: 500 });
    const outcomes = events.flatMap(({ body }) => (isOutcome(body['cause']) ? [body['cause'].outcome] : []));
    expect(outcomes.filter((state) => state !== 'UNKNOWN')).toEqual(['SUCCEEDED']);
    expect(await reassignOf(run)).toMatchObject({ state: 'SUCCEEDED', generation: 3 });
  });
});

const isOutcome = (cause: unknown): cause is { readonly outcome: string } =>
  typeof cause === 'object' && cause !== null && 'outcome' in cause;

describe('B14: nothing is sent after a cancel or a new plan', () => {
  test.each(['cancel', 'amend'] as const)('%s while it waits for its second send', async (message) => {
    await stage.desk.addFault({
      match: { route: 'reassign' },
      times: 1,
      fault: { kind: 'status', status: 429, retryAfter: 4 },
    });

    const run = await stage.start();
    await stage.until(
      () => reassignOf(run),
      (operation) => operation?.state === 'NOT_EXECUTED',
    );
    const before = await sendsOf(stage, 'reassign');
    if (message === 'cancel') await stage.runs.cancel(stage.tenant, run.ref.run);
    else {
      const amend = { id: 'm1', kind: 'amend', text: 'Leave a comment first.' };
      await stage.runs.message({ tenant: stage.tenant, subject: 'alice' }, run.ref.run, amend);
    }
    const row = await stage.end(run);

    const first = await reassignOf(run);
    expect(first).toMatchObject({ state: 'CANCELLED', generation: 1 });
    expect(row.terminal).toBe(message === 'cancel' ? 'CANCELLED' : 'SUCCEEDED');
    const keys = (await stage.desk.requests()).filter(({ path }) => path.endsWith('/reassign')).map(({ key }) => key);
    expect(keys.filter((key) => key === first?.id)).toHaveLength(before);
  });

  test('cancel while it is unknown and due for a second send', async () => {
    await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'drop-before-apply' } });

    const run = await stage.start();
    await stage.until(
      () => reassignOf(run),
      (operation) => operation?.state === 'UNKNOWN',
    );
    await stage.runs.cancel(stage.tenant, run.ref.run);
    const row = await stage.end(run, 60_000);

    expect(row.terminal).toBe('CANCELLED');
    expect(await sendsOf(stage, 'reassign')).toBe(1);
    expect(await effectsOf(stage)).toEqual([]);
  });
});
