import { expect, test } from '@jest/globals';
import { formatCost, formatDuration, formatNumberOf, oneLine, visible } from '../../../../cli/view/format';

test.each([
  [0, '0.00 s'],
  [-1_500, '-1.50 s'],
  [9_994, '9.99 s'],
  [12_340, '12.3 s'],
  [65_000, '1 min 5 s'],
  [3_725_000, '1 h 2 min'],
  [90_000_000, '1 d 1 h'],
])('%d ms is %s', (durationMs, text) => {
  expect(formatDuration(durationMs)).toBe(text);
});

test('cost is told in dollars, to the hundredth of a cent', () => {
  expect(formatCost(12_345)).toBe('$0.0123');
});

test('one is singular', () => {
  expect([0, 1, 1_200].map((count) => formatNumberOf(count, 'step'))).toEqual(['0 steps', '1 step', '1,200 steps']);
});

test('text from outside stays on its line, and hides nothing', () => {
  expect(oneLine('a\n\tb\u0000c\u200dd')).toBe('a b\\u{0}c\\u{200d}d');
  expect(oneLine('x'.repeat(10), 5)).toBe('xxxx…');
  expect(visible('a\nb\u001b[31m')).toBe('a\nb\\u{1b}[31m');
});
