import { describe, expect, test } from '@jest/globals';
import {
  blockDelta,
  blockStart,
  blockStop,
  messageDelta,
  receive,
  start,
  STOP,
  TEXT,
  textEvents,
  toolUseEvents,
} from './fixtures';

const WHOLE = [start(), ...textEvents(0, 'Hello ', 'there'), messageDelta('end_turn'), STOP];

describe('a message out of its events', () => {
  test('has ended when everything in it has', () => {
    expect(receive(...WHOLE)).toMatchObject({
      hasStarted: true,
      hasEnded: true,
      id: 'msg_1',
      model: 'claude-sonnet-5',
      stopReason: 'end_turn',
      blocks: [{ text: 'Hello there', isEnded: true }],
      contentBytes: 11,
    });
  });

  test.each(WHOLE.map((_, length) => [length]))('has not ended after %d events', (length) => {
    expect(receive(...WHOLE.slice(0, length)).hasEnded).toBe(false);
  });

  test('keeps arguments as the text that came', () => {
    const [block] = receive(start(), ...toolUseEvents(0, 'toolu_1', '{"id": "T1', '00", "n": 1e400')).blocks;

    expect(block?.inputJson).toBe('{"id": "T100", "n": 1e400');
  });

  test('events and deltas of unknown kinds are left alone, and the block says so', () => {
    const message = receive(
      start(),
      { type: 'context_note', anything: 1 },
      blockStart(0, TEXT),
      blockDelta(0, { type: 'emphasis_delta', emphasis: 2 }),
      blockStop(0),
      messageDelta('end_turn'),
      STOP,
    );

    expect(message).toMatchObject({ hasEnded: true, blocks: [{ isUnknown: true }] });
  });
});

describe('events that make no message', () => {
  test.each<[string, readonly object[]]>([
    ['a block before the start', [blockStart(0, TEXT)]],
    ['two starts', [start(), start()]],
    ['a block out of order', [start(), blockStart(1, TEXT)]],
    ['a block that begins twice', [start(), blockStart(0, TEXT), blockStart(0, TEXT)]],
    ['a delta for no block', [start(), blockDelta(0, { type: 'text_delta', text: 'x' })]],
    ['a delta after its block', [start(), ...textEvents(0, 'x'), blockDelta(0, { type: 'text_delta', text: 'y' })]],
    ['an end inside a block', [start(), blockStart(0, TEXT), messageDelta('end_turn'), STOP]],
    ['an end without a reason', [start(), ...textEvents(0, 'x'), messageDelta(null), STOP]],
    ['anything after the end', [...WHOLE, messageDelta('tool_use')]],
    ['an index that is none', [start(), blockStart(-1, TEXT)]],
    ['a delta without its text', [start(), blockStart(0, TEXT), { type: 'content_block_delta', index: 0 }]],
    ['an event without a type', [{ index: 0 }]],
    ['a start without a message', [{ type: 'message_start' }]],
  ])('%s', (_, events) => {
    expect(() => receive(...events)).toThrow(expect.objectContaining({ name: 'MalformedStream' }));
  });
});
