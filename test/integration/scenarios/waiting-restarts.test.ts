/** Waiting for people while processes come and go: what was asked stays asked, and what was answered counts. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { join } from 'node:path';
import type { RunRow } from '../../../store/rows';
import { effectsOf, sendsOf } from '../../support/scenario/effects';
import { createPeople, type People } from '../../support/scenario/people';
import { readExecutions, replayAll } from '../../support/scenario/histories';
import { setStage, type Stage } from '../../support/scenario/stage';
import { workflowBundle } from '../../support/services';

let stage: Stage;
let people: People;
beforeAll(async () => {
  stage = await setStage({ isWorkerStarted: false });
  people = await createPeople(stage);
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

const APPROVE = { decision: 'approve' };

test('C7: permission that is revoked between approval and dispatch: not sent, and recorded', async () => {
  const worker = await stage.startWorker();
  const run = await stage.start({ agent: 'tickets-approval' });
  const wait = await people.asked(run, 'approval');
  await worker.terminate();

  const receipt = await people.answer(wait, APPROVE);
  const later = await stage.startWorker({ agents: join(__dirname, '../../support/scenario/agents-revoked.ts') });
  const row = await stage.end(run);
  await later.terminate();

  expect(receipt.verdict).toEqual({ kind: 'accepted' });
  expect(row).toMatchObject({ terminal: 'FAILED', reason: 'blocked.permission' });
  expect(await sendsOf(stage, 'reassign')).toBe(0);
  expect(await effectsOf(stage)).toEqual([]);
  const { decisions, operations } = await stage.runs.details(stage.tenant, run.ref.run);
  expect(decisions.find(({ phase, verdict }) => phase === 'dispatch' && verdict === 'fail')).toMatchObject({
    validator: 'policy',
    code: 'PERMISSION_DENIED',
    evidence: { policies: ['revoked'], isApproved: true },
  });
  expect(operations.find(({ id }) => id === wait.operation)).toMatchObject({ generation: 0 });
});

const RUNS = 20;
const MANY_RUNS_LIMIT_MS = 300_000;

/** Three tickets that there are; the others are answered with one that there is not, which ends their runs soon. */
const ticketOf = (index: number): string => ['T100', 'T101', 'T102'][index] ?? 'T900';

test(
  'C10: twenty waits outlive the worker and the service, and each run goes on',
  async () => {
    const worker = await stage.startWorker();
    const runs = await Promise.all(
      Array.from({ length: RUNS }, () => stage.start({ goal: 'Reassign my ticket and explain it.', data: {} })),
    );
    await stage.until(
      async () => (await people.waits.list(people.bob, { state: 'OPEN', kind: 'question', limit: 50 })).waits,
      (waits) => waits.length === RUNS,
      MANY_RUNS_LIMIT_MS,
    );
    await worker.kill();

    const service = people.again();
    const { waits } = await service.list(people.bob, { state: 'OPEN', limit: 50 });
    expect(new Set(waits.map(({ run }) => run))).toEqual(new Set(runs.map(({ ref }) => ref.run)));
    for (const [index, { wait }] of waits.entries()) {
      const { token } = await service.get(people.bob, wait);
      const said = { body: { ticket: ticketOf(index) }, ...(token === undefined ? {} : { token }) };
      expect(await service.respond(people.bob, wait, said)).toMatchObject({ verdict: { kind: 'accepted' } });
    }
    const other = await stage.startWorker();
    const rows = await Promise.all(runs.map((run) => stage.end(run, MANY_RUNS_LIMIT_MS)));
    await other.terminate();

    const reasons = rows.map(({ reason }) => reason);
    expect(reasons.filter((reason) => reason === 'finish.done')).toHaveLength(3);
    expect(reasons.filter((reason) => reason === 'blocked.not_found')).toHaveLength(RUNS - 3);
    const effects = await effectsOf(stage);
    expect(effects.map(({ kind, ticket }) => `${kind} ${ticket}`).sort()).toEqual([
      'reassign T100',
      'reassign T101',
      'reassign T102',
    ]);
  },
  MANY_RUNS_LIMIT_MS,
);

