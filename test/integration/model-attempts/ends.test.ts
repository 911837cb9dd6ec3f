/** Every way in which a model's stream can end, over a real socket, and what is stored of it. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  rawToolUse,
  redactedThinking,
  sequence,
  startModelServer,
  text,
  thinking,
  toolUse,
  turn,
  type FaultInput,
  type Turn,
} from '../../../testing/model-server';
import { REQUEST, ROUTE, setAttemptStage, type AttemptStage, type Attempts, type Setting } from './attempt-stage';

let stage: AttemptStage;
beforeAll(async () => {
  stage = await setAttemptStage();
});
afterAll(async () => {
  await stage.close();
});

const CALLING = turn([text('Reading it.'), toolUse('read_ticket', { id: 'T100', note: 'for the on-call rules' })]);

/** The same answer at every request, with this fault in the first. */
const faulty = (fault: FaultInput, rest: Setting = {}, answer: Turn = CALLING): Setting => ({
  script: () => answer,
  faults: [{ fault }],
  ...rest,
});

const failed = (code: string) => ({ kind: 'attemptFailed', code: `model.${code}`, totals: expect.anything() });

/** One request, one row that has FAILED, and nothing that could be executed. */
async function expectFailure(attempts: Attempts, outcome: object): Promise<void> {
  expect(await attempts.run()).toEqual(outcome);
  expect(attempts.server.requests).toHaveLength(1);
  const row = await attempts.row();
  expect(row.state).toBe('FAILED');
  if (row.candidate === undefined) return;
  const candidate = await attempts.candidate(row.candidate);
  expect(candidate.isComplete).toBe(false);
  expect(candidate.calls.filter((call) => 'input' in call)).toEqual([]);
}

describe('a trusted finish', () => {
  test('is stored whole: thinking, redacted thinking, text and calls', async () => {
    const answer = turn([
      thinking('The ticket first.'),
      redactedThinking(),
      text('Reading both.'),
      toolUse('read_ticket', { id: 'T100' }),
      toolUse('read_ticket', { id: 'T101' }),
    ]);
    await stage.use({ script: () => answer }, async (attempts) => {
      const outcome = await attempts.run();
      const row = await attempts.row();
      const candidate = await attempts.candidate(row.candidate);

      expect(outcome).toMatchObject({ kind: 'candidateStored', candidate: row.candidate });
      expect(row.state).toBe('STORED');
      expect(candidate).toMatchObject({
        run: attempts.ref.run,
        step: 1,
        attempt: 1,
        context: attempts.context,
        stopReason: 'tool_use',
        isComplete: true,
        model: 'claude-sonnet-5',
        requestId: attempts.server.requests[0]?.requestId,
        usage: row.usage,
      });
      expect(candidate.blocks.map((block) => block.type)).toEqual([
        'thinking',
        'redacted_thinking',
        'text',
        'tool_use',
        'tool_use',
      ]);
      expect(candidate.calls.map((call) => 'input' in call && call.input)).toEqual([{ id: 'T100' }, { id: 'T101' }]);
    });
  });

  test('its blocks are accepted when they are sent back, thinking verbatim', async () => {
    const first = turn([
      thinking('Ünïcode 😀 and\nlines.'),
      redactedThinking(),
      toolUse('read_ticket', { id: 'T100' }),
    ]);
    const given: { messages: (typeof REQUEST)['messages'] } = { messages: [...REQUEST.messages] };
    const script = sequence([first, turn([text('Done.')])]);
    await stage.use({ script, request: given }, async (attempts) => {
      await attempts.run();
      const { candidate: hash } = await attempts.row();
      const { blocks, calls } = await attempts.candidate(hash);
      given.messages.push(
        { role: 'assistant', content: [...blocks] },
        {
          role: 'user',
          content: calls.map((call) => ({ type: 'tool_result' as const, tool_use_id: call.id, content: 'open' })),
        },
      );

      expect(await attempts.run({ step: 2 })).toMatchObject({ kind: 'candidateStored' });
      expect(attempts.server.requests.map((request) => request.outcome.kind)).toEqual(['answered', 'answered']);
    });
  });

  test('plain text is a candidate without calls', async () => {
    await stage.use({}, async (attempts) => {
      expect(await attempts.run()).toMatchObject({ kind: 'candidateStored' });
      const candidate = await attempts.candidate((await attempts.row()).candidate);
      expect(candidate).toMatchObject({ stopReason: 'end_turn', calls: [] });
    });
  });

  test('a stop sequence is one', async () => {
    await stage.use({ script: () => turn([text('Done.')], { stopReason: 'stop_sequence' }) }, async (attempts) => {
      expect(await attempts.run()).toMatchObject({ kind: 'candidateStored' });
    });
  });

  test('a slow stream that lives is waited for', async () => {
    const slow = faulty(
      { kind: 'slow', delayMsPerEvent: 50 },
      { request: { route: { ...ROUTE, idleTimeoutMs: 400 } } },
    );
    await stage.use(slow, async (attempts) => {
      expect(await attempts.run()).toMatchObject({ kind: 'candidateStored' });
      expect(attempts.server.requests).toHaveLength(1);
    });
  });
});

