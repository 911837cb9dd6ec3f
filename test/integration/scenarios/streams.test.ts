/** D: what the model's stream may do. The faults are those of the offline model server, over the real SDK. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { AttemptRow } from '../../../store/rows';
import type { FaultInput } from '../../../testing';
import { effectsOf, type Seen } from '../../support/scenario/effects';
import { setStage, type Stage } from '../../support/scenario/stage';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

const REASSIGNED: Seen = { kind: 'reassign', ticket: 'T100', args: { team: 'payments-oncall' } };

const attemptsOf = async (run: { readonly ref: { readonly run: string } }): Promise<readonly AttemptRow[]> =>
  (await stage.runs.details(stage.tenant, run.ref.run)).attempts;

/** The request that proposes the reassignment: after the ticket and the rules were read. */
const REASSIGN_REQUEST = 3;

describe('D1: a stream that is cut executes nothing and is asked for again with the same context', () => {
  test.each<[string, FaultInput]>([
    ['in the middle of tool arguments', { kind: 'cut', at: { point: 'mid-block', block: 2 } }],
    ['after the arguments, before the block ends', { kind: 'cut', at: { point: 'before-block-stop', block: 2 } }],
    ['before the message ends', { kind: 'cut', at: { point: 'before-message-stop' } }],
    ['by a clean end of the connection', { kind: 'clean-eof', at: { point: 'before-message-delta' } }],
  ])('%s', async (_title, fault) => {
    stage.model.addFault({ fromRequest: REASSIGN_REQUEST, fault });

    const run = await stage.start();
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    const [first, second, ...others] = (await attemptsOf(run)).filter(({ step }) => step === REASSIGN_REQUEST);
    expect(first).toMatchObject({ state: 'FAILED', outcome: { code: 'model.stream_cut' } });
    expect(second).toMatchObject({ state: 'STORED', context: first?.context });
    expect(others).toEqual([]);
    const sent = stage.model.requests.slice(REASSIGN_REQUEST - 1, REASSIGN_REQUEST + 1).map(({ body }) => body);
    expect(sent[1]).toBe(sent[0]);
  });
});

test('D2: a candidate cut at the output limit is stored, never executed, and asked for with more room', async () => {
  stage.model.addFault({ fromRequest: REASSIGN_REQUEST, fault: { kind: 'max-tokens' } });

  const run = await stage.start();
  const row = await stage.end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  const [first] = (await attemptsOf(run)).filter(({ step }) => step === REASSIGN_REQUEST);
  expect(first?.outcome).toMatchObject({ kind: 'attemptTruncated' });
});

test('D2: the output limit reached again and again ends the run', async () => {
  stage.model.addFault({ fromRequest: REASSIGN_REQUEST, times: 'always', fault: { kind: 'max-tokens' } });

  const row = await stage.end(await stage.start());

  expect(row).toMatchObject({ terminal: 'FAILED', reason: 'model.truncated' });
  expect(await effectsOf(stage)).toEqual([]);
});

describe('D3: the provider fails for a while', () => {
  test.each<[string, string, FaultInput]>([
    ['429', 'model.rate_limited', { kind: 'status', status: 429, retryAfter: '1' }],
    ['529', 'model.overloaded', { kind: 'status', status: 529 }],
    ['500', 'model.server_error', { kind: 'status', status: 500 }],
    [
      'overloaded in the middle of the stream',
      'model.overloaded',
      { kind: 'error-mid-stream', at: { afterEvents: 4 } },
    ],
  ])('%s: numbered attempts with back-off, each in the ledger', async (_title, code, fault) => {
    stage.model.addFault({ fromRequest: 2, times: 2, fault });

    const run = await stage.start();
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    const attempts = (await attemptsOf(run)).filter(({ step }) => step === 2);
    expect(attempts.map(({ attempt, state }) => [attempt, state])).toEqual([
      [1, 'FAILED'],
      [2, 'FAILED'],
      [3, 'STORED'],
    ]);
    expect(attempts[0]?.outcome).toMatchObject({ code });
    const { totals, ledger } = await stage.runs.details(stage.tenant, run.ref.run);
    expect(totals.attempts).toBe((await attemptsOf(run)).length);
    expect(ledger.filter(({ kind }) => kind === 'attempt')).toHaveLength(totals.attempts);
  });

  test('for good: the run ends with the provider’s error after as many requests as attempts', async () => {
    stage.model.addFault({ times: 'always', fault: { kind: 'status', status: 500 } });

    const run = await stage.start();
    const row = await stage.end(run);

    expect(row).toMatchObject({ terminal: 'FAILED', reason: 'model.server_error' });
    expect(stage.model.requests).toHaveLength((await attemptsOf(run)).length);
  });

  test('R02: a step that is retried asks with the very same messages, the result of the only execution in them', async () => {
    stage.model.addFault({ fromRequest: 4, times: 2, fault: { kind: 'status', status: 500 } });

    const row = await stage.end(await stage.start());

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    const [first, second, third] = stage.model.requests.slice(3, 6).map(({ body }) => body);
    expect([second, third]).toEqual([first, first]);
  });
});

