import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { StackError } from './errors';
import { lastLine, runCommand } from './run-command';

/** Who runs PostgreSQL. It refuses to be run by root, so under root it runs as an account of its own. */
export interface PostgresAccount {
  readonly uid: number;
  readonly gid: number;
  /** Whether this process must become it, which only root can. */
  readonly mustSwitch: boolean;
}

const ACCOUNT = 'postgres';
const COMMAND_TIMEOUT_MS = 10_000;

/** Ourselves, or under root the account `postgres`, which is made if there is none. Throws `stack.postgres_account`. */
export async function postgresAccount(): Promise<PostgresAccount> {
  const { uid, gid } = userInfo();
  if (uid !== 0) return { uid, gid, mustSwitch: false };
  return (await lookUp()) ?? (await create());
}

/** The first directory from the root down to `path` that the account may not pass through; `undefined` when it reaches `path`. */
export function firstBarrier(path: string, account: PostgresAccount): string | undefined {
  return [...ancestors(path)].reverse().find((directory) => !mayPass(directory, account));
}

async function lookUp(): Promise<PostgresAccount | undefined> {
  const [uid, gid] = await Promise.all([idOf('-u'), idOf('-g')]);
  return uid === undefined || gid === undefined ? undefined : { uid, gid, mustSwitch: true };
}

async function idOf(flag: '-u' | '-g'): Promise<number | undefined> {
  const { code, stdout } = await runCommand('id', [flag, ACCOUNT], { timeoutMs: COMMAND_TIMEOUT_MS });
  return code === 0 ? Number(stdout) : undefined;
}

async function create(): Promise<PostgresAccount> {
  const args = ['--system', '--user-group', '--no-create-home', '--shell', '/bin/false', ACCOUNT];
  const made = await runCommand('useradd', args, { timeoutMs: COMMAND_TIMEOUT_MS });
  const account = await lookUp();
  if (account !== undefined) return account;
  const reason = made.failure ?? lastLine(made.stderr);
  const message =
    `PostgreSQL cannot run as root, and the account "${ACCOUNT}" could not be made (useradd: ${reason}): ` +
    'make that account, run Holdfast as another user, or set DATABASE_URL to a PostgreSQL of your own';
  throw new StackError('stack.postgres_account', message, { account: ACCOUNT, reason });
}

function* ancestors(path: string): Generator<string> {
  for (let directory = path; ; directory = dirname(directory)) {
    yield directory;
    if (directory === dirname(directory)) return;
  }
}

const OWNER_PASS = 0o100;
const GROUP_PASS = 0o010;
const OTHERS_PASS = 0o001;

function mayPass(directory: string, { uid, gid }: PostgresAccount): boolean {
  const stat = statSync(directory);
  const bit = stat.uid === uid ? OWNER_PASS : stat.gid === gid ? GROUP_PASS : OTHERS_PASS;
  return (stat.mode & bit) !== 0;
}
