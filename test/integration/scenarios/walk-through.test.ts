/** A: the walk-through, and what happens to it when the model does not do it well. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { Runs } from '../../../client/runs';
import type { Manifest } from '../../../workflows/contract/records';
import { createPostgresStore } from '../../../store/postgres';
import { effectsOf, type Seen } from '../../support/scenario/effects';
import { readExecutions } from '../../support/scenario/histories';
import { setStage, type Stage } from '../../support/scenario/stage';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

const REASSIGNED: Seen = { kind: 'reassign', ticket: 'T100', args: { team: 'payments-oncall' } };

describe('A1: rules allow the reassignment unattended', () => {
  test('the ticket is reassigned once and the answer cites rule and new version', async () => {
    const run = await stage.start();

    const row = await stage.end(run);

    expect(row).toMatchObject({ terminal: 'SUCCEEDED', reason: 'finish.done' });
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    const result = await stage.runs.result(stage.tenant, run.ref.run);
    const asserts = (result?.claims ?? []).flatMap((claim) => claim.asserts ?? []);
    expect(asserts).toContainEqual({ object: 'ticket:T100', field: 'team', value: 'payments-oncall' });
    expect(asserts).toContainEqual(expect.objectContaining({ object: 'rule:R-7', field: 'team' }));
    expect((result?.claims ?? []).every(({ evidence }) => evidence.length > 0)).toBe(true);
  });

  test('steps, attempts, operations and cost are recorded, and equal what the model server billed', async () => {
    const run = await stage.start();
    await stage.end(run);

    const { attempts, operations, totals } = await stage.runs.details(stage.tenant, run.ref.run);

    const billed = stage.model.book.reduce(
      (sum, { inputTokens, outputTokens }) => ({ input: sum.input + inputTokens, output: sum.output + outputTokens }),
      { input: 0, output: 0 },
    );
    expect(attempts.every(({ state }) => state === 'STORED')).toBe(true);
    expect(attempts).toHaveLength(stage.model.book.length);
    expect(totals).toMatchObject({
      steps: attempts.length,
      attempts: attempts.length,
      inputTokens: billed.input,
      outputTokens: billed.output,
      estimatedTokens: 0,
    });
    expect(totals.costMicros).toBe(costOf(attempts));
    expect(operations.filter(({ effect }) => effect === 'write')).toMatchObject([
      { tool: 'reassign_ticket', state: 'SUCCEEDED', generation: 1 },
    ]);
  });

  test('each step says which gaps it is to close, and the next context which it has closed', async () => {
    const run = await stage.start();
    await stage.end(run);

    const { attempts, decisions } = await stage.runs.details(stage.tenant, run.ref.run);
    const aims = decisions
      .filter(({ validator }) => validator === 'references')
      .map(({ step, evidence }) => [step, evidence['aims']]);
    const closed = await Promise.all(
      attempts.map(async ({ step, context }) => {
        const manifest = await stage.store.artifacts.getJson(run.ref.tenant, context);
        return [step, (manifest as Pick<Manifest, 'closed'>).closed];
      }),
    );

    // The ticket names the service whose rules name the team; with the ticket reassigned only the explanation is left.
    expect(aims).toEqual([
      [1, ['right-team']],
      [2, ['right-team']],
      [3, ['right-team']],
    ]);
    expect(closed).toEqual([
      [1, undefined],
      [2, undefined],
      [3, undefined],
      [4, ['right-team']],
    ]);
  });

  test('the result is read again by other processes after every worker is gone', async () => {
    const run = await stage.start();
    await stage.end(run);
    const first = await stage.runs.result(stage.tenant, run.ref.run);

    const store = createPostgresStore({ url: stage.database.url });
    const later = new Runs({ store, temporal: stage.temporal, taskQueue: 'nobody-listens' });

    expect(await later.result(stage.tenant, run.ref.run)).toEqual(first);
    await store.close();
  });

  test('nothing that was said or sent is in the history or in the log of the worker', async () => {
    const canary = 'CANARY-51c2';
    const run = await stage.start({ goal: `Reassign T100 by the rules. ${canary}`, data: { ticket: 'T100', canary } });
    await stage.end(run);
    const answer = (await stage.runs.result(stage.tenant, run.ref.run))?.answer ?? '';

    const histories = (await readExecutions(stage.temporal, run.ref.run)).map(({ history }) => textIn(history)).join();
    const log = stage.workerLog().map((line) => JSON.stringify(line));

    expect(stage.model.requests.at(-1)?.body).toContain(canary);
    expect(answer).toContain('payments-oncall');
    expect(histories).toContain(run.ref.run);
    expect(log.join('\n')).toContain(run.ref.run);
    for (const said of [canary, answer, 'payments-oncall']) {
      expect(histories).not.toContain(said);
      expect(log.filter((line) => line.includes(said))).toEqual([]);
    }
  });
});

/** All text in it, that of payloads included. */
const textIn = (value: unknown): string => {
  if (typeof value === 'string') return `${value}\n`;
  if (value instanceof Uint8Array) return `${Buffer.from(value).toString()}\n`;
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value).map(textIn).join('');
};

