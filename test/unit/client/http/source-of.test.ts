import { expect, test } from '@jest/globals';
import { toSource } from '../../../../client/http/callbacks/source-of';

test.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '::ffff:192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
])('refused callbacks from %s count for %s', (address, source) => {
  expect(toSource(address)).toBe(source);
});
