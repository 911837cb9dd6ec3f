import { expect, test } from '@jest/globals';
import { ALIVE, HEAD, toFrame, toFrames } from '../../../../client/http/events/frames';
import type { FeedItem } from '../../../../client/schemas/event';

const OF = { run: 'run_abcdef', step: 2, attempt: 1 };
const EVENT: FeedItem = {
  kind: 'event',
  event: { position: 7, kind: 'outside', recordedAt: '2026-01-01T00:00:00.000Z', body: { text: 'a\nb\r\n\nid: 9' } },
};

test('a line of the journal has its position as id, and its text breaks no frame', () => {
  const frame = toFrame(EVENT);
  const lines = frame.split('\n');
  expect(lines.slice(0, 2)).toEqual(['id: 7', 'event: event']);
  expect(lines).toHaveLength(5);
  expect(lines.slice(3)).toEqual(['', '']);
  expect(JSON.parse(lines[2]?.slice('data: '.length) ?? '')).toEqual(EVENT.event);
});

test.each<FeedItem>([
  { kind: 'reset', ...OF },
  { kind: 'text', ...OF, index: 0, text: 'a\nb' },
  { kind: 'end', terminal: 'SUCCEEDED', reason: 'finish.done' },
])('a frame of kind $kind has no id', (item) => {
  const frame = toFrame(item);
  const { kind, ...data } = item;
  expect(frame).toBe(`event: ${kind}\ndata: ${JSON.stringify(data)}\n\n`);
  expect(frame).not.toMatch(/^id/m);
});

test('silence is filled with comments, and ends with the items', async () => {
  const told: (() => void)[] = [];
  let isLetGo = false;
  async function* items(): AsyncGenerator<FeedItem, void> {
    try {
      await new Promise<void>((resolve) => told.push(resolve));
      yield EVENT;
      await new Promise<void>((resolve) => told.push(resolve));
    } finally {
      isLetGo = true;
    }
  }
  const frames = toFrames(items(), { heartbeatMs: 5 });
  expect((await frames.next()).value).toBe(HEAD);
  expect((await frames.next()).value).toBe(ALIVE);
  expect((await frames.next()).value).toBe(ALIVE);
  const next = frames.next();
  told[0]?.();
  expect((await next).value).toBe(toFrame(EVENT));
  expect((await frames.next()).value).toBe(ALIVE);
  const last = frames.next();
  told[1]?.();
  expect((await last).done).toBe(true);
  expect(isLetGo).toBe(true);
});

test('who stops reading lets go of the items', async () => {
  let isLetGo = false;
  async function* items(): AsyncGenerator<FeedItem, void> {
    try {
      for (;;) yield await Promise.resolve(EVENT);
    } finally {
      isLetGo = true;
    }
  }
  const frames = toFrames(items(), { heartbeatMs: 5 });
  await frames.next();
  await frames.next();
  await frames.return();
  expect(isLetGo).toBe(true);
});
