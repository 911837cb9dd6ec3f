import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { decodeText, encodeText } from '../../../store/postgres/text';

test('ordinary text is stored as it is', () => {
  for (const text of ['', 'ticket:T100', 'W/"7"', 'naïve 漢字 😀', '\u{feff}x']) expect(encodeText(text)).toBe(text);
});

test.each([
  ['a\0b', 'a\\u0000b'],
  ['\ud83d', '\\ud83d'],
  ['\\u0000', '\\\\u0000'],
])('%j is escaped', (text, stored) => {
  expect(encodeText(text)).toBe(stored);
  expect(decodeText(stored)).toBe(text);
});

test('any text comes back, and what is stored is well-formed and without NUL', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat(0xffff)), (text, units) => {
      for (const given of [text, String.fromCharCode(...units)]) {
        const stored = encodeText(given);
        expect(decodeText(stored)).toBe(given);
        expect(stored).not.toMatch(/\0|\p{Surrogate}/u);
      }
    }),
  );
});