test('a connection that stays open after the message’s end is not waited for', async () => {
  await stage.use(faulty({ kind: 'stall', at: { afterEvents: 1_000 } }), async (attempts) => {
    const startedAt = performance.now();

    expect(await attempts.run()).toMatchObject({ kind: 'candidateStored' });

    expect(performance.now() - startedAt).toBeLessThan(ROUTE.idleTimeoutMs);
  });
});

test('a limit beyond what a timer can count is no limit of nothing', async () => {
  const limits = { ...REQUEST.limits, attemptTimeoutMs: 2 ** 40 };
  await stage.use({ request: { limits, route: { ...ROUTE, idleTimeoutMs: 2 ** 40 } } }, async (attempts) => {
    expect(await attempts.run()).toMatchObject({ kind: 'candidateStored' });
  });
});

describe('content that only judging can refuse is a candidate', () => {
  test('nothing at all', async () => {
    await stage.use(faulty({ kind: 'empty-content' }), async (attempts) => {
      expect(await attempts.run()).toMatchObject({ kind: 'candidateStored' });
      const candidate = await attempts.candidate((await attempts.row()).candidate);
      expect(candidate).toMatchObject({ blocks: [], calls: [], isComplete: true });
    });
  });

  test('empty text, which cannot be sent back, is left out', async () => {
    await stage.use({ script: () => turn([text(''), text(' \n')]) }, async (attempts) => {
      expect(await attempts.run()).toMatchObject({ kind: 'candidateStored' });
      expect((await attempts.candidate((await attempts.row()).candidate)).blocks).toEqual([]);
    });
  });

  test('thinking alone', async () => {
    await stage.use({ script: () => turn([thinking('Hm.')]) }, async (attempts) => {
      expect(await attempts.run()).toMatchObject({ kind: 'candidateStored' });
      const { blocks } = await attempts.candidate((await attempts.row()).candidate);
      expect(blocks).toMatchObject([{ type: 'thinking', thinking: 'Hm.' }]);
    });
  });

  test('arguments that are no JSON, with everything that came after them', async () => {
    const answer = turn([
      rawToolUse('read_ticket', '{"id": "T100", "note": tru}', 'toolu_a'),
      toolUse('read_ticket', { id: 'T101' }),
    ]);
    await stage.use({ script: () => answer }, async (attempts) => {
      expect(await attempts.run()).toMatchObject({ kind: 'candidateStored' });
      const row = await attempts.row();
      const { calls, stopReason } = await attempts.candidate(row.candidate);
      expect(stopReason).toBe('tool_use');
      expect(calls).toMatchObject([
        { ordinal: 1, id: 'toolu_a', invalidJson: '{"id": "T100", "note": tru}' },
        { ordinal: 2, input: { id: 'T101' } },
      ]);
      expect(row.usage).toMatchObject({
        isEstimate: false,
        outputTokens: attempts.server.book[0]?.outputTokens,
      });
    });
  });

  test('a number that JSON would round, one id twice', async () => {
    const answer = turn([
      rawToolUse('read_ticket', '{"amount": 9007199254740993}', 'toolu_a'),
      toolUse('read_ticket', { id: 'T101' }, 'toolu_a'),
    ]);
    await stage.use({ script: () => answer }, async (attempts) => {
      expect(await attempts.run()).toMatchObject({ kind: 'candidateStored' });
      const { calls } = await attempts.candidate((await attempts.row()).candidate);
      expect(calls).toMatchObject([
        { id: 'toolu_a', inputText: '{"amount": 9007199254740993}', flaws: [{ path: '/amount' }] },
        { id: 'toolu_a', input: { id: 'T101' } },
      ]);
    });
  });
});

