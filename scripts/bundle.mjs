// Writes dist/workers/workflow-bundle.js, the workflows as a worker loads them, unless nothing changed that goes into it.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const BUNDLE = join(DIST, 'workers/workflow-bundle.js');
// Not .json: finish-build.mjs would take it for an asset whose source is gone.
const HASH = join(DIST, 'workers/workflow-bundle.sha256');

if (!existsSync(join(DIST, 'workers/bundle.js'))) {
  console.error('bundle: got no dist/workers/bundle.js, expected a build: run npm run build');
  process.exit(1);
}
const hash = hashOfInputs();
if (!existsSync(BUNDLE) || readIfPresent(HASH) !== hash) await write();

async function write() {
  const { writeBundle } = createRequire(import.meta.url)(join(DIST, 'workers/bundle.js'));
  // A worker may be starting: it finds the old one or the new one, never half of one.
  const draft = `${BUNDLE}.${process.pid}`;
  await writeBundle(draft);
  renameSync(draft, BUNDLE);
  writeFileSync(HASH, hash);
}

/** The compiled workflows, the code that bundles them, and the packages that both may take in. */
function hashOfInputs() {
  const hash = createHash('sha256');
  const files = [
    ...listFiles(join(DIST, 'workflows')).filter((path) => path.endsWith('.js')),
    join(DIST, 'workers/bundle.js'),
    join(ROOT, 'package-lock.json'),
  ];
  for (const path of files.sort()) hash.update(`${relative(ROOT, path)}\n`).update(readIfPresent(path));
  return hash.digest('hex');
}

function readIfPresent(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function listFiles(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
