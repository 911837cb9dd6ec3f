import { expect, test } from '@jest/globals';
import { parseReadyLine } from '../../../../cli/stack/ready-line';

test.each([
  ['{"ready":true,"port":7}', { ready: true, port: 7 }],
  ['{"ready":false}', undefined],
  ['{"ready":"true"}', undefined],
  ['{ready:true}', undefined],
  ['ready', undefined],
  ['{"level":30,"msg":"ready"}', undefined],
])('%s', (line, expected) => {
  expect(parseReadyLine(line)).toEqual(expected);
});