describe('R01: an error of the provider that cannot be mended ends the run once', () => {
  test.each([
    [400, 'model.invalid_request'],
    [401, 'model.unauthenticated'],
  ] as const)('%i', async (status, reason) => {
    stage.model.addFault({ fromRequest: 4, times: 'always', fault: { kind: 'status', status } });

    const run = await stage.start();
    const row = await stage.end(run);

    expect(row).toMatchObject({ terminal: 'FAILED', reason });
    expect(stage.model.requests).toHaveLength(4);
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  });
});

describe('D4: what the model says is named', () => {
  test('a refusal ends the run', async () => {
    stage.model.addFault({ fromRequest: 2, fault: { kind: 'refusal', category: 'policy' } });

    const row = await stage.end(await stage.start());

    expect(row).toMatchObject({ terminal: 'FAILED', reason: 'model.refused' });
    expect(stage.model.requests).toHaveLength(2);
  });

  test.each<[string, string, FaultInput]>([
    ['empty content', 'candidate.empty', { kind: 'empty-content' }],
    ['arguments that are no JSON', 'candidate.invalid_json', { kind: 'malformed-arguments' }],
  ])('%s goes back for repair with the precise finding', async (_title, code, fault) => {
    stage.model.addFault({ fromRequest: REASSIGN_REQUEST, fault });

    const run = await stage.start();
    const row = await stage.end(run);

    expect(row.terminal).toBe('SUCCEEDED');
    expect(await effectsOf(stage)).toEqual([REASSIGNED]);
    const events = await stage.runs.events(stage.tenant, run.ref.run, { after: 0, limit: 500 });
    const rejected = events.filter(({ body }) => body['event'] === 'candidateRejected');
    expect(rejected).toMatchObject([{ body: { cause: { code } } }]);
  });

  test.each<[string, FaultInput]>([
    ['empty content', { kind: 'empty-content' }],
    ['arguments that are no JSON', { kind: 'malformed-arguments' }],
  ])('%s for ever is bounded', async (_title, fault) => {
    stage.model.addFault({ times: 'always', fault });

    const row = await stage.end(await stage.start());

    expect(row.terminal).toBe('FAILED');
    expect(row.reason).toMatch(/^repairs\./);
  });

  test('an unknown stop reason stops the run', async () => {
    stage.model.addFault({ fromRequest: 2, fault: { kind: 'stop-reason', stopReason: 'something_new' } });

    const row = await stage.end(await stage.start());

    expect(row).toMatchObject({ terminal: 'FAILED', reason: 'model.unknown_stop_reason' });
  });

  test('pause_turn goes on with the same content, and for ever is bounded', async () => {
    stage.model.addFault({ fromRequest: 2, fault: { kind: 'pause-turn' } });
    expect((await stage.end(await stage.start())).terminal).toBe('SUCCEEDED');

    stage.model.addFault({ times: 'always', fault: { kind: 'pause-turn' } });
    const row = await stage.end(await stage.start());

    expect(row).toMatchObject({ terminal: 'FAILED', reason: 'model.paused_too_often' });
  });
});

test('D5: two reads and a write in one candidate, one read fails: three results, paired, and the next request is accepted', async () => {
  await stage.desk.addFault({ match: { route: 'teams' }, times: 'always', fault: { kind: 'status', status: 404 } });

  const run = await stage.start({ data: { ticket: 'T100', persona: 'two-reads-one-write' } });
  const row = await stage.end(run);

  expect(row.terminal).toBe('SUCCEEDED');
  expect(await effectsOf(stage)).toEqual([REASSIGNED]);
  const { operations } = await stage.runs.details(stage.tenant, run.ref.run);
  const together = operations.filter(({ step }) => step === REASSIGN_REQUEST);
  expect(together.map(({ ordinal, state }) => [ordinal, state])).toEqual([
    [1, 'SUCCEEDED'],
    [2, 'FAILED'],
    [3, 'SUCCEEDED'],
  ]);
});

test('D6: thinking is sent back verbatim', async () => {
  const row = await stage.end(await stage.start());

  expect(row.terminal).toBe('SUCCEEDED');
  // The server refuses a request whose thinking blocks are not those that it sent; that there were some is checked here.
  const last = stage.model.requests.at(-1)?.body;
  expect(last).toContain('"type":"thinking"');
  expect(last).toContain('"signature"');
});
