import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { emptyDataDir, markOwned, openDataDir } from '../../../../cli/stack/data-dir';
import { lockDataDir } from '../../../../cli/stack/data-dir-lock';
import { processStamp } from '../../../../cli/stack/process-table';
import { makeTempDir, removeDir } from '../../../support/temp-dir';

let dir: string;
const at = (...parts: string[]): string => join(dir, ...parts);

beforeEach(() => {
  dir = makeTempDir('data-dir');
});
afterEach(() => {
  removeDir(dir);
});

describe('opening a data directory', () => {
  test('makes a new one with its layout and marker', () => {
    const data = openDataDir(at('new', 'data'));

    expect(readdirSync(data.layout.root).sort()).toEqual(
      ['holdfast-data.json', 'logs', 'postgres', 'run', 'stack.lock', 'state', 'temporal'].sort(),
    );
    expect(statSync(data.layout.root).mode & 0o066).toBe(0);
    data.release();
  });

  test('opens its own again', () => {
    openDataDir(at('data')).release();
    writeFileSync(at('data', 'state', 'key'), 'kept');

    openDataDir(at('data')).release();

    expect(readFileSync(at('data', 'state', 'key'), 'utf8')).toBe('kept');
  });

  test('refuses a directory with content of somebody else, and leaves it as it is', () => {
    mkdirSync(at('home'));
    writeFileSync(at('home', 'thesis.tex'), 'x');

    expect(() => openDataDir(at('home'))).toThrow(expect.objectContaining({ type: 'stack.data_dir_foreign' }));
    expect(readdirSync(at('home'))).toEqual(['thesis.tex']);
  });

  test('says so when the directory cannot be made', () => {
    writeFileSync(at('file'), '');

    expect(() => openDataDir(at('file', 'data'))).toThrow(expect.objectContaining({ type: 'stack.data_dir_unusable' }));
  });

  test('refuses one that a live process has open, and frees it on release', () => {
    const first = openDataDir(at('data'));

    expect(() => openDataDir(at('data'))).toThrow(
      expect.objectContaining({
        type: 'stack.data_dir_locked',
        message: expect.stringContaining(`process ${process.pid}`),
      }),
    );
    first.release();
    openDataDir(at('data')).release();
  });
});

describe('the lock', () => {
  const holder = (changes: object): string =>
    JSON.stringify({ pid: process.pid, stamp: processStamp(process.pid), host: hostname(), ...changes });

  test.each([
    ['of a process that is gone', { pid: 999_999_999 }],
    ['of an older process with the same pid', { stamp: 'another-boot:1' }],
  ])('%s is taken over', (_, changes) => {
    writeFileSync(at('lock'), holder(changes));

    const lock = lockDataDir(at('lock'));

    expect(readFileSync(at('lock'), 'utf8')).toBe(holder({}));
    lock.release();
    expect(readdirSync(dir)).toEqual([]);
  });

  test.each(['', '{"pid":', '[]'])('cut short by a crash (%j) is taken over', (content) => {
    writeFileSync(at('lock'), content);

    lockDataDir(at('lock')).release();

    expect(readdirSync(dir)).toEqual([]);
  });

  test('of another host counts as held, and the message says which file to delete', () => {
    writeFileSync(at('lock'), holder({ host: 'elsewhere', pid: 999_999_999 }));

    expect(() => lockDataDir(at('lock'))).toThrow(/host elsewhere.*delete .*lock/);
  });

  test('is not released by one who has lost it', () => {
    const lock = lockDataDir(at('lock'));
    writeFileSync(at('lock'), holder({ pid: 1 }));

    lock.release();

    expect(existsSync(at('lock'))).toBe(true);
  });
});

describe('emptying', () => {
  test('deletes what the stack stored and nothing else', () => {
    const data = openDataDir(at('data'));
    for (const name of ['temporal', 'postgres', 'logs', 'state']) writeFileSync(at('data', name, 'x'), '');
    writeFileSync(at('data', 'notes.txt'), 'mine');

    emptyDataDir(data.layout);

    for (const name of ['temporal', 'postgres', 'logs', 'state']) expect(readdirSync(at('data', name))).toEqual([]);
    expect(readFileSync(at('data', 'notes.txt'), 'utf8')).toBe('mine');
    expect(existsSync(at('data', 'stack.lock'))).toBe(true);
    data.release();
  });

  test('refuses a directory without our marker', () => {
    const data = openDataDir(at('data'));
    data.release();
    mkdirSync(at('other', 'temporal'), { recursive: true });
    writeFileSync(at('other', 'temporal', 'x'), '');

    expect(() => emptyDataDir({ ...data.layout, root: at('other') })).toThrow(
      expect.objectContaining({ type: 'stack.data_dir_foreign' }),
    );
    expect(readdirSync(at('other', 'temporal'))).toEqual(['x']);
  });

  test('follows a link only to a directory with our marker', () => {
    const data = openDataDir(at('data'));
    mkdirSync(at('elsewhere'));
    writeFileSync(at('elsewhere', 'x'), '');
    removeDir(data.layout.postgresDir);
    symlinkSync(at('elsewhere'), data.layout.postgresDir);

    expect(() => emptyDataDir(data.layout)).toThrow(expect.objectContaining({ type: 'stack.data_dir_foreign' }));
    markOwned(at('elsewhere'));
    emptyDataDir(data.layout);

    expect(existsSync(at('elsewhere'))).toBe(false);
    expect(statSync(data.layout.postgresDir).isDirectory()).toBe(true);
    data.release();
  });
});
