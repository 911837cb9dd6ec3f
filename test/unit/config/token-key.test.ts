import { expect, test } from '@jest/globals';
import { loadSettings } from '../../../config/settings';

const keyOf = (value: string): Uint8Array | undefined => loadSettings({ HOLDFAST_TOKEN_KEY: value }).tokenKey;

test('base64 of enough bytes is taken for them', () => {
  const bytes = Buffer.alloc(32, 9);

  expect(keyOf(bytes.toString('base64'))).toEqual(bytes);
});

test('any other text that is long enough is taken for its characters', () => {
  const text = 'a long enough sentence, not base64!';

  expect(keyOf(text)).toEqual(Buffer.from(text));
});

test.each([['short'], [Buffer.alloc(16).toString('base64')]])('%s is refused, and not shown', (value) => {
  expect(() => keyOf(value)).toThrow(/HOLDFAST_TOKEN_KEY: got a value that is not shown, expected at least 32 bytes/);
});

test('none is no key', () => {
  expect(loadSettings({})).not.toHaveProperty('tokenKey');
});
