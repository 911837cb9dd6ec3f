/** How each kind of end reads, as a table. */
import { expect, test } from '@jest/globals';
import type Anthropic from '@anthropic-ai/sdk';
import type { ExchangeParts } from '../../../../activities/context/load-parts';
import { renderAddition } from '../../../../activities/context/render-addition';
import { evidenceIdOf } from '../../../../workflows/contract/ids';
import type { JsonObject } from '../../../../workflows/contract/json';
import { candidateOf, HASH, responsePart } from './histories';

const use = (id: string, name = 'get_ticket'): Anthropic.ToolUseBlockParam => ({
  type: 'tool_use',
  id,
  name,
  input: {},
});

const exchange = (
  blocks: readonly Anthropic.ContentBlockParam[],
  parts: Partial<ExchangeParts> = {},
  stopReason?: string,
): ExchangeParts => ({
  kind: 'exchange',
  addition: { kind: 'exchange', step: 3, candidate: HASH, calls: [] },
  candidate: candidateOf(blocks, stopReason),
  calls: [],
  ...parts,
});

const LIMIT_BYTES = 8_192;
const show = (parts: ExchangeParts) => renderAddition(parts, LIMIT_BYTES).whole;

/** The JSON between the two lines, whatever their name. */
const contentOf = (block: Anthropic.ContentBlockParam | undefined): JsonObject | undefined => {
  const text = block?.type === 'tool_result' ? block.content : block?.type === 'text' ? block.text : undefined;
  return typeof text === 'string' ? parseObject(text.split('\n')[1] ?? '') : undefined;
};
const parseObject = (text: string): JsonObject => JSON.parse(text) as JsonObject;

const json = (value: unknown) => ({ bytes: Buffer.from(JSON.stringify(value)), mediaType: 'application/json' });
const E31 = evidenceIdOf(3, 1);

test.each<readonly [string, ExchangeParts, JsonObject, boolean]>([
  [
    'a success',
    exchange([use('a')], { calls: [{ end: { ordinal: 1, evidence: E31 }, output: json({ ok: false }) }] }),
    { evidence: 'E3.1', result: { ok: false } },
    false,
  ],
  ['a falsy result', exchange([use('a')], { calls: [{ end: { ordinal: 1 }, output: json(0) }] }), { result: 0 }, false],
  [
    'a success of which nothing came back',
    exchange([use('a')], { calls: [{ end: { ordinal: 1 } }] }),
    { result: null },
    false,
  ],
  [
    'a failure with what is confirmed',
    exchange([use('a')], {
      calls: [
        {
          end: { ordinal: 1, code: 'STATE_CONFLICT', evidence: E31 },
          failure: {
            code: 'STATE_CONFLICT',
            message: 'version 4 now',
            confirmed: { version: 4 },
            evidence: [],
            recoveries: ['read'],
          },
        },
      ],
    }),
    {
      evidence: 'E3.1',
      code: 'STATE_CONFLICT',
      message: 'version 4 now',
      confirmed: { version: 4 },
      recoveries: ['read'],
    },
    true,
  ],
  [
    "an end that is not the failure's own",
    exchange([use('a')], {
      calls: [
        {
          end: { ordinal: 1, code: 'EXPIRED' },
          failure: { code: 'OUTCOME_UNKNOWN', message: 'no receipt', evidence: [], recoveries: [] },
        },
      ],
    }),
    { code: 'EXPIRED', message: 'nobody answered in time; nothing more was sent' },
    true,
  ],
  [
    'a refused turn',
    exchange([use('a')], {
      finding: { schemaVersion: 1, code: 'candidate.unknown_tool', message: 'no such tool', field: 'name' },
    }),
    { code: 'candidate.unknown_tool', message: 'no such tool', field: 'name' },
    true,
  ],
  [
    "a refused turn with the call's own fault",
    exchange([use('a')], {
      finding: {
        schemaVersion: 1,
        code: 'candidate.invalid_argument',
        message: 'one call is wrong',
        calls: [{ ordinal: 1, code: 'INVALID_ARGUMENT', message: 'id: expected text', field: '/id' }],
      },
    }),
    { code: 'INVALID_ARGUMENT', message: 'id: expected text', field: '/id', finding: 'candidate.invalid_argument' },
    true,
  ],
  [
    'an answered question, also a falsy one',
    exchange([use('a', 'ask_user')], { response: responsePart({ choice: 0 }) }),
    { evidence: 'W12.1', wait: 'question', response: { choice: 0 } },
    false,
  ],
  [
    'a question that nobody answered',
    exchange([use('a', 'ask_user')], { response: responsePart() }),
    { evidence: 'W12.1', wait: 'question', expired: true, message: 'nobody answered in time' },
    false,
  ],
  ['thinking that was asked for', exchange([use('a', 'analyse')]), { accepted: true }, false],
  ['a turn that the plan overtook', exchange([use('a')]), { code: 'SUPERSEDED', message: 'it was not executed' }, true],
])('%s', (_title, parts, content, isError) => {
  const [block] = show(parts).user;
  expect(contentOf(block)).toEqual(content);
  expect(block).toMatchObject({ type: 'tool_result', tool_use_id: 'a', ...(isError ? { is_error: true } : {}) });
  expect('is_error' in (block ?? {})).toBe(isError);
});

