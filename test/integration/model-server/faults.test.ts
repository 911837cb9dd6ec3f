import Anthropic from '@anthropic-ai/sdk';
import { describe, expect, test } from '@jest/globals';
import { sequence, text, toolUse, turn, type FaultInput } from '../../../testing/model-server';
import { PARAMS, failureOf, withModelServer } from './model-client';

const calling = turn([
  text('Reading two tickets.'),
  toolUse('read_ticket', { id: 'T100' }),
  toolUse('read_ticket', { id: 'T101', note: 'the second' }),
]);
const again = turn([text('All read.')]);

/** The stream with the fault, then a request without: one fault strikes once. */
async function failing(fault: FaultInput, check: (failure: Awaited<ReturnType<typeof failureOf>>) => void) {
  const script = sequence([calling, again]);
  await withModelServer({ script, faults: [{ fault }] }, async (server, client) => {
    check(await failureOf(client.messages.stream(PARAMS).finalMessage()));
    const next = await client.messages.stream(PARAMS).finalMessage();

    expect(next.stop_reason).toMatch(/end_turn|tool_use/);
    expect(server.requests).toHaveLength(2);
    expect(server.scriptFailures).toEqual([]);
  });
}

describe('a status instead of an answer', () => {
  test.each<[number, string, string]>([
    [400, 'BadRequestError', 'invalid_request_error'],
    [401, 'AuthenticationError', 'authentication_error'],
    [403, 'PermissionDeniedError', 'permission_error'],
    [413, 'ContentTooLargeError', 'request_too_large'],
    [429, 'RateLimitError', 'rate_limit_error'],
    [500, 'InternalServerError', 'api_error'],
    [529, 'OverloadedError', 'overloaded_error'],
  ])('%d is %s of type %s, and neither the script nor the book knows of it', async (status, name, type) => {
    const fault = { kind: 'status', status } as const;
    await withModelServer(
      { script: sequence([again]), faults: [{ fault: fault as FaultInput }] },
      async (server, client) => {
        const failure = await failureOf(client.messages.stream(PARAMS).finalMessage());
        const next = await client.messages.stream(PARAMS).finalMessage();

        expect(failure).toMatchObject({ name, status, type });
        expect(next.stop_reason).toBe('end_turn');
        expect(server.book.map((entry) => entry.request)).toEqual([2]);
      },
    );
  });

  test.each([
    [{ retryAfter: '7' }, { 'retry-after': '7', 'retry-after-ms': null }],
    [
      { retryAfter: 'Wed, 21 Oct 2026 07:28:00 GMT' },
      { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT', 'retry-after-ms': null },
    ],
    [{ retryAfterMs: '350' }, { 'retry-after': null, 'retry-after-ms': '350' }],
    [{}, { 'retry-after': null, 'retry-after-ms': null }],
  ])('429 with %j carries the headers verbatim', async (given, expected) => {
    const script = sequence([]);
    await withModelServer(
      { script, faults: [{ fault: { kind: 'status', status: 429, ...given } }] },
      async (_server, client) => {
        const { error } = await failureOf(client.messages.stream(PARAMS).finalMessage());

        if (!(error instanceof Anthropic.RateLimitError)) throw error;
        expect({
          'retry-after': error.headers.get('retry-after'),
          'retry-after-ms': error.headers.get('retry-after-ms'),
        }).toEqual(expected);
        expect(error.requestID).toBe('req_offline_000000000000000000000001');
      },
    );
  });
});

describe('an error inside the stream', () => {
  test.each([0, 1, 4])('after %d events is an APIError of its type, without a status', async (afterEvents) => {
    await failing({ kind: 'error-mid-stream', at: { afterEvents } }, (failure) => {
      expect(failure).toMatchObject({ name: 'APIError', status: undefined, type: 'overloaded_error' });
    });
  });
});

describe('a cut connection', () => {
  test.each<[string, FaultInput]>([
    ['after the headers', { kind: 'cut', at: { afterEvents: 0 } }],
    ['after the name of the tool', { kind: 'cut', at: { point: 'after-block-start', block: 1 } }],
    ['in the middle of the arguments', { kind: 'cut', at: { point: 'mid-block', block: 1 } }],
    ['after one whole call, in the second', { kind: 'cut', at: { point: 'mid-block' } }],
    ['after whole arguments, before the block’s end', { kind: 'cut', at: { point: 'before-block-stop' } }],
    ['before message_delta', { kind: 'cut', at: { point: 'before-message-delta' } }],
    ['before message_stop', { kind: 'cut', at: { point: 'before-message-stop' } }],
    ['in the middle of an event', { kind: 'cut', at: { point: 'before-message-stop' }, midEvent: true }],
  ])('%s is an AnthropicError “terminated”', async (_title, fault) => {
    await failing(fault, ({ name, error }) => {
      expect([name, error.message]).toEqual(['AnthropicError', expect.stringMatching(/terminated$/)]);
    });
  });
});

describe('an orderly end that comes too early', () => {
  test.each<[string, FaultInput]>([
    ['in the middle of the arguments', { kind: 'clean-eof', at: { point: 'mid-block' } }],
    ['before message_stop', { kind: 'clean-eof', at: { point: 'before-message-stop' } }],
  ])('%s leaves no message', async (_title, fault) => {
    await failing(fault, ({ name, error }) => {
      expect([name, error.message]).toEqual([
        'AnthropicError',
        'stream ended without producing a Message with role=assistant',
      ]);
    });
  });

  test('before the first event leaves nothing at all', async () => {
    await failing({ kind: 'clean-eof', at: { afterEvents: 0 } }, ({ name, error }) => {
      expect([name, error.message]).toEqual(['AnthropicError', 'request ended without sending any chunks']);
    });
  });
});

describe('silence', () => {
  test('before the headers lasts until the client’s own time-out', async () => {
    await withModelServer(
      { script: sequence([]), faults: [{ fault: { kind: 'hang-before-headers' } }] },
      async (server, client) => {
        const failure = await failureOf(client.messages.stream(PARAMS, { timeout: 100 }).finalMessage());
        await server.when(([request]) => request?.outcome.kind === 'faulted');

        expect(failure.name).toBe('APIConnectionTimeoutError');
        expect(server.book).toEqual([]);
      },
    );
  });

  test.each<[string, FaultInput]>([
    ['nothing', { kind: 'stall' }],
    ['pings alone', { kind: 'stall', pingEveryMs: 5 }],
    ['nothing in the middle of arguments', { kind: 'stall', at: { point: 'mid-block' } }],
  ])('%s after message_start lasts until the client aborts, and the server sees it leave', async (_title, fault) => {
    await withModelServer({ script: sequence([calling]), faults: [{ fault }] }, async (server, client) => {
      const stream = client.messages.stream(PARAMS, { timeout: 100 });
      const failed = failureOf(stream.finalMessage());
      await new Promise<void>((resolve) =>
        stream.once('streamEvent', () => {
          resolve();
        }),
      );
      stream.abort();
      await server.when(([request]) => request?.outcome.kind === 'abandoned');

      expect((await failed).name).toBe('APIUserAbortError');
      expect(server.book).toMatchObject([{ request: 1, stopReason: null, complete: false }]);
    });
  });

  test('a slow stream is only slow', async () => {
    const faults = [{ fault: { kind: 'slow', delayMsPerEvent: 3 } as const }];
    await withModelServer({ script: sequence([again]), faults }, async (server, client) => {
      const startedAt = performance.now();
      const message = await client.messages.stream(PARAMS).finalMessage();

      expect(message.stop_reason).toBe('end_turn');
      expect(performance.now() - startedAt).toBeGreaterThan(15);
      expect(server.book).toMatchObject([{ complete: true }]);
    });
  });
});

describe('what the model says wrong', () => {
  async function answered(fault: FaultInput) {
    const messages: Anthropic.Message[] = [];
    await withModelServer({ script: () => ({ ...calling, fault }) }, async (_server, client) => {
      messages.push(await client.messages.stream(PARAMS).finalMessage());
    });
    return messages[0];
  }

  test('max_tokens cuts the last call and leaves the one before whole', async () => {
    expect(await answered({ kind: 'max-tokens' })).toMatchObject({
      stop_reason: 'max_tokens',
      content: [{ type: 'text' }, { input: { id: 'T100' } }, { input: { id: 'T101' } }],
    });
  });

  test('max_tokens may leave a prefix of any length', async () => {
    const message = await answered({ kind: 'max-tokens', keepChars: 0 });

    expect(message).toMatchObject({ stop_reason: 'max_tokens', content: [{}, {}, { input: {} }] });
  });

  test('a refusal has its details and, unless asked for, no content', async () => {
    const refusal = { kind: 'refusal', category: 'cyber', explanation: 'No.' } as const;

    expect(await answered(refusal)).toMatchObject({
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: 'cyber', explanation: 'No.' },
      content: [],
    });
    expect((await answered({ ...refusal, keepContent: true }))?.content).toHaveLength(3);
  });

  test.each<[string, FaultInput, object]>([
    ['pause_turn', { kind: 'pause-turn' }, { stop_reason: 'pause_turn' }],
    ['an unknown stop reason', { kind: 'stop-reason', stopReason: 'eclipse' }, { stop_reason: 'eclipse' }],
    ['empty content', { kind: 'empty-content' }, { stop_reason: 'end_turn', content: [] }],
  ])('%s arrives as a whole message', async (_title, fault, expected) => {
    expect(await answered(fault)).toMatchObject(expected);
  });

  test('malformed arguments fail in the SDK, or when they are read', async () => {
    const faults = [{ fault: { kind: 'malformed-arguments' } as const }];
    await withModelServer({ script: sequence([calling]), faults }, async (_server, client) => {
      const { name } = await failureOf(client.messages.stream(PARAMS).finalMessage());

      expect(name).toBe('AnthropicError');
    });
  });
});

