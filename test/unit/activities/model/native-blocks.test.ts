import { describe, expect, test } from '@jest/globals';
import { toCalls, toNativeBlocks } from '../../../../activities/model/native-blocks';
import {
  blockDelta,
  blockStart,
  blockStop,
  receive,
  start,
  TEXT,
  textEvents,
  toolUse,
  toolUseEvents,
} from './fixtures';

const blocksOf = (...events: readonly object[]) => receive(start(), ...events).blocks;

const thinkingEvents = (index: number, thinking: string, signature?: string) => [
  blockStart(index, { type: 'thinking', thinking: '', signature: '' }),
  blockDelta(index, { type: 'thinking_delta', thinking }),
  ...(signature === undefined ? [] : [blockDelta(index, { type: 'signature_delta', signature })]),
  blockStop(index),
];

describe('blocks that go back to the provider', () => {
  test('are verbatim and in order', () => {
    const blocks = blocksOf(
      ...thinkingEvents(0, 'Let me see.', 'c2ln'),
      blockStart(1, { type: 'redacted_thinking', data: 'ZW5j' }),
      blockStop(1),
      ...textEvents(2, 'Reading ', '😀.'),
      ...toolUseEvents(3, 'toolu_1', '{"id":', '"T100"}'),
    );

    expect(toNativeBlocks(blocks)).toEqual([
      { type: 'thinking', thinking: 'Let me see.', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'ZW5j' },
      { type: 'text', text: 'Reading 😀.', citations: null },
      { type: 'tool_use', id: 'toolu_1', name: 'read_ticket', input: { id: 'T100' } },
    ]);
  });

  test.each<[string, readonly object[]]>([
    ['empty text', textEvents(0)],
    ['white text', textEvents(0, ' \n')],
    ['thinking without its signature', thinkingEvents(0, 'Half a tho')],
    ['thinking that is not well-formed', thinkingEvents(0, 'x\ud83d', 'c2ln')],
    [
      'a block that grew in an unknown way',
      [blockStart(0, TEXT), blockDelta(0, { type: 'emphasis_delta' }), blockStop(0)],
    ],
  ])('%s is left out whole', (_, events) => {
    expect(toNativeBlocks(blocksOf(...events))).toEqual([]);
  });

  test('thinking whose text the provider keeps to itself stays, for its signature', () => {
    expect(toNativeBlocks(blocksOf(...thinkingEvents(0, '', 'c2ln')))).toEqual([
      { type: 'thinking', thinking: '', signature: 'c2ln' },
    ]);
  });

  test.each([['{"id":'], ['[1]'], ['null'], ['"T100"'], ['']])(
    'a call with the arguments %j has an empty object there',
    (text) => {
      expect(toNativeBlocks(blocksOf(...toolUseEvents(0, 'toolu_1', text)))).toEqual([
        { type: 'tool_use', id: 'toolu_1', name: 'read_ticket', input: {} },
      ]);
    },
  );

  test('half a surrogate pair in text or arguments is replaced', () => {
    const blocks = blocksOf(...textEvents(0, 'a\ud83d'), ...toolUseEvents(1, 'toolu_1', '{"id":"\\udc00"}'));

    expect(toNativeBlocks(blocks)).toEqual([
      { type: 'text', text: 'a\ufffd', citations: null },
      { type: 'tool_use', id: 'toolu_1', name: 'read_ticket', input: { id: '\ufffd' } },
    ]);
  });

  test('citations stand with their text', () => {
    const citation = { type: 'char_location', cited_text: 'on call' };
    const blocks = blocksOf(
      blockStart(0, TEXT),
      blockDelta(0, { type: 'text_delta', text: 'Team A.' }),
      blockDelta(0, { type: 'citations_delta', citation }),
      blockStop(0),
    );

    expect(toNativeBlocks(blocks)).toEqual([{ type: 'text', text: 'Team A.', citations: [citation] }]);
  });

  test('arguments may come whole with the start of their block', () => {
    const blocks = blocksOf(
      blockStart(0, { ...toolUse('toolu_1', 'read_ticket'), input: { id: 'T100' } }),
      blockStop(0),
    );

    expect(toCalls(blocks, true)).toEqual([{ ordinal: 1, id: 'toolu_1', name: 'read_ticket', input: { id: 'T100' } }]);
  });
});

describe('calls', () => {
  const blocks = blocksOf(
    ...textEvents(0, 'Now.'),
    ...toolUseEvents(1, 'toolu_1', '{"id":"T100"}'),
    ...toolUseEvents(2, 'toolu_1', '{"id":'),
    ...toolUseEvents(3, 'toolu_3', '{"amount":9007199254740993}'),
    ...toolUseEvents(4, 'toolu_4'),
  );

  test('are numbered in order, with what their arguments are worth', () => {
    const name = 'read_ticket';

    expect(toCalls(blocks, true)).toEqual([
      { ordinal: 1, id: 'toolu_1', name, input: { id: 'T100' } },
      { ordinal: 2, id: 'toolu_1', name, invalidJson: '{"id":' },
      {
        ordinal: 3,
        id: 'toolu_3',
        name,
        input: { amount: 9007199254740992 },
        inputText: '{"amount":9007199254740993}',
        flaws: [{ kind: 'lossyNumber', path: '/amount', text: '9007199254740993' }],
      },
      { ordinal: 4, id: 'toolu_4', name, input: {} },
    ]);
  });

  test('of an incomplete message have no input, however whole they look', () => {
    expect(toCalls(blocks, false).filter((call) => 'input' in call)).toEqual([]);
    expect(toCalls(blocks, false)[0]).toMatchObject({ invalidJson: '{"id":"T100"}' });
  });

  test('a tool of the provider’s own is no call of ours', () => {
    const own = { ...toolUse('srvtoolu_1', 'web_search'), type: 'server_tool_use' };

    expect(toCalls(blocksOf(blockStart(0, own), blockStop(0)), true)).toEqual([]);
  });
});
