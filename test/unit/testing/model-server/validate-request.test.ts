import { describe, expect, test } from '@jest/globals';
import {
  HEADERS,
  USER,
  assistant,
  conversation,
  judge,
  refused,
  request,
  result,
  text,
  use,
  user,
  withSchema,
  withTool,
} from './requests';

describe('a request is accepted', () => {
  test.each<[string, unknown]>([
    ['with the least that is needed', request()],
    ['with system text, blocks or an empty system', request({ system: [text('You are careful.')] })],
    ['with messages of one role in a row', conversation(user(text('And quickly.')), assistant(text('Yes.')), USER)],
    ['with an empty final assistant message', conversation({ role: 'assistant', content: '' })],
    ['with a prefill', conversation(assistant(text('The team is')))],
    ['with a tool use and its result', conversation(assistant(use('t1')), user(result('t1')))],
    ['with text after the results', conversation(assistant(use('t1')), user(result('t1'), text('Go on.')))],
    ['with a result without content', conversation(assistant(use('t1')), user(result('t1', { content: undefined })))],
    ['with a result of blocks', conversation(assistant(use('t1')), user(result('t1', { content: [text('ok')] })))],
    ['with an error result', conversation(assistant(use('t1')), user(result('t1', { is_error: true })))],
    ['with parallel calls', conversation(assistant(use('t1'), use('t2')), user(result('t1'), result('t2')))],
    [
      'with calls over two messages',
      conversation(assistant(use('a')), assistant(use('b')), user(result('a'), result('b'))),
    ],
    ['with a paused server tool at the end', conversation(assistant({ ...use('s1'), type: 'server_tool_use' }))],
    [
      'with the caller that the provider put in',
      conversation(assistant({ ...use('t1'), caller: { type: 'direct' } }), user(result('t1'))),
    ],
    ['with an astral character', request({ messages: [{ role: 'user', content: 'done 😀' }] })],
    [
      'with a combinator below the root',
      withSchema({ type: 'object', properties: { a: { anyOf: [{ type: 'null' }, true] } } }),
    ],
    ['with a forced tool', { ...withTool({}), tool_choice: { type: 'tool', name: 'read_ticket' } }],
    ['with thinking', request({ max_tokens: 4096, thinking: { type: 'enabled', budget_tokens: 2048 } })],
  ])('%s', (_title, body) => {
    expect(judge(body)).toBe('accepted');
  });

  test('with a bearer token in place of the key', () => {
    const { 'x-api-key': _key, ...rest } = HEADERS;

    expect(judge(request(), { headers: { ...rest, authorization: 'Bearer sk-offline' } })).toBe('accepted');
  });
});

describe('headers', () => {
  test.each<[string, Record<string, string | undefined>, object]>([
    [
      'no key',
      { 'x-api-key': undefined },
      { status: 401, type: 'authentication_error', message: 'x-api-key header is required' },
    ],
    ['no version', { 'anthropic-version': undefined }, refused('anthropic-version: header is required')],
    ['nonsense version', { 'anthropic-version': 'v1' }, refused('anthropic-version: "v1" is not a valid version')],
    [
      'no JSON',
      { 'content-type': 'text/plain' },
      refused('content-type: "text/plain" is not supported, expected application/json'),
    ],
  ])('%s is refused', (_title, changed, verdict) => {
    const headers = { ...HEADERS, ...changed };

    expect(judge(request(), { headers })).toEqual(verdict);
  });
});

describe('body', () => {
  test.each<[string, unknown, RegExp]>([
    ['no JSON', '{"model": ', /^The request body is not valid JSON: /],
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), /^The request body is not valid JSON: invalid UTF-8$/],
    [
      'a lone surrogate in a result',
      String.raw`{"messages":[{"role":"user","content":[{"type":"text","text":"\ud83d"}]}]}`,
      /no low surrogate in string: messages\.0\.content\.0\.text$/,
    ],
    ['a lone low surrogate', String.raw`{"system":"a\ude00b"}`, /no low surrogate in string: system$/],
    [
      'a lone surrogate in a key',
      String.raw`{"metadata":{"\ud83d":1}}`,
      /no low surrogate in string: metadata\.\(key\)$/,
    ],
  ])('%s is refused', (_title, body, message) => {
    expect(judge(body)).toEqual(refused(expect.stringMatching(message)));
  });

  test('a body over the size limit is refused with 413', () => {
    expect(judge(request(), { limits: { maxBodyBytes: 50 } })).toEqual({
      status: 413,
      type: 'request_too_large',
      message: 'Request exceeds the maximum size of 50 bytes',
    });
  });
});