/** By the example's prices, rounded per attempt: 3 dollars a million for input, 15 for output. */
const costOf = (attempts: readonly { readonly usage: { readonly costMicros: number } }[]): number =>
  attempts.reduce((sum, { usage }) => sum + usage.costMicros, 0);

test('A5: a lost receipt is looked up, not sent again', async () => {
  await stage.desk.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });

  const run = await stage.start();
  const row = await stage.end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  const requests = await stage.desk.requests();
  expect(requests.filter(({ path }) => path.endsWith('/reassign'))).toHaveLength(1);
  expect(requests.filter(({ path }) => path.startsWith('/operations/')).length).toBeGreaterThan(0);
});

test('A6: asking for the same ticket again and again is stopped with a diagnosis', async () => {
  const run = await stage.start({ data: { ticket: 'T100', persona: 'repeats-query' } });

  const row = await stage.end(run);

  expect(row).toMatchObject({ terminal: 'FAILED', reason: 'loop.repeatedCall' });
  const result = await stage.runs.result(stage.tenant, run.ref.run);
  expect(result?.diagnosis).toMatchObject({ rule: 'repeatedCall', what: 'get_ticket' });
  expect(result?.diagnosis?.steps.length).toBeGreaterThanOrEqual(3);
  expect((await stage.runs.details(stage.tenant, run.ref.run)).totals.steps).toBeLessThan(10);
  expect(await effectsOf(stage)).toEqual([]);
});

test('A7: saying that it is done does not end the run as done', async () => {
  const run = await stage.start({ data: { ticket: 'T100', persona: 'premature' } });

  const row = await stage.end(run);

  expect(row.terminal).toBe('FAILED');
  expect(row.reason).toMatch(/^repairs\./);
  expect(await effectsOf(stage)).toEqual([]);
  const second = stage.model.requests[1];
  expect(second?.body).toContain('right-team');
});

test('A7: a hasty model that is told what is missing does it after all', async () => {
  const run = await stage.start({ data: { ticket: 'T100', persona: 'hasty' } });

  const row = await stage.end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
});

test('A8: a final text that is cut is asked for again, without a second operation', async () => {
  stage.model.addFault({
    textIncludes: '"payments-oncall"',
    fromRequest: 4,
    fault: { kind: 'cut', at: { point: 'mid-block', block: 0 } },
  });

  const run = await stage.start();
  const row = await stage.end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  const { attempts, operations } = await stage.runs.details(stage.tenant, run.ref.run);
  const failed = attempts.filter(({ state }) => state === 'FAILED');
  expect(failed).toMatchObject([{ outcome: { kind: 'attemptFailed', code: 'model.stream_cut' } }]);
  const again = attempts.find(({ step, attempt }) => step === failed[0]?.step && attempt === 2);
  expect(again).toMatchObject({ state: 'STORED', context: failed[0]?.context });
  expect(operations.filter(({ effect }) => effect === 'write')).toHaveLength(1);
});

test('A9: two fitting teams may be compared in an analysis, which names its gap', async () => {
  const run = await stage.start({
    goal: 'Read ticket T104, reassign it by the rules, explain.',
    data: { ticket: 'T104' },
  });

  const row = await stage.end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toHaveLength(1);
  const events = await stage.runs.events(stage.tenant, run.ref.run, { after: 0, limit: 500 });
  expect(events.filter(({ body }) => body['event'] === 'analyseAccepted')).toHaveLength(1);
});

test('A9: an analysis where a fact is missing is refused with that finding', async () => {
  const run = await stage.start({ data: { ticket: 'T100', persona: 'asks-analysis-for-fact' } });

  const row = await stage.end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  const events = await stage.runs.events(stage.tenant, run.ref.run, { after: 0, limit: 500 });
  expect(events.map(({ body }) => body['event'])).not.toContain('analyseAccepted');
  expect(events.filter(({ body }) => body['event'] === 'candidateRejected')).toHaveLength(1);
});
