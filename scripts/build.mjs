// `npm run build`: compiles into dist/, finishes it, bundles the workflows. Does nothing where nothing has changed since,
// as a compiler that finds nothing to do still takes seconds to find it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const STAMP = join(ROOT, 'dist/.build-stamp');
const OUTPUTS = ['dist/cli/main.js', 'dist/workers/workflow-bundle.js'];
const IGNORED = new Set(['node_modules', 'dist', 'coverage', 'test', 'docs', '.git', '.holdfast', '.cache']);

const stamp = stampOfInputs();
const isUpToDate = OUTPUTS.every((path) => existsSync(join(ROOT, path))) && readIfPresent(STAMP) === stamp;
if (!isUpToDate) build();

function build() {
  // On standard error: `npm start -- --json` has its document on standard output.
  console.error('Compiling, as the sources have changed since the last build or there is none');
  // A build that fails leaves no stamp.
  rmSync(STAMP, { force: true });
  run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json');
  run('scripts/finish-build.mjs');
  run('scripts/bundle.mjs');
  writeFileSync(STAMP, stamp);
}

function run(script, ...args) {
  const { status } = spawnSync(process.execPath, [join(ROOT, script), ...args], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Names and contents of everything that goes into dist/. */
function stampOfInputs() {
  const hash = createHash('sha256');
  for (const path of listFiles(ROOT).sort()) hash.update(`${relative(ROOT, path)}\n`).update(readFileSync(path));
  return hash.digest('hex');
}

function listFiles(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (IGNORED.has(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return listFiles(path);
    return entry.isFile() ? [path] : [];
  });
}

function readIfPresent(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
