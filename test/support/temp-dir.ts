import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A new directory that other accounts may pass through, as PostgreSQL's must under root. */
export function makeTempDir(name: string): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), `holdfast-${name}-`)));
  chmodSync(directory, 0o711);
  return directory;
}

export function removeDir(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

/** Writes an executable shell script, a stand-in for a program. */
export function writeScript(path: string, body: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}
