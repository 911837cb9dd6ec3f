import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { StackError } from './errors';
import type { PostgresAccount } from './postgres-account';
import type { PostgresPrograms } from './postgres-programs';
import { lastLine } from './run-command';

export const SUPERUSER = 'holdfast';
const MAJOR_VERSION = '18';

export interface Cluster {
  readonly dataDirectory: string;
  readonly password: string;
}

export interface ClusterOptions {
  /** See `preparePostgresHome`. */
  readonly home: string;
  readonly account: PostgresAccount;
  readonly programs: PostgresPrograms;
  /** Off only for tests: a crash of the machine may lose the cluster. */
  readonly isDurable: boolean;
}

/**
 * The cluster in `home`, made if there is none. A cluster appears in one step, so one whose making was cut short is made
 * anew. Throws `stack.postgres_data` for a cluster of another version or without its password.
 */
export async function prepareCluster(options: ClusterOptions): Promise<Cluster> {
  const dataDirectory = join(options.home, 'data');
  const passwordFile = join(options.home, 'password');
  if (!existsSync(dataDirectory)) return await makeCluster(options, dataDirectory, passwordFile);
  requireVersion(dataDirectory);
  if (!existsSync(passwordFile)) throw unusable(dataDirectory, `its password file ${passwordFile} is gone`);
  return { dataDirectory, password: readFileSync(passwordFile, 'utf8').trim() };
}

async function makeCluster(options: ClusterOptions, dataDirectory: string, passwordFile: string): Promise<Cluster> {
  const { home, account } = options;
  const password = randomBytes(24).toString('base64url');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  chmodSync(passwordFile, 0o600); // also where the file was there before
  const draft = join(home, 'data.new');
  const passwordCopy = join(home, 'password.initdb');
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  writeFileSync(passwordCopy, `${password}\n`, { mode: 0o600 });
  if (account.mustSwitch) for (const path of [draft, passwordCopy]) chownSync(path, account.uid, account.gid);
  try {
    await runInitdb(options, draft, passwordCopy);
    renameSync(draft, dataDirectory);
  } finally {
    rmSync(passwordCopy, { force: true });
  }
  return { dataDirectory, password };
}

/** The built-in locale sorts alike on every machine and needs no locale of the operating system. */
const LOCALE = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'] as const;

async function runInitdb(
  { account, programs, isDurable }: ClusterOptions,
  directory: string,
  passwordFile: string,
): Promise<void> {
  const secrets = ['--auth=scram-sha-256', `--username=${SUPERUSER}`, `--pwfile=${passwordFile}`];
  const args = [
    `--pgdata=${directory}`,
    ...secrets,
    ...LOCALE,
    '--no-instructions',
    ...(isDurable ? [] : ['--no-sync']),
  ];
  const user = account.mustSwitch ? { uid: account.uid, gid: account.gid } : {};
  const child = spawn(programs.initdb, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: directory, ...user });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [said, code] = await Promise.all([text(child.stderr), ended]);
  if (code !== 0) throw unusable(directory, `initdb failed: ${lastLine(said)}`);
}

function requireVersion(dataDirectory: string): void {
  const versionFile = join(dataDirectory, 'PG_VERSION');
  const version = existsSync(versionFile) ? readFileSync(versionFile, 'utf8').trim() : 'none';
  if (version === MAJOR_VERSION) return;
  throw unusable(dataDirectory, `it is of version ${version}, the installed PostgreSQL of version ${MAJOR_VERSION}`);
}

function unusable(dataDirectory: string, reason: string): StackError {
  const message =
    `PostgreSQL's data directory ${dataDirectory} cannot be used: ${reason}; ` +
    'start afresh (--fresh deletes it), or set HOLDFAST_DATA_DIR to another directory';
  return new StackError('stack.postgres_data', message, { dataDirectory, reason });
}
