/** What docs/security.md names is there: its files, and in its tests the words by which it finds them. */
import { describe, expect, test } from '@jest/globals';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const ROOT = join(__dirname, '..', '..');
const TEXT = readFileSync(join(ROOT, 'docs/security.md'), 'utf8');

const FILE = /`([\w./-]+\.tsx?)`/g;
const PATHS = [...new Set([...TEXT.matchAll(FILE)].map(([, path = '']) => path))];
/** Once a test has been named by its path, its name alone will do. */
const pathOf = (name: string): string =>
  name.includes('/') ? name : (PATHS.find((path) => path.includes('/') && basename(path) === name) ?? name);

test.each(PATHS)('%s exists', (path) => {
  expect(existsSync(join(ROOT, pathOf(path)))).toBe(true);
});

/** Of each row what shows it: a file, then its words in quotes or the numbers of its cases. */
const SHOWN = TEXT.split('\n')
  .filter((line) => line.startsWith('| ') && line.includes('.ts`'))
  .flatMap((line) => wordsOf(line.split('|').at(-2) ?? ''));

function wordsOf(cell: string): readonly (readonly [file: string, word: string])[] {
  const parts = [...cell.matchAll(/`([\w./-]+\.ts)`|"([^"]+)"|\b([A-Z]\d+)\b/g)];
  let file = '';
  return parts.flatMap(([, path, quoted, number]) => {
    if (path !== undefined) file = pathOf(path);
    const word = quoted ?? number;
    return word === undefined ? [] : [[file, word] as const];
  });
}

describe('what shows it', () => {
  test('is said of most', () => {
    expect(SHOWN.length).toBeGreaterThan(30);
  });

  test.each(SHOWN)('%s has %s', (file, word) => {
    expect(readFileSync(join(ROOT, file), 'utf8')).toContain(word);
  });
});