test('a call beside a faulty one is told that it was not executed', () => {
  const finding = {
    schemaVersion: 1,
    code: 'candidate.invalid_argument',
    message: 'one call is wrong',
    calls: [{ ordinal: 2, code: 'INVALID_ARGUMENT', message: 'expected text' }],
  } as const;
  const { user } = show(exchange([use('a'), use('b'), use('c')], { finding }));
  expect(user.map(contentOf)).toEqual([
    { code: 'candidate.invalid_argument', message: 'one call is wrong' },
    { code: 'INVALID_ARGUMENT', message: 'expected text', finding: 'candidate.invalid_argument' },
    { code: 'candidate.invalid_argument', message: 'it was not executed' },
  ]);
});

test('thinking and its signature go back as they came, redacted thinking too', () => {
  const blocks: readonly Anthropic.ContentBlockParam[] = [
    { type: 'thinking', thinking: 'first', signature: 'sig' },
    { type: 'redacted_thinking', data: 'abc' },
    use('a'),
    use('b'),
  ];
  expect(JSON.stringify(show(exchange(blocks)).assistant)).toBe(JSON.stringify(blocks));
});

test.each<readonly [string, readonly Anthropic.ContentBlockParam[]]>([
  ['an empty turn', []],
  ['a turn of white space', [{ type: 'text', text: ' \n' }]],
  ['a turn that only thinks', [{ type: 'thinking', thinking: 'x', signature: 's' }]],
])('%s is left out whole', (_title, blocks) => {
  expect(show(exchange(blocks))).toMatchObject({ assistant: [], user: [] });
});

test('a turn that names one tool use twice is told in words, with what came of each call', () => {
  const calls = [
    { end: { ordinal: 1 }, output: json('one') },
    { end: { ordinal: 2 }, output: json('two') },
  ];
  const { assistant, user } = show(exchange([use('a'), use('a')], { calls }));
  expect(assistant).toEqual([]);
  expect(user.map(contentOf)).toMatchObject([{ results: [{ result: 'one' }, { result: 'two' }] }]);
});

test('a paused turn has nothing after it; any other turn has', () => {
  const text = [{ type: 'text', text: 'let me see' }] as const;
  expect(show(exchange(text, {}, 'pause_turn'))).toMatchObject({ isPaused: true, user: [] });
  expect(show(exchange(text, {}, 'end_turn')).user).toHaveLength(1);
});

test('digested, a large result gives way and the turn itself does not', () => {
  const parts = exchange([{ type: 'text', text: 'w'.repeat(5_000) }, use('a')], {
    calls: [{ end: { ordinal: 1, evidence: E31 }, output: json('v'.repeat(6_000)) }],
  });
  const { whole, digested } = renderAddition(parts, LIMIT_BYTES);
  expect(digested.assistant).toEqual(whole.assistant);
  expect(digested.bytes).toBeLessThan(whole.bytes - 4_000);
  expect(contentOf(digested.user[0])).toMatchObject({
    evidence: 'E3.1',
    digest: { bytes: 6_002, read_on: 'read_evidence' },
  });
});
