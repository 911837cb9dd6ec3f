import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { WayOutcome } from './binary-search';
import { errorCode } from './errors';
import { isAlive } from './process-table';
import { checkProgram, missed, type TemporalProgram } from './temporal-programs';

/**
 * Downloaded programs, kept for the user as `<cache>/<program>-<version>/<program>`. A program is checked beside its place and
 * then moved there in one step, so a reader never sees half a file, and of two processes that download at once the later
 * one replaces equal by equal.
 */
export function cachedPath(program: TemporalProgram, cacheDir: string): string {
  return join(cacheDir, `${program.name}-${program.wheel.version}`, program.name);
}

export async function lookInCache(program: TemporalProgram, cacheDir: string): Promise<WayOutcome> {
  const path = cachedPath(program, cacheDir);
  if (!existsSync(path)) return missed(`${path} does not exist`);
  return withPinnedVersion(program, await checkProgram(program, path));
}

/**
 * Gives `download` an empty folder on the cache's own file system; the file that it answers is checked and moved into place.
 * The folder is removed in any case.
 */
export async function download(
  program: TemporalProgram,
  cacheDir: string,
  fetch: (folder: string) => Promise<DownloadOutcome>,
): Promise<WayOutcome> {
  mkdirSync(cacheDir, { recursive: true });
  removeAbandoned(cacheDir);
  const folder = mkdtempSync(join(cacheDir, `${DOWNLOAD_PREFIX}${process.pid}-`));
  try {
    const outcome = await fetch(folder);
    if (outcome.kind === 'missed') return outcome;
    chmodSync(outcome.file, 0o755);
    const checked = await checkProgram(program, outcome.file);
    if (checked.kind === 'missed') return checked;
    return withPinnedVersion(program, { ...checked, path: moveIntoCache(program, cacheDir, outcome.file) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export type DownloadOutcome =
  { readonly kind: 'fetched'; readonly file: string } | { readonly kind: 'missed'; readonly reason: string };

const DOWNLOAD_PREFIX = 'download-';

function moveIntoCache(program: TemporalProgram, cacheDir: string, file: string): string {
  const path = cachedPath(program, cacheDir);
  mkdirSync(join(path, '..'), { recursive: true });
  try {
    renameSync(file, path);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    const draft = `${path}.${process.pid}`;
    copyFileSync(file, draft);
    chmodSync(draft, 0o755);
    renameSync(draft, path);
  }
  return path;
}

/** Folders of downloads whose process is gone: some 200 MB each. */
function removeAbandoned(cacheDir: string): void {
  for (const name of readdirSync(cacheDir)) {
    const pid = new RegExp(`^${DOWNLOAD_PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(cacheDir, name), { recursive: true, force: true });
  }
}

/** A program that does not tell its version was at least fetched as the pinned one. */
function withPinnedVersion(program: TemporalProgram, outcome: WayOutcome): WayOutcome {
  if (outcome.kind === 'missed' || outcome.version !== 'unknown') return outcome;
  return { ...outcome, version: program.wheel.version };
}
