import { expect, test } from '@jest/globals';
import { showInvisible, showInvisibleIn, toVisibleJson } from '../../../responses/show-invisible';
import { showJson } from '../../../responses/show-json';

// prettier-ignore
test.each([
  ['plain text, ümläute, 日本語, 🙂\n\tnext', 'plain text, ümläute, 日本語, 🙂\n\tnext'],
  ['pay \u202e001',     'pay <U+202E>001'],
  ['a\u200bb',          'a<U+200B>b'],
  ['\u001b[2J',         '<U+001B>[2J'],
  ['a\u00a0b',          'a<U+00A0>b'],
  ['\u2066x\u2069',     '<U+2066>x<U+2069>'],
  ['\u{e0041}',         '<U+E0041>'],
  ['a\ud800b',          'a<U+D800>b'],
  ['\u3164',            '<U+3164>'],
  ['\ufeffx',           '<U+FEFF>x'],
  ['a\r\nb',            'a<U+000D>\nb'],
])('%j is shown as %j', (text, shown) => {
  expect(showInvisible(text)).toBe(shown);
});

test('it is done in every value and every name inside', () => {
  expect(showInvisibleIn({ 'a\u200b': ['\u202e', { b: '\u2028' }, 0, false, null] })).toEqual({
    'a<U+200B>': ['<U+202E>', { b: '<U+2028>' }, 0, false, null],
  });
});

test('as JSON text nothing is lost: it says the same to a machine and hides nothing', () => {
  const value = { 'k\u200b': 'a\u202eb\u{e0041}\u00a0 ü\n' };

  const text = toVisibleJson(value);

  expect(text).toBe('{"k\\u200b":"a\\u202eb\\udb40\\udc41\\u00a0 ü\\n"}');
  expect(JSON.parse(text)).toEqual(value);
});

test('what is cut says so', () => {
  expect(showJson('x'.repeat(500))).toMatch(/^"x{199}… \(502 characters\)$/);
});
