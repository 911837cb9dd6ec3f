import { describe, expect, test } from '@jest/globals';
import { sequence, text, toolUse, turn, type FaultInput, type Turn } from '../../../testing/model-server';
import { PARAMS, failureOf, withModelServer } from './model-client';

const usage = { inputTokens: 1000, outputTokens: 400, cacheReadTokens: 600, cacheCreationTokens: 80 };
/** 100 characters in deltas of 10: each delta is a tenth of the output. */
const spoken: Turn = turn([text('0123456789'.repeat(10))], { usage, chunkSize: 10 });
const row = { request: 1, inputTokens: 1000, cacheReadTokens: 600, cacheCreationTokens: 80 };

test('a complete answer is billed by the turn’s figures', async () => {
  await withModelServer({ script: sequence([spoken]) }, async (server, client) => {
    const message = await client.messages.stream(PARAMS).finalMessage();

    expect(server.book).toEqual([
      { ...row, at: expect.any(String), outputTokens: 400, stopReason: 'end_turn', complete: true },
    ]);
    expect(message.usage).toMatchObject({
      input_tokens: 1000,
      output_tokens: 400,
      cache_read_input_tokens: 600,
      cache_creation_input_tokens: 80,
    });
  });
});

test('without figures the estimate is a quarter of the bytes', async () => {
  await withModelServer(
    { script: sequence([turn([text('äöü!'), toolUse('read_ticket', { id: 'T1' })])]) },
    async (server, client) => {
      await client.messages
        .stream({ model: 'm', max_tokens: 99, messages: [{ role: 'user', content: 'Go.' }] })
        .finalMessage();

      // [{"role":"user","content":"Go."}] is 33 bytes; äöü! is 7, {"id":"T1"} is 11.
      expect(server.book).toMatchObject([
        { inputTokens: 9, outputTokens: 5, cacheReadTokens: 0, cacheCreationTokens: 0 },
      ]);
    },
  );
});

describe('a broken stream is billed for its input and what had been sent', () => {
  test.each<[string, FaultInput, object]>([
    ['cut after message_start', { kind: 'cut', at: { afterEvents: 1 } }, { outputTokens: 1, stopReason: null }],
    ['cut after three of ten deltas', { kind: 'cut', at: { afterEvents: 5 } }, { outputTokens: 120, stopReason: null }],
    [
      'error after half',
      { kind: 'error-mid-stream', at: { point: 'mid-block' } },
      { outputTokens: 200, stopReason: null },
    ],
    [
      'clean end before message_delta',
      { kind: 'clean-eof', at: { point: 'before-message-delta' } },
      { outputTokens: 400, stopReason: null },
    ],
    [
      'cut before message_stop',
      { kind: 'cut', at: { point: 'before-message-stop' } },
      { outputTokens: 400, stopReason: 'end_turn' },
    ],
  ])('%s', async (_title, fault, expected) => {
    await withModelServer({ script: sequence([{ ...spoken, fault }]) }, async (server, client) => {
      await failureOf(client.messages.stream(PARAMS).finalMessage());

      expect(server.book).toMatchObject([{ ...row, ...expected, complete: false }]);
    });
  });

  test.each<[string, FaultInput]>([
    ['a connection cut before the first event', { kind: 'cut', at: { afterEvents: 0 } }],
    ['an error as the first event', { kind: 'error-mid-stream', at: { afterEvents: 0 } }],
    ['a status', { kind: 'status', status: 500 }],
  ])('%s costs nothing', async (_title, fault) => {
    await withModelServer({ script: sequence([{ ...spoken, fault }]) }, async (server, client) => {
      await failureOf(client.messages.stream(PARAMS).finalMessage());

      expect(server.book).toEqual([]);
    });
  });

  test('a client that leaves in the middle is billed for what it had been sent', async () => {
    const fault = { kind: 'stall', at: { afterEvents: 7 } } as const;
    await withModelServer({ script: sequence([{ ...spoken, fault }]) }, async (server, client) => {
      const stream = client.messages.stream(PARAMS);
      const failed = failureOf(stream.finalMessage());
      let heard = '';
      stream.on('text', (delta) => {
        heard += delta;
        if (heard.length === 50) stream.abort();
      });
      await failed;
      await server.when(([request]) => request?.outcome.kind === 'abandoned');

      expect(server.book).toMatchObject([{ ...row, outputTokens: 200, stopReason: null, complete: false }]);
    });
  });
});

describe('usage variants change what is said, not what is billed', () => {
  const figures = {
    input_tokens: 1000,
    output_tokens: 400,
    cache_read_input_tokens: 600,
    cache_creation_input_tokens: 80,
  };

  async function saidUsage(variant: Extract<FaultInput, { kind: 'usage' }>['variant']) {
    const said: Record<string, unknown>[] = [];
    await withModelServer(
      { script: sequence([{ ...spoken, fault: { kind: 'usage', variant } }]) },
      async (server, client) => {
        const stream = client.messages.stream(PARAMS);
        stream.on('streamEvent', (event) => {
          if (event.type === 'message_start') said.push({ ...event.message.usage });
          if (event.type === 'message_delta') said.push({ ...event.usage });
        });
        said.push({ ...(await stream.finalMessage()).usage });

        expect(server.book).toMatchObject([{ ...row, outputTokens: 400, complete: true }]);
      },
    );
    return said;
  }

  test.each<[Parameters<typeof saidUsage>[0], readonly object[]]>([
    ['cache-in-start', [{ cache_read_input_tokens: 600, output_tokens: 1 }, { output_tokens: 400 }, figures]],
    [
      'cache-in-delta',
      [{ input_tokens: 1000, cache_read_input_tokens: null }, { cache_read_input_tokens: 600 }, figures],
    ],
    ['cache-larger-in-delta', [{ cache_read_input_tokens: 300, cache_creation_input_tokens: 40 }, figures, figures]],
    ['output-grows', [{ output_tokens: 1 }, { output_tokens: 200 }, { output_tokens: 400 }, figures]],
  ])('%s', async (variant, expected) => {
    expect(await saidUsage(variant)).toMatchObject(expected);
  });

  test('cache-in-start says nothing of the cache in the end', async () => {
    expect((await saidUsage('cache-in-start'))[1]).toEqual({ output_tokens: 400 });
  });

  test('none gives no figure anywhere', async () => {
    expect(await saidUsage('none')).toEqual([{}, {}, { output_tokens: undefined }]);
  });
});

test('the book keeps nothing where it is switched off', async () => {
  await withModelServer({ script: sequence([spoken]), keepBook: false }, async (server, client) => {
    await client.messages.stream(PARAMS).finalMessage();

    expect(server.book).toEqual([]);
  });
});
