import { expect, test } from '@jest/globals';
import { statesOf, timesOf } from '../../../../client/views/durations';
import type { MachineLine } from '../../../../client/views/machine-line';

const line = (from: string, to: string, at: number): MachineLine => ({
  from,
  to,
  at,
  event: 'e',
  rule: 'r',
  cause: {},
});

test('time in WAITING_USER is the people’s, the rest is the systems’', () => {
  const lines = [
    line('READY', 'MODEL_RUNNING', 1_000),
    line('MODEL_RUNNING', 'WAITING_USER', 3_000),
    // An event that leaves the state as it is leaves the clock of the people running.
    line('WAITING_USER', 'WAITING_USER', 5_000),
    line('WAITING_USER', 'READY', 9_000),
    line('READY', 'FAILED', 10_000),
  ];

  expect(timesOf(lines)).toEqual({ userMs: 6_000, systemMs: 3_000 });
});

test('a run that goes on is measured up to now', () => {
  const lines = [line('READY', 'MODEL_RUNNING', 1_000), line('MODEL_RUNNING', 'WAITING_USER', 3_000)];

  expect(timesOf(lines)).toEqual({ userMs: 0, systemMs: 2_000 });
  expect(timesOf(lines, 10_000)).toEqual({ userMs: 7_000, systemMs: 2_000 });
});

test('no events, no time', () => {
  expect(timesOf([])).toEqual({ userMs: 0, systemMs: 0 });
});

test('states are told once, in the order of entering them, from the one that the run opened in', () => {
  const lines = [
    line('READY', 'READY', 40),
    line('READY', 'MODEL_RUNNING', 50),
    line('MODEL_RUNNING', 'MODEL_RUNNING', 60),
    line('MODEL_RUNNING', 'READY', 70),
  ];

  expect(statesOf(lines, 10)).toEqual([
    { state: 'READY', atMs: 10 },
    { state: 'MODEL_RUNNING', atMs: 50 },
    { state: 'READY', atMs: 70 },
  ]);
});

test('the opening is never told later than the first event, whose clock is another', () => {
  expect(statesOf([line('READY', 'FAILED', 5)], 10)[0]).toEqual({ state: 'READY', atMs: 5 });
});
