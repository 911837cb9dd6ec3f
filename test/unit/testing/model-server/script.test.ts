import { describe, expect, test } from '@jest/globals';
import {
  byExchange,
  lastToolResults,
  lastUserText,
  rawToolUse,
  redactedThinking,
  sequence,
  text,
  thinking,
  toolResultText,
  toolUse,
  toolUsesSoFar,
  turn,
  type ScriptMessage,
  type ScriptRequest,
} from '../../../../testing/model-server';

const asked = (...messages: readonly ScriptMessage[]): ScriptRequest => ({
  number: 1,
  model: 'claude-sonnet-5',
  maxTokens: 100,
  system: '',
  tools: [],
  messages,
  stream: true,
});
const user = (...blocks: ScriptMessage['blocks']): ScriptMessage => ({ role: 'user', blocks });
const assistant = (...blocks: ScriptMessage['blocks']): ScriptMessage => ({ role: 'assistant', blocks });

const START = user({ type: 'text', text: 'Read T100 and T101.' });
const CALLS = assistant(
  { type: 'text', text: 'Reading.' },
  { type: 'tool_use', id: 'a', name: 'read_ticket', input: { id: 'T100' } },
  { type: 'tool_use', id: 'b', name: 'read_ticket', input: { id: 'T101' } },
);
const RESULTS = user(
  { type: 'tool_result', tool_use_id: 'a', content: 'open' },
  {
    type: 'tool_result',
    tool_use_id: 'b',
    content: [
      { type: 'text', text: 'closed' },
      { type: 'text', text: 'v3' },
    ],
  },
);

test('helpers make blocks, ids and signatures only where given', () => {
  expect([
    text('a'),
    toolUse('t', { n: 1 }),
    toolUse('t', {}, 'id'),
    rawToolUse('t', '{"n":'),
    thinking('hm'),
    thinking('hm', 's'),
    redactedThinking(),
  ]).toEqual([
    { type: 'text', text: 'a' },
    { type: 'tool_use', name: 't', input: { n: 1 } },
    { type: 'tool_use', name: 't', input: {}, id: 'id' },
    { type: 'tool_use', name: 't', inputJson: '{"n":' },
    { type: 'thinking', thinking: 'hm' },
    { type: 'thinking', thinking: 'hm', signature: 's' },
    { type: 'redacted_thinking' },
  ]);
});

describe('sequence', () => {
  test('gives its turns in order, whatever is asked, and functions their request', async () => {
    const script = sequence([turn([text('1')]), (request) => turn([text(`for ${request.model}`)])]);

    expect(await script(asked(START))).toEqual(turn([text('1')]));
    expect(await script(asked(START))).toEqual(turn([text('for claude-sonnet-5')]));
  });

  test('throws when asked once too often', async () => {
    const script = sequence([turn([])]);
    await script(asked(START));

    expect(() => script(asked(START))).toThrow('sequence: asked for turn 2, but the script has 1');
  });
});

describe('byExchange', () => {
  const script = byExchange([turn([text('first')]), turn([text('second')])]);

  test('gives the same turn to the same conversation, in any order of asking', async () => {
    const second = await script(asked(START, CALLS, RESULTS));
    const first = await script(asked(START));
    const firstAgain = await script(asked(START));

    expect([first, firstAgain, second].map((answer) => answer.blocks)).toEqual([
      [text('first')],
      [text('first')],
      [text('second')],
    ]);
  });

  test('throws where the conversation is longer than the script', () => {
    expect(() => script(asked(START, CALLS, RESULTS, CALLS, RESULTS))).toThrow(
      'byExchange: asked for turn 3, but the script has 2',
    );
  });
});

test('a script can look at the latest results, at what the user said, and at what it did', () => {
  const request = asked(START, CALLS, RESULTS);

  expect(lastToolResults(request).map((result) => [result.tool_use_id, toolResultText(result)])).toEqual([
    ['a', 'open'],
    ['b', 'closed\nv3'],
  ]);
  expect(lastToolResults(asked(START, CALLS))).toEqual([]);
  expect(lastUserText(request)).toBe('Read T100 and T101.');
  expect(toolUsesSoFar(request).map((use) => use.input)).toEqual([{ id: 'T100' }, { id: 'T101' }]);
});