describe('when a fault strikes', () => {
  const asking = (content: string) => ({ ...PARAMS, messages: [{ role: 'user' as const, content }] });
  const overloaded = { kind: 'status', status: 529 } as const;

  test('from a request on, so many times', async () => {
    const faults = [{ fault: overloaded, fromRequest: 2, times: 2 }];
    await withModelServer({ script: () => again, faults }, async (server, client) => {
      const kinds: string[] = [];
      for (let call = 0; call < 5; call += 1) {
        await client.messages
          .stream(PARAMS)
          .finalMessage()
          .catch(() => undefined);
      }
      kinds.push(...server.requests.map((request) => request.outcome.kind));

      expect(kinds).toEqual(['answered', 'faulted', 'faulted', 'answered', 'answered']);
    });
  });

  test('by the text of a message, always', async () => {
    await withModelServer({ script: () => again }, async (server, client) => {
      server.addFault({ fault: overloaded, textIncludes: 'T200', times: 'always' });
      for (const content of ['Read T200.', 'Read T100.', 'Read T200 again.']) {
        await client.messages
          .stream(asking(content))
          .finalMessage()
          .catch(() => undefined);
      }

      expect(server.requests.map((request) => request.outcome.kind)).toEqual(['faulted', 'answered', 'faulted']);
    });
  });

  test('a fault of the turn waits while a rule strikes', async () => {
    const script = sequence([{ ...again, fault: { kind: 'cut', at: { afterEvents: 2 } } }, again]);
    await withModelServer({ script, faults: [{ fault: overloaded }] }, async (_server, client) => {
      const names = [
        (await failureOf(client.messages.stream(PARAMS).finalMessage())).name,
        (await failureOf(client.messages.stream(PARAMS).finalMessage())).name,
        (await client.messages.stream(PARAMS).finalMessage()).stop_reason,
      ];

      expect(names).toEqual(['OverloadedError', 'AnthropicError', 'end_turn']);
    });
  });

  test('a fault that names a block which the answer lacks is a mistake of the script', async () => {
    const faults = [{ fault: { kind: 'cut', at: { point: 'mid-block', block: 9 } } as const }];
    await withModelServer({ script: () => again, faults }, async (server, client) => {
      const failure = await failureOf(client.messages.stream(PARAMS).finalMessage());

      expect(failure.status).toBe(400);
      expect(server.scriptFailures[0]?.message).toBe('the answer has no block 9 to fail in');
    });
  });

  test.each<[string, FaultInput, object]>([
    ['a cut', { kind: 'cut', at: { afterEvents: 3 } }, { name: 'TypeError' }],
    ['an early end', { kind: 'clean-eof', at: { afterEvents: 3 } }, { name: 'SyntaxError' }],
    ['an error', { kind: 'error-mid-stream', at: { afterEvents: 3 } }, { name: 'OverloadedError', status: 529 }],
  ])('without streaming %s strikes the body', async (_title, fault, expected) => {
    await withModelServer({ script: () => calling, faults: [{ fault }] }, async (server, client) => {
      expect(await failureOf(client.messages.create(PARAMS))).toMatchObject(expected);
      expect(server.book.every((entry) => !entry.complete)).toBe(true);
    });
  });
});