describe('a stream that breaks', () => {
  const POINTS = [
    { afterEvents: 0 },
    { afterEvents: 1 },
    { point: 'after-block-start' },
    { point: 'mid-block' },
    { point: 'before-block-stop' },
    { point: 'before-message-delta' },
    { point: 'before-message-stop' },
  ] as const;

  test.each(POINTS)('cut at %j', async (at) => {
    await stage.use(faulty({ kind: 'cut', at }), async (attempts) => {
      await expectFailure(attempts, failed('stream_cut'));
    });
  });

  test.each(POINTS)('ended in good order at %j', async (at) => {
    await stage.use(faulty({ kind: 'clean-eof', at }), async (attempts) => {
      await expectFailure(attempts, failed('stream_cut'));
    });
  });

  test('cut in the middle of an event', async () => {
    await stage.use(faulty({ kind: 'cut', at: { point: 'mid-block' }, midEvent: true }), async (attempts) => {
      await expectFailure(attempts, failed('stream_cut'));
    });
  });

  test('after one whole call and half of another: neither can be executed', async () => {
    const two = turn([toolUse('read_ticket', { id: 'T100' }), toolUse('read_ticket', { id: 'T101', note: 'second' })]);
    await stage.use(faulty({ kind: 'cut', at: { point: 'mid-block' } }, {}, two), async (attempts) => {
      await expectFailure(attempts, failed('stream_cut'));
      const { calls } = await attempts.candidate((await attempts.row()).candidate);
      expect(calls).toMatchObject([{ invalidJson: '{"id":"T100"}' }, { invalidJson: expect.stringContaining('T101') }]);
    });
  });

  test.each([
    ['overloaded_error', 'overloaded'],
    ['api_error', 'server_error'],
    ['rate_limit_error', 'rate_limited'],
    ['unheard_of_error', 'server_error'],
  ])('%s as the first event, and after a while', async (errorType, code) => {
    for (const at of [{ afterEvents: 0 }, { afterEvents: 4 }]) {
      await stage.use(faulty({ kind: 'error-mid-stream', at, errorType }), async (attempts) => {
        await expectFailure(attempts, failed(code));
      });
    }
  });

  test('the next number asks again and has the answer', async () => {
    await stage.use(faulty({ kind: 'cut', at: { point: 'mid-block' } }), async (attempts) => {
      await attempts.run();

      expect(await attempts.run({ attempt: 2 })).toMatchObject({ kind: 'candidateStored' });
      expect((await attempts.row(1)).context).toBe((await attempts.row(2)).context);
      expect(attempts.server.requests.map(({ body }) => body)).toEqual(
        Array(2).fill(attempts.server.requests[0]?.body),
      );
    });
  });
});

describe('a provider that is silent', () => {
  const impatient = { request: { route: { ...ROUTE, idleTimeoutMs: 300 } } };

  test.each<[string, FaultInput]>([
    ['before its headers', { kind: 'hang-before-headers' }],
    ['after its start', { kind: 'stall' }],
    ['in the middle of arguments', { kind: 'stall', at: { point: 'mid-block' } }],
    ['but for pings', { kind: 'stall', pingEveryMs: 20 }],
  ])('%s is given up after the idle time-out', async (_, fault) => {
    await stage.use(faulty(fault, impatient), async (attempts) => {
      const startedAt = performance.now();

      await expectFailure(attempts, failed('stalled'));

      expect(performance.now() - startedAt).toBeLessThan(3_000);
      // The connection has been given up, not left open.
      await attempts.server.when(([request]) => request?.outcome.kind !== 'open');
    });
  });

  test('one that never comes to an end is given up at the attempt’s limit', async () => {
    const limits = { ...REQUEST.limits, attemptTimeoutMs: 500 };
    await stage.use(faulty({ kind: 'slow', delayMsPerEvent: 100 }, { request: { limits } }), async (attempts) => {
      await expectFailure(attempts, failed('timed_out'));
    });
  });
});

