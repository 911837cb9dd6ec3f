import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJsonOption } from '../../../cli/read-json-option';
import { makeTempDir, removeDir } from '../../support/temp-dir';

let dir: string;
beforeAll(() => {
  dir = makeTempDir('json-option');
});
afterAll(() => {
  removeDir(dir);
});

test('an object is read from the argument or from a file', () => {
  const path = join(dir, 'data.json');
  writeFileSync(path, '{"ticket":"T100"}');

  expect(readJsonOption('--data', '{"ticket":"T100"}')).toEqual({ ticket: 'T100' });
  expect(readJsonOption('--data', `@${path}`)).toEqual({ ticket: 'T100' });
});

test.each([
  ['[1]', /^--data: got \[1\], expected a JSON object/],
  ['null', /^--data: got null, expected a JSON object/],
  ['{oops', /^--data: got {oops, expected JSON or @file/],
  ['@/nowhere/at/all', /^--data: got @\/nowhere\/at\/all, expected a file that can be read/],
])('%s is refused, and named', (given, words) => {
  expect(() => readJsonOption('--data', given)).toThrow(words);
});