test('C11: around the expiry, with no worker, the recorded arrival alone decides', async () => {
  const worker = await stage.startWorker();
  const tickets = ['T100', 'T103'];
  const runs = await Promise.all(
    tickets.map((ticket) =>
      stage.start({ agent: 'tickets-approval-tell', goal: `Reassign ${ticket} by the rules.`, data: { ticket } }),
    ),
  );
  const waits = await Promise.all(runs.map((run) => people.asked(run, 'approval')));
  // A worker that takes its time to stop would see the first of them expire.
  await worker.kill();

  // Half of them at once, which is in time unless the machine is slow; half once nothing is left.
  const judged = await Promise.all(
    waits.map(async ({ wait, token, expiresAt }, index) => {
      const isLate = index % 2 === 1;
      if (isLate) {
        await stage.until(
          () => people.waits.get(people.bob, wait),
          ({ remainingMs }) => remainingMs === 0,
        );
      }
      const said = { body: APPROVE, ...(token === undefined ? {} : { token }) };
      const { receivedAt, verdict } = await people.waits.respond(people.bob, wait, said);
      return { isInTime: receivedAt < expiresAt, verdict: verdict.kind === 'refused' ? verdict.code : verdict.kind };
    }),
  );
  await stage.until(
    () => Promise.resolve(Date.now()),
    (now) => waits.every(({ expiresAt }) => now > expiresAt + 1_000),
  );
  const later = await stage.startWorker();
  const rows = await Promise.all(runs.map((run) => stage.end(run)));
  await later.terminate();

  for (const { isInTime, verdict } of judged) expect(verdict).toBe(isInTime ? 'accepted' : 'response.expired');
  expect(judged.map(({ isInTime }) => isInTime)).toContain(false);
  const isDone = (index: number): boolean => judged[index]?.isInTime === true;
  expect(rows.map(({ terminal }) => terminal)).toEqual(
    rows.map((_row, index) => (isDone(index) ? 'SUCCEEDED' : 'FAILED')),
  );
  expect((await effectsOf(stage)).map(({ ticket }) => ticket).sort()).toEqual(
    tickets.filter((_ticket, index) => isDone(index)),
  );
});

test('C11: long after the expiry, replayed by other workers, it stays as it was judged at its arrival', async () => {
  const worker = await stage.startWorker();
  const runs = await Promise.all(
    ['T100', 'T101'].map((ticket) =>
      stage.start({ agent: 'tickets-approval-tell', goal: `Reassign ${ticket} by the rules.`, data: { ticket } }),
    ),
  );
  const waits = await Promise.all(runs.map((run) => people.asked(run, 'approval')));
  await worker.kill();
  const respond = async ({ wait, token, expiresAt }: (typeof waits)[number]): Promise<boolean> => {
    const said = { body: APPROVE, ...(token === undefined ? {} : { token }) };
    const { receivedAt, verdict } = await people.waits.respond(people.bob, wait, said);
    expect(verdict.kind === 'accepted').toBe(receivedAt < expiresAt);
    return receivedAt < expiresAt;
  };
  const [first, second] = waits;
  if (first === undefined || second === undefined) throw new Error('both were asked');
  const isFirstInTime = await respond(first);
  await stage.until(
    () => people.waits.get(people.bob, second.wait),
    ({ remainingMs }) => remainingMs === 0,
  );
  expect(await respond(second)).toBe(false);

  // Whoever takes it up is killed in the midst of it, so that the next one replays all of it, with the expiry long past.
  await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-hold', delayMs: 20_000 } });
  const next = await stage.startWorker();
  const [, late] = runs;
  if (late === undefined) throw new Error('both were started');
  if (isFirstInTime)
    await stage.until(
      () => stage.desk.effects(),
      (effects) => effects.length > 0,
    );
  else await stage.end(late);
  const before = await Promise.all(runs.map(waitRulesOf));
  await next.kill();
  const last = await stage.startWorker();
  const rows = await Promise.all(runs.map((run) => stage.end(run)));
  await last.terminate();

  const rules = await Promise.all(runs.map(waitRulesOf));
  expect(rules).toEqual([[isFirstInTime ? 'wait.approved' : 'wait.expired.told'], ['wait.expired.told']]);
  for (const [index, known] of before.entries()) expect(rules[index]?.slice(0, known.length)).toEqual(known);
  expect(rows.map(({ terminal }) => terminal)).toEqual([isFirstInTime ? 'SUCCEEDED' : 'FAILED', 'FAILED']);
  expect((await effectsOf(stage)).map(({ ticket }) => ticket)).toEqual(isFirstInTime ? ['T100'] : []);
  const executions = await Promise.all(runs.map(({ ref }) => readExecutions(stage.temporal, ref.run)));
  await replayAll(await workflowBundle(), executions.flat());
});

const waitRulesOf = async ({ ref }: RunRow): Promise<readonly string[]> =>
  (await stage.runs.events(stage.tenant, ref.run, { after: 0, limit: 500 })).flatMap(({ body: { rule } }) =>
    typeof rule === 'string' && rule.startsWith('wait.') ? [rule] : [],
  );
