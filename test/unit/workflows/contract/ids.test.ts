/** Evidence ids, taken apart. */
import { expect, test } from '@jest/globals';
import { parseEvidenceId, placeOf } from '../../../../workflows/contract/ids';

test.each([
  ['E3.1', { kind: 'call', first: 3, second: 1 }],
  ['W17.0', { kind: 'wait', first: 17, second: 0 }],
  ['W17.2@run_4f3c2a1b', { kind: 'wait', first: 17, second: 2, run: 'run_4f3c2a1b' }],
])('%s names its place', (id, place) => {
  expect(placeOf(parseEvidenceId(id))).toEqual(place);
});
