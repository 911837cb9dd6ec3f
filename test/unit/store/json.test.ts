import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson, hashOf, isSameJson } from '../../../store/postgres/json';

test('members are sorted by UTF-16 code units, numbers are in their shortest form (RFC 8785)', () => {
  const value = {
    '\u20ac': 'Euro Sign',
    '\r': 'CR',
    '1': 'One',
    '\ud83d\ude00': 'Smiley',
    a: [1.0, 1e30, 0.000001, -0],
  };
  expect(canonicalJson(value)).toBe(
    '{"\\r":"CR","1":"One","a":[1,1e+30,0.000001,0],"\u20ac":"Euro Sign","\ud83d\ude00":"Smiley"}',
  );
});

test('the order of members and absent ones make no difference', () => {
  expect(canonicalJson({ b: 1, a: undefined, c: { e: 1, d: 2 } })).toBe(canonicalJson({ c: { d: 2, e: 1 }, b: 1 }));
  expect(isSameJson({ a: 1, b: [2] }, { b: [2], a: 1 })).toBe(true);
  expect(isSameJson({ a: [1, 2] }, { a: [2, 1] })).toBe(false);
});

test('lone surrogates become U+FFFD, wherever they are; a literal backslash is left alone', () => {
  expect(JSON.parse(canonicalJson({ 'k\ud83d': ['x\udc00y', '\ud83d\ude00', '\\ud83d'] }))).toEqual({
    'k\ufffd': ['x\ufffdy', '\ud83d\ude00', '\\ud83d'],
  });
});

test('NUL, U+FEFF and long integers in strings come back', () => {
  const value = { nul: 'a\0b', bom: '\ufeff', id: '9223372036854775807', ['__proto__']: 'own' };
  expect(JSON.parse(canonicalJson(value))).toEqual(value);
});

test('the bytes of any JSON are well-formed UTF-8 and mean the same', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
      const text = canonicalJson(value);
      expect(Buffer.from(text).toString()).toBe(text);
      expect(canonicalJson(JSON.parse(text))).toBe(text);
    }),
  );
});

test('what JSON cannot hold is refused', () => {
  expect(() => canonicalJson(undefined)).toThrow(TypeError);
  expect(() => canonicalJson({ a: Number.NaN })).toThrow();
});

test('the hash is the SHA-256 of the bytes', () => {
  const bytes = Buffer.from('{"a":1}');
  expect(hashOf(bytes)).toBe(createHash('sha256').update(bytes).digest('hex'));
});
