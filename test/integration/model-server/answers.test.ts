import { expect, test } from '@jest/globals';
import {
  byExchange,
  redactedThinking,
  sequence,
  text,
  thinking,
  toolUse,
  turn,
  type Script,
  type ScriptRequest,
  type Turn,
} from '../../../testing/model-server';
import { PARAMS, failureOf, withModelServer } from './model-client';

const answer = turn([
  thinking('The rota decides 🧭.'),
  redactedThinking(),
  text('Reading.'),
  toolUse('read_ticket', { id: 'T100' }),
]);

test('the SDK assembles the scripted turn, and the native blocks come back accepted', async () => {
  await withModelServer({ script: sequence([answer, turn([text('Done.')])]) }, async (server, client) => {
    const first = await client.messages.stream(PARAMS).finalMessage();
    const second = await client.messages
      .stream({
        ...PARAMS,
        messages: [
          ...PARAMS.messages,
          { role: 'assistant', content: first.content },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: 'toolu_000000000000000000000001', content: 'ok' }],
          },
        ],
      })
      .finalMessage();

    expect(first).toMatchObject({
      id: 'msg_000000000000000000000001',
      stop_reason: 'tool_use',
      content: [
        { type: 'thinking', thinking: 'The rota decides 🧭.' },
        { type: 'redacted_thinking' },
        { type: 'text', text: 'Reading.' },
        { type: 'tool_use', id: 'toolu_000000000000000000000001', input: { id: 'T100' }, caller: { type: 'direct' } },
      ],
    });
    expect(second).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text', text: 'Done.' }] });
    expect(server.requests.map((request) => request.outcome)).toEqual([
      { kind: 'answered', messageId: first.id, complete: true },
      { kind: 'answered', messageId: second.id, complete: true },
    ]);
    expect(server.scriptFailures).toEqual([]);
  });
});

test('without streaming the same turn is one body with the same content and usage', async () => {
  const fixed = turn([thinking('Hm.'), text('Reading 😀.'), toolUse('read_ticket', { id: 'T100' }, 'call_1')]);
  await withModelServer({ script: byExchange([fixed]) }, async (server, client) => {
    const streamed = await client.messages.stream(PARAMS).finalMessage();
    const whole = await client.messages.create(PARAMS);

    expect(whole.content).toEqual(streamed.content);
    expect([whole.stop_reason, whole.usage]).toEqual([streamed.stop_reason, streamed.usage]);
    expect(server.book.map((entry) => [entry.outputTokens, entry.complete])).toEqual([
      [streamed.usage.output_tokens, true],
      [streamed.usage.output_tokens, true],
    ]);
  });
});

test('the bytes are the provider’s: named events, one data line each, a ping, a request id', async () => {
  await withModelServer({ script: () => turn([toolUse('read_ticket', { id: 'T100' })]) }, async (server) => {
    const response = await fetch(`${server.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'k', 'anthropic-version': '2026-10-21', 'content-type': 'application/json' },
      body: JSON.stringify({ ...PARAMS, stream: true }),
    });
    const frames = (await response.text()).split('\n\n').slice(0, -1);

    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('request-id')).toBe('req_offline_000000000000000000000001');
    expect(frames.map((frame) => frame.split('\n')[0])).toEqual([
      'event: message_start',
      'event: content_block_start',
      'event: ping',
      'event: content_block_delta',
      'event: content_block_delta',
      'event: content_block_delta',
      'event: content_block_stop',
      'event: message_delta',
      'event: message_stop',
    ]);
    expect(frames[1]).toBe(
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use",' +
        '"id":"toolu_000000000000000000000001","name":"read_ticket","input":{},"caller":{"type":"direct"}}}',
    );
    expect(frames[4]).toBe(
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,' +
        String.raw`"delta":{"type":"input_json_delta","partial_json":"{\"id\":\"T100\""}}`,
    );
    expect(frames[8]).toBe('event: message_stop\ndata: {"type":"message_stop"}');
  });
});

test('the script sees the request parsed, with a string as one text block', async () => {
  const seen: ScriptRequest[] = [];
  const script = (request: ScriptRequest) => {
    seen.push(request);
    return turn([text('Hello.')]);
  };
  await withModelServer({ script }, async (_server, client) => {
    await client.messages.stream({ ...PARAMS, system: 'Be careful.' }).finalMessage();
  });

  expect(seen).toEqual([
    {
      number: 1,
      model: 'claude-sonnet-5',
      maxTokens: 1024,
      system: 'Be careful.',
      tools: PARAMS.tools,
      messages: [{ role: 'user', blocks: [{ type: 'text', text: 'Read ticket T100.' }] }],
      stream: true,
    },
  ]);
});

test('a sequence asked once too often fails the request for good, and the server keeps the reason', async () => {
  await withModelServer({ script: sequence([turn([text('Once.')])]) }, async (server, client) => {
    await client.messages.stream(PARAMS).finalMessage();
    const failure = await failureOf(client.messages.stream(PARAMS).finalMessage());

    expect(failure).toMatchObject({ name: 'BadRequestError', status: 400, type: 'invalid_request_error' });
    expect(server.scriptFailures.map((error) => error.message)).toEqual([
      'sequence: asked for turn 2, but the script has 1',
    ]);
  });
});

/** As a script in plain JavaScript would return it. */
function parseTurn(json: string): Turn {
  return JSON.parse(json) as Turn;
}

test('a turn that is none fails in the same way, naming the field', async () => {
  const script: Script = () => parseTurn('{"blocks":[{"type":"text"}]}');
  await withModelServer({ script }, async (server, client) => {
    const failure = await failureOf(client.messages.stream(PARAMS).finalMessage());

    expect(failure).toMatchObject({ name: 'BadRequestError', status: 400 });
    expect(server.scriptFailures[0]?.message).toContain('"text"');
  });
});

test('a request that breaks a rule is refused before the script is asked, and costs nothing', async () => {
  await withModelServer({ script: sequence([]) }, async (server, client) => {
    const params = { ...PARAMS, messages: [{ role: 'user' as const, content: 'broken \ud83d' }] };
    const failure = await failureOf(client.messages.stream(params).finalMessage());

    expect(failure).toMatchObject({ name: 'BadRequestError', status: 400, type: 'invalid_request_error' });
    expect(server.requests[0]?.outcome).toMatchObject({ kind: 'refused', status: 400 });
    expect(server.book).toEqual([]);
    expect(server.scriptFailures).toEqual([]);
  });
});

test('what exceeds max_tokens is cut as the provider does, and a larger limit lets it through', async () => {
  const script = byExchange([turn([toolUse('read_ticket', { id: 'T100', note: 'n'.repeat(100) })])]);
  await withModelServer({ script }, async (_server, client) => {
    const cut = await client.messages.stream({ ...PARAMS, max_tokens: 16 }).finalMessage();
    const whole = await client.messages.stream(PARAMS).finalMessage();

    expect([cut.stop_reason, cut.usage.output_tokens]).toEqual(['max_tokens', 16]);
    expect([whole.stop_reason, whole.usage.output_tokens]).toEqual(['tool_use', 31]);
  });
});