describe('a status instead of an answer', () => {
  test.each([
    [408, failed('provider_timeout')],
    [409, failed('conflict')],
    [429, failed('rate_limited')],
    [500, failed('server_error')],
    [502, failed('server_error')],
    [503, failed('server_error')],
    [504, failed('provider_timeout')],
    [529, failed('overloaded')],
    [400, { kind: 'providerRejected', code: 'model.invalid_request' }],
    [401, { kind: 'providerRejected', code: 'model.unauthenticated' }],
    [402, { kind: 'providerRejected', code: 'model.billing' }],
    [403, { kind: 'providerRejected', code: 'model.permission_denied' }],
    [404, { kind: 'providerRejected', code: 'model.not_found' }],
    [413, { kind: 'contextTooLong' }],
  ] as const)('%d', async (status, outcome) => {
    await stage.use(faulty({ kind: 'status', status }), async (attempts) => {
      await expectFailure(attempts, { ...outcome, totals: expect.anything() });
      const row = await attempts.row();
      expect(row).toMatchObject({ usage: { inputTokens: 0, outputTokens: 0, costMicros: 0, isEstimate: false } });
      expect(row.candidate).toBeUndefined();
    });
  });

  test.each<[Partial<Extract<FaultInput, { kind: 'status' }>>, number | undefined]>([
    [{ retryAfter: '30' }, 30_000],
    [{ retryAfter: '777600' }, 777_600_000],
    [{ retryAfter: '-7' }, 0],
    [{ retryAfterMs: '350' }, 350],
    [{ retryAfter: 'soon' }, undefined],
    [{}, undefined],
  ])('429 with %j', async (headers, retryAfterMs) => {
    await stage.use(faulty({ kind: 'status', status: 429, ...headers }), async (attempts) => {
      expect(await attempts.run()).toEqual({
        ...failed('rate_limited'),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      });
    });
  });

  test('429 with an HTTP date', async () => {
    const retryAfter = new Date(Date.now() + 60_000).toUTCString();
    await stage.use(faulty({ kind: 'status', status: 429, retryAfter }), async (attempts) => {
      const outcome = await attempts.run();

      const waitMs = outcome.kind === 'attemptFailed' ? outcome.retryAfterMs : undefined;
      expect(waitMs).toBeGreaterThan(50_000);
      expect(waitMs).toBeLessThanOrEqual(60_000);
    });
  });

  test('a prompt beyond the model’s window, and a body beyond the provider’s limit', async () => {
    for (const limits of [{ contextTokens: 5 }, { maxBodyBytes: 50 }]) {
      await stage.use({ limits }, async (attempts) => {
        await expectFailure(attempts, { kind: 'contextTooLong', totals: expect.anything() });
      });
    }
  });

  test('nobody listens: nothing left, and nothing is counted', async () => {
    const gone = await startModelServer({ script: sequence([]) });
    await gone.close();
    await stage.use({ baseUrl: gone.url }, async (attempts) => {
      expect(await attempts.run()).toEqual(failed('unreachable'));
      expect((await attempts.row()).usage).toMatchObject({ inputTokens: 0, isEstimate: false });
      expect(attempts.server.requests).toEqual([]);
    });
  });
});

