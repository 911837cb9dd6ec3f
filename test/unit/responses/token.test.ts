import { describe, expect, test } from '@jest/globals';
import { isTokenOf, makeToken } from '../../../responses/token';
import { newRef, newWait } from '../../support/store-contract/fixtures';

const KEY = Buffer.alloc(32, 7);
const ref = newRef();
const wait = newWait(ref, 12);

describe('the token of a wait', () => {
  test('is the same on every service that has the key, and in an address needs no escape', () => {
    expect(makeToken(KEY, wait)).toBe(makeToken(Buffer.from(KEY), { ...wait }));
    expect(makeToken(KEY, wait)).toMatch(/^[\w-]{43}$/);
    expect(isTokenOf(KEY, wait, makeToken(KEY, wait))).toBe(true);
  });

  // prettier-ignore
  test.each([
    ['another tenant',        { ref: { ...ref, tenant: newRef().tenant } }],
    ['another run',           { ref: { ...ref, run: newRef().run } }],
    ['another wait',          { id: newWait(ref, 13).id }],
    ['another state version', { seq: 13 }],
    ['another plan version',  { planVersion: 2 }],
  ])('is none of %s', (_what, changes) => {
    expect(isTokenOf(KEY, { ...wait, ...changes }, makeToken(KEY, wait))).toBe(false);
  });

  test.each([[''], ['x'], ['x'.repeat(100_000)], [`${makeToken(KEY, wait)}=`], [makeToken(KEY, wait).slice(1)]])(
    'whatever else is sent is none (%#)',
    (given) => {
      expect(isTokenOf(KEY, wait, given)).toBe(false);
    },
  );

  test('under another key it is none', () => {
    expect(isTokenOf(Buffer.alloc(32, 8), wait, makeToken(KEY, wait))).toBe(false);
  });
});
