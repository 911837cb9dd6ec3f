import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, realpathSync, rmdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { markOwned } from './data-dir';
import { firstBarrier, type PostgresAccount } from './postgres-account';

/** Where root keeps what another account must reach although the project lies behind a closed door such as /root. */
export const SHARED_DIR = '/var/lib/holdfast';

/**
 * The directory that holds the cluster and its password: `directory` itself, or, where the account cannot reach that,
 * a directory below /var/lib/holdfast with a link to it in the place of `directory`.
 */
export function preparePostgresHome(directory: string, account: PostgresAccount, sharedDir = SHARED_DIR): string {
  mkdirSync(directory, { recursive: true, mode: account.mustSwitch ? 0o711 : 0o700 });
  const home = realpathSync(directory);
  if (!account.mustSwitch || firstBarrier(home, account) === undefined) return home;
  if (readdirSync(home).length > 0) return home; // a cluster that was reachable once: PostgreSQL says what is wrong now
  return moveBehind(directory, home, sharedDir);
}

function moveBehind(directory: string, home: string, sharedDir: string): string {
  const name = createHash('sha256').update(home).digest('hex').slice(0, 16);
  const elsewhere = join(sharedDir, name);
  if (!existsSync(elsewhere)) mkdirSync(elsewhere, { recursive: true, mode: 0o711 });
  markOwned(elsewhere);
  rmdirSync(home);
  symlinkSync(elsewhere, directory);
  return elsewhere;
}
