import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { chmodSync, existsSync, lstatSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isOwned } from '../../../../cli/stack/data-dir';
import { firstBarrier } from '../../../../cli/stack/postgres-account';
import { preparePostgresHome } from '../../../../cli/stack/postgres-home';
import { makeTempDir, removeDir } from '../../../support/temp-dir';

const SOMEBODY = { uid: 54_321, gid: 54_321, mustSwitch: true };
const OURSELVES = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, mustSwitch: false };

let dir: string;
const home = (): string => join(dir, 'data', 'postgres');
const shared = (): string => join(dir, 'shared');

beforeEach(() => {
  dir = makeTempDir('postgres-home');
});
afterEach(() => {
  removeDir(dir);
});

test('is the directory itself where the account can reach it', () => {
  expect(preparePostgresHome(home(), SOMEBODY, shared())).toBe(home());
  expect(existsSync(shared())).toBe(false);
});

test('lies elsewhere, with a link and our marker, when a closed directory is in the way', () => {
  preparePostgresHome(home(), SOMEBODY, shared());
  chmodSync(dir, 0o700);
  const outside = makeTempDir('shared');

  const first = preparePostgresHome(home(), SOMEBODY, outside);
  const again = preparePostgresHome(home(), SOMEBODY, outside);

  expect(firstBarrier(join(dir, 'data'), SOMEBODY)).toBe(dir);
  expect(first.startsWith(outside)).toBe(true);
  expect(again).toBe(first);
  expect(lstatSync(home()).isSymbolicLink()).toBe(true);
  expect(realpathSync(home())).toBe(first);
  expect(isOwned(first)).toBe(true);
  removeDir(outside);
});

test('does not move a cluster that is there', () => {
  preparePostgresHome(home(), SOMEBODY, shared());
  writeFileSync(join(home(), 'password'), '');
  chmodSync(dir, 0o700);

  expect(preparePostgresHome(home(), SOMEBODY, shared())).toBe(home());
});

test('does not matter to a user who runs PostgreSQL himself', () => {
  chmodSync(dir, 0o700);

  expect(preparePostgresHome(home(), OURSELVES, shared())).toBe(home());
});
