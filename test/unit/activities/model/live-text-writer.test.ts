import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { pino } from 'pino';
import { createLiveTextWriter } from '../../../../activities/model/live-text-writer';
import { parseRunId, parseTenantId } from '../../../../workflows/contract/ids';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const GATHER_MS = 100;

const start = () => {
  const written: string[] = [];
  const store = {
    add: (_ref: unknown, { attempt, texts }: { readonly attempt: number; readonly texts: readonly string[] }) => {
      written.push(`${String(attempt)}:${texts.join('')}`);
      return Promise.resolve();
    },
    forget: () => Promise.resolve(),
  };
  const tell = createLiveTextWriter({ store, log: pino({ level: 'silent' }), gatherMs: GATHER_MS });
  const of = (attempt: number) => ({ tenant: parseTenantId('t'), run: parseRunId('run_4f3c2a'), step: 1, attempt });
  const say = (attempt: number, text: string): void => {
    tell({ kind: 'text', ...of(attempt), index: 0, text });
  };
  return { written, tell, of, say };
};

test('a first attempt that ends before its pieces are gathered writes nothing', async () => {
  const { written, tell, of, say } = start();
  tell({ kind: 'reset', ...of(1) });
  say(1, 'Reading on.');
  tell({ kind: 'ended', ...of(1) });

  await jest.advanceTimersByTimeAsync(10 * GATHER_MS);

  expect(written).toEqual([]);
});

test('one that was seen is written to its end', async () => {
  const { written, tell, of, say } = start();
  tell({ kind: 'reset', ...of(1) });
  say(1, 'Reading ');
  await jest.advanceTimersByTimeAsync(GATHER_MS);
  say(1, 'on.');
  tell({ kind: 'ended', ...of(1) });

  await jest.advanceTimersByTimeAsync(GATHER_MS);

  expect(written).toEqual(['1:Reading ', '1:on.']);
});

test('a further attempt voids what an earlier one has shown, however soon it ends', async () => {
  const { written, tell, of } = start();
  tell({ kind: 'reset', ...of(2) });
  tell({ kind: 'ended', ...of(2) });

  await jest.advanceTimersByTimeAsync(GATHER_MS);

  expect(written).toEqual(['2:']);
});

test('the end of an attempt before is no news about the one that speaks', async () => {
  const { written, tell, of, say } = start();
  tell({ kind: 'reset', ...of(2) });
  say(2, 'Again.');
  tell({ kind: 'ended', ...of(1) });

  await jest.advanceTimersByTimeAsync(GATHER_MS);

  expect(written).toEqual(['2:Again.']);
});