describe('something in between answers in the provider’s place', () => {
  const event = (type: string, data: string) => `event: ${type}\ndata: ${data}\n\n`;

  test.each<[string, string, string]>([
    ['a page', 'text/html', '<html>Sign in</html>'],
    ['nothing', 'text/event-stream', ''],
    ['an end without a beginning', 'text/event-stream', event('message_stop', '{"type":"message_stop"}')],
    ['an event that is no JSON', 'text/event-stream', event('message_start', '{"type":"message_sta')],
    ['an event that is no object', 'text/event-stream', event('message_start', '[]')],
  ])('with %s: a failed attempt', async (_, contentType, body) => {
    const gateway = createServer((request, response) => {
      request.resume().on('end', () => response.writeHead(200, { 'content-type': contentType }).end(body));
    });
    gateway.listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    try {
      await stage.use({ baseUrl: urlOf(gateway) }, async (attempts) => {
        const outcome = await attempts.run();

        expect(outcome).toMatchObject({ kind: 'attemptFailed', code: expect.stringMatching(/stream/) });
        expect((await attempts.row()).usage).toMatchObject({ inputTokens: 400, isEstimate: true });
      });
    } finally {
      gateway.close();
    }
  });
});

describe('a message that is whole and no candidate', () => {
  const cutIn = (inputJson: string) => turn([rawToolUse('read_ticket', inputJson)]);

  test.each<[string, Turn, number]>([
    ['in the middle of JSON', cutIn('{"id":"T100","note":"x"}'), 9],
    ['after what is valid JSON', cutIn('{"id":"T100"} '), 13],
    [
      'after one whole call',
      turn([toolUse('read_ticket', { id: 'T100' }), rawToolUse('read_ticket', '{"id":"T101","note":"x"}')]),
      9,
    ],
  ])('the output limit %s: stored as truncated', async (_, answer, keepChars) => {
    await stage.use(faulty({ kind: 'max-tokens', keepChars }, {}, answer), async (attempts) => {
      const outcome = await attempts.run();
      const row = await attempts.row();

      expect(outcome).toMatchObject({ kind: 'attemptTruncated', candidate: row.candidate });
      expect(row.state).toBe('FAILED');
      const candidate = await attempts.candidate(row.candidate);
      expect(candidate).toMatchObject({ isComplete: false, stopReason: 'max_tokens' });
      expect(candidate.calls.filter((call) => 'input' in call)).toEqual([]);
      expect(candidate.calls.length).toBeGreaterThan(0);
    });
  });

  test('each truncation doubles the room', async () => {
    await stage.use({}, async (attempts) => {
      await attempts.run({ attempt: 1, truncations: 0 });
      await attempts.run({ attempt: 2, truncations: 1 });
      await attempts.run({ attempt: 3, truncations: 2 });

      expect(attempts.server.requests.map(({ body }) => /"max_tokens":(\d+)/.exec(body)?.[1])).toEqual([
        '1000',
        '2000',
        '4000',
      ]);
    });
  });

  test('a pause is stored, to be said again', async () => {
    await stage.use(faulty({ kind: 'pause-turn' }, {}, turn([text('Searching.')])), async (attempts) => {
      const outcome = await attempts.run();
      const row = await attempts.row();

      expect(outcome).toMatchObject({ kind: 'attemptPaused', candidate: row.candidate });
      expect(row.state).toBe('STORED');
      expect(await attempts.candidate(row.candidate)).toMatchObject({ isComplete: true, stopReason: 'pause_turn' });
    });
  });

  test.each([[true], [false]])('a refusal, with what was said before it: %s', async (keepContent) => {
    await stage.use(faulty({ kind: 'refusal', category: 'cyber', keepContent }), async (attempts) => {
      await expectFailure(attempts, { kind: 'modelRefused', code: 'model.refused', totals: expect.anything() });
      const { usage } = await attempts.row();
      expect(usage).toMatchObject({ isEstimate: false, outputTokens: attempts.server.book[0]?.outputTokens });
    });
  });

  test.each([
    ['model_context_window_exceeded', { kind: 'contextTooLong' }],
    ['a_new_reason', { kind: 'providerRejected', code: 'model.unknown_stop_reason' }],
  ])('the stop reason %s', async (stopReason, outcome) => {
    await stage.use(faulty({ kind: 'stop-reason', stopReason }), async (attempts) => {
      await expectFailure(attempts, { ...outcome, totals: expect.anything() });
    });
  });
});

function urlOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a TCP address');
  return `http://127.0.0.1:${String(address.port)}`;
}