describe('shape', () => {
  const { max_tokens: _maxTokens, ...withoutMaxTokens } = request();
  const { model: _model, ...withoutModel } = request();
  const { messages: _messages, ...withoutMessages } = request();

  test.each<[string, unknown, string]>([
    ['no model', withoutModel, 'model: Field required'],
    ['an empty model', request({ model: '' }), 'model: String should have at least 1 character'],
    ['no max_tokens', withoutMaxTokens, 'max_tokens: Field required'],
    ['max_tokens 0', request({ max_tokens: 0 }), 'max_tokens: Input should be greater than or equal to 1'],
    ['max_tokens 1.5', request({ max_tokens: 1.5 }), 'max_tokens: Input should be a valid integer'],
    ['max_tokens as text', request({ max_tokens: '9' }), 'max_tokens: Input should be a valid number'],
    ['no messages', withoutMessages, 'messages: Field required'],
    ['an unknown field', request({ temperature: 0 }), 'temperature: Extra inputs are not permitted'],
    [
      'an unknown role',
      request({ messages: [{ role: 'tool', content: 'x' }] }),
      "messages.0.role: Input should be 'user' or 'assistant'",
    ],
    [
      'content that is no list',
      request({ messages: [{ role: 'user', content: 7 }] }),
      'messages.0.content: Input should be a valid string',
    ],
    [
      'an unknown block',
      conversation(user({ type: 'note', text: 'x' })),
      'messages.1.content.0.type: Input tag "note" does not match any of the expected tags',
    ],
    [
      'an extra field in a block',
      conversation(user({ ...text('x'), index: 0 })),
      'messages.1.content.0.text.index: Extra inputs are not permitted',
    ],
    [
      'input as text',
      conversation(assistant({ ...use('t1'), input: '{}' })),
      'messages.1.content.0.tool_use.input: Input should be a valid dictionary',
    ],
    [
      'input as a list',
      conversation(assistant({ ...use('t1'), input: [] })),
      'messages.1.content.0.tool_use.input: Input should be a valid dictionary',
    ],
    [
      'input null',
      conversation(assistant({ ...use('t1'), input: null })),
      'messages.1.content.0.tool_use.input: Input should be a valid dictionary',
    ],
    [
      'an id with spaces',
      conversation(assistant(use('a b'))),
      "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ],
    [
      'thinking without signature',
      conversation(assistant({ type: 'thinking', thinking: 'hm' })),
      'messages.1.content.0.thinking.signature: Field required',
    ],
    [
      'result content that is an object',
      conversation(assistant(use('t1')), user(result('t1', { content: { a: 1 } }))),
      'messages.2.content.0.tool_result.content: Input should be a valid string',
    ],
    [
      'a small thinking budget',
      request({ thinking: { type: 'enabled', budget_tokens: 10 } }),
      'thinking.budget_tokens: Input should be greater than or equal to 1024',
    ],
  ])('%s is refused', (_title, body, message) => {
    expect(judge(body)).toEqual(refused(message));
  });
});

describe('content', () => {
  const empty = 'all messages must have non-empty content except for the optional final assistant message';

  test.each<[string, unknown, string]>([
    ['no message', request({ messages: [] }), 'messages: at least one message is required'],
    [
      'an assistant first',
      request({ messages: [assistant(text('Hi.'))] }),
      'messages: first message must use the "user" role',
    ],
    ['an empty user message', request({ messages: [{ role: 'user', content: '' }] }), `messages.0: ${empty}`],
    ['an empty list', request({ messages: [{ role: 'user', content: [] }] }), `messages.0: ${empty}`],
    ['an empty assistant message inside', conversation(assistant(), USER), `messages.1: ${empty}`],
    ['an empty text block', conversation(user(text(''))), 'messages: text content blocks must be non-empty'],
    [
      'a blank text block',
      conversation(user(text(' \n'))),
      'messages: text content blocks must contain non-whitespace text',
    ],
    [
      'a blank message',
      request({ messages: [{ role: 'user', content: '  ' }] }),
      'messages: text content blocks must contain non-whitespace text',
    ],
    ['an empty system block', request({ system: [text('')] }), 'system: text content blocks must be non-empty'],
    [
      'an empty text in a result',
      conversation(assistant(use('t1')), user(result('t1', { content: [text('')] }))),
      'messages: text content blocks must be non-empty',
    ],
    [
      'an error result without content',
      conversation(assistant(use('t1')), user(result('t1', { content: '', is_error: true }))),
      'messages: tool_result: content cannot be empty if `is_error` is true',
    ],
    [
      'a prefill with white space at its end',
      conversation(assistant(text('The team is '))),
      'messages: final assistant content cannot end with trailing whitespace',
    ],
    [
      'a tool use by the user',
      conversation(user(use('t1'))),
      'messages.1: `tool_use` blocks can only be in `assistant` messages',
    ],
    [
      'a result by the assistant',
      conversation(assistant(result('t1'))),
      'messages.1: `tool_result` blocks can only be in `user` messages',
    ],
    [
      'five cache marks',
      request({ system: Array.from({ length: 5 }, () => ({ ...text('x'), cache_control: { type: 'ephemeral' } })) }),
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    ],
  ])('%s is refused', (_title, body, message) => {
    expect(judge(body)).toEqual(refused(message));
  });
});

describe('size', () => {
  test('a prompt over the context is refused with both figures', () => {
    const body = request({ messages: [{ role: 'user', content: 'x'.repeat(4000) }] });

    expect(judge(body, { limits: { contextTokens: 1000 } })).toEqual(
      refused('prompt is too long: 1008 tokens > 1000 maximum'),
    );
    expect(judge(body, { limits: { contextTokens: 1008 } })).toBe('accepted');
  });

  test('more output than the model can give is refused', () => {
    expect(judge(request({ max_tokens: 9000 }), { limits: { maxOutputTokens: 8192 } })).toEqual(
      refused('max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for claude-sonnet-5'),
    );
  });

  test('a thinking budget that leaves no room is refused', () => {
    const body = request({ max_tokens: 1024, thinking: { type: 'enabled', budget_tokens: 1024 } });

    expect(judge(body)).toEqual(refused('`max_tokens` must be greater than `thinking.budget_tokens`.'));
  });

  test('an unknown model is not found', () => {
    expect(judge(request(), { limits: { models: ['claude-opus-5'] } })).toEqual({
      status: 404,
      type: 'not_found_error',
      message: 'model: claude-sonnet-5',
    });
  });
});
