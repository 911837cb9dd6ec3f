import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { toAnswer } from '../../../../testing/model-server/answer';
import { toEvents } from '../../../../testing/model-server/events';
import { Ids } from '../../../../testing/model-server/ids';
import { nativeRequestSchema } from '../../../../testing/model-server/native-request';
import { encodeEvent } from '../../../../testing/model-server/sse';
import { turnSchema, type Turn } from '../../../../testing/model-server/turn';

const answerTo = (turn: Turn, fields: object = {}, ids = new Ids()) =>
  toAnswer({
    turn: turnSchema.parse(turn),
    request: nativeRequestSchema.parse({
      model: 'claude-sonnet-5',
      max_tokens: 4096,
      messages: [{ role: 'user', content: 'Go.' }],
      ...fields,
    }),
    inputTokens: 7,
    ids,
  });

const call = (id?: string): Turn['blocks'][number] => ({ type: 'tool_use', name: 'read', ...(id ? { id } : {}) });

describe('an answer', () => {
  test.each<[string, Turn, string]>([
    ['without a tool use', { blocks: [{ type: 'text', text: 'Hi.' }] }, 'end_turn'],
    ['with a tool use', { blocks: [call()] }, 'tool_use'],
    ['with a server’s tool use alone', { blocks: [{ type: 'server_tool_use', name: 'search' }] }, 'end_turn'],
    ['with a reason of its own', { blocks: [call()], stopReason: 'pause_turn' }, 'pause_turn'],
  ])('%s stops for the reason', (_title, turn, expected) => {
    expect(answerTo(turn).stopReason).toBe(expected);
  });

  test('counts up its ids, leaves out those of the conversation, and keeps given ones', () => {
    const old = { type: 'tool_use', id: 'toolu_000000000000000000000001', name: 'read', input: {} };
    const messages = [
      { role: 'user', content: 'Go.' },
      { role: 'assistant', content: [old] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: old.id }] },
    ];

    const { blocks } = answerTo({ blocks: [call(), call('mine'), call()] }, { messages });

    expect(blocks.map((block) => ('id' in block ? block.id : ''))).toEqual([
      'toolu_000000000000000000000002',
      'mine',
      'toolu_000000000000000000000003',
    ]);
  });

  test('is cut between two characters where max_tokens ends', () => {
    const answer = answerTo({ blocks: [{ type: 'text', text: 'ab😀😀' }, call()] }, { max_tokens: 2 });

    expect(answer).toMatchObject({ blocks: [{ text: 'ab😀' }], stopReason: 'max_tokens', usage: { outputTokens: 2 } });
  });
});

test('deltas give the text back whole, each well-formed, for any text and size', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 7 }), (content, chunkSize) => {
      const events = toEvents(answerTo({ blocks: [{ type: 'text', text: content }], chunkSize }));
      const pieces = events.flatMap(({ data }) =>
        data['delta'] !== undefined && 'index' in data ? [data['delta']] : [],
      );
      const texts = pieces.map((piece) => (piece as { text: string }).text);

      expect(texts.join('')).toBe(content);
      expect(texts.filter((piece) => /\p{Surrogate}/u.test(piece))).toEqual([]);
      expect(events.every((event) => encodeEvent(event).split('\n').length === 4)).toBe(true);
    }),
  );
});

test('the same turn to the same request gives the same events', () => {
  const turn: Turn = { blocks: [{ type: 'thinking', thinking: 'Hm.' }, { type: 'redacted_thinking' }, call()] };

  expect(toEvents(answerTo(turn))).toEqual(toEvents(answerTo(turn)));
});
