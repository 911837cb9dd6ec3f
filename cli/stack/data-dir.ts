import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { lockDataDir } from './data-dir-lock';
import { StackError, errorText } from './errors';

/**
 * Layout of HOLDFAST_DATA_DIR:
 *
 *     holdfast-data.json   marker: this directory is ours; without it nothing here is touched
 *     stack.lock           the process that uses the directory now
 *     temporal/            Temporal's database
 *     postgres/            PostgreSQL's cluster and its password (a link elsewhere when root runs it, see postgres-home.ts)
 *     logs/                one log per process, and the one before
 *     run/                 pids of running children, for whoever comes after a SIGKILL
 *     state/               anything else that the stack keeps (keys, the desk's data)
 */
export interface DataDirLayout {
  readonly root: string;
  readonly temporalDatabase: string;
  readonly postgresDir: string;
  readonly logDir: string;
  readonly runDir: string;
  readonly stateDir: string;
}

export interface DataDir {
  readonly layout: DataDirLayout;
  /** Idempotent and synchronous. */
  release(): void;
}

const MARKER = 'holdfast-data.json';
const LOCK = 'stack.lock';
const OWN_DIRECTORIES = ['temporal', 'postgres', 'logs', 'run', 'state'] as const;

/**
 * Opens (and makes) the directory and locks it for this process.
 * Throws `stack.data_dir_foreign` for a directory with somebody else's content, `stack.data_dir_locked` when another
 * live process has it, `stack.data_dir_unusable` when it cannot be made.
 */
export function openDataDir(path: string): DataDir {
  const root = makeRoot(resolve(path));
  claim(root);
  const lock = lockDataDir(join(root, LOCK));
  for (const name of OWN_DIRECTORIES) mkdirSync(join(root, name), { recursive: true });
  return {
    layout: layoutOf(root),
    release: () => {
      lock.release();
    },
  };
}

/**
 * Deletes what the stack has stored (`--fresh`): only the directories of the layout, only in a directory with our marker.
 * The caller holds the lock, and no server of it runs. Whatever else lies there stays.
 */
export function emptyDataDir(layout: DataDirLayout): void {
  requireMarker(layout.root);
  for (const name of OWN_DIRECTORIES) {
    const path = join(layout.root, name);
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) emptyLinked(path);
    else rmSync(path, { recursive: true, force: true });
    mkdirSync(path, { recursive: true });
  }
}

/** Marks a directory of ours that lies outside the data directory, so that `emptyDataDir` may empty it through a link. */
export function markOwned(directory: string): void {
  writeFileSync(join(directory, MARKER), `${JSON.stringify({ schemaVersion: 1, owner: 'holdfast' })}\n`);
}

export function isOwned(directory: string): boolean {
  try {
    const marker: unknown = JSON.parse(readFileSync(join(directory, MARKER), 'utf8'));
    return typeof marker === 'object' && marker !== null && 'owner' in marker && marker.owner === 'holdfast';
  } catch {
    return false;
  }
}

function layoutOf(root: string): DataDirLayout {
  return {
    root,
    temporalDatabase: join(root, 'temporal', 'temporal.db'),
    postgresDir: join(root, 'postgres'),
    logDir: join(root, 'logs'),
    runDir: join(root, 'run'),
    stateDir: join(root, 'state'),
  };
}

function makeRoot(path: string): string {
  try {
    // Root runs PostgreSQL as another user, who must pass through here; nobody else can list or read it.
    mkdirSync(path, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
    return realpathSync(path);
  } catch (cause) {
    const message = `the data directory ${path} cannot be made: ${errorText(cause)}; set HOLDFAST_DATA_DIR to a directory that you may write to`;
    throw new StackError('stack.data_dir_unusable', message, { path, cause });
  }
}

function claim(root: string): void {
  if (isOwned(root)) return;
  // Adopting a directory with other content would let a later --fresh touch it.
  if (readdirSync(root).some((name) => name !== MARKER)) throw foreign(root);
  markOwned(root);
}

function requireMarker(directory: string): void {
  if (!isOwned(directory)) throw foreign(directory);
}

function foreign(directory: string): StackError {
  const message =
    `${directory} has content that is not Holdfast's (no ${MARKER} in it), so nothing in it is used or deleted: ` +
    'set HOLDFAST_DATA_DIR to an empty or new directory';
  return new StackError('stack.data_dir_foreign', message, { directory, marker: MARKER });
}

function emptyLinked(link: string): void {
  if (existsSync(link)) {
    const target = realpathSync(link);
    requireMarker(target);
    rmSync(target, { recursive: true, force: true });
  }
  rmSync(link, { force: true });
}
