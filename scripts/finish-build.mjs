// What tsc leaves undone in dist/: copy the assets that the code reads at run time, mark the command line program as
// executable, and delete output whose source is gone (an incremental tsc never does, and a stale file could be loaded).
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const SOURCE_FOLDERS = [
  'activities',
  'bench',
  'cli',
  'client',
  'config',
  'definition',
  'examples',
  'relays',
  'scripts',
  'store',
  'testing',
  'workers',
  'workflows',
];
const ASSET_EXTENSIONS = new Set(['.cedar', '.cedarschema', '.css', '.html', '.json', '.md', '.sql', '.svg', '.txt']);
const EMITTED = /\.(?:js|js\.map|d\.ts)$/;
// Written by bundle.mjs, from many sources.
const BUNDLES = new Set(['workers/workflow-bundle.js']);

copyAssets();
deleteOrphans();
const cliPath = join(DIST, 'cli/main.js');
if (existsSync(cliPath)) chmodSync(cliPath, 0o755);

function copyAssets() {
  for (const folder of SOURCE_FOLDERS) {
    for (const sourcePath of listFiles(join(ROOT, folder))) {
      if (!isAssetPath(sourcePath)) continue;
      const targetPath = join(DIST, relative(ROOT, sourcePath));
      if (isUpToDate(sourcePath, targetPath)) continue;
      mkdirSync(dirname(targetPath), { recursive: true });
      copyFileSync(sourcePath, targetPath);
    }
  }
}

/** Of a folder `assets` everything is served as it is, scripts for browsers included. */
function isAssetPath(path) {
  return ASSET_EXTENSIONS.has(extname(path)) || (basename(dirname(path)) === 'assets' && extname(path) === '.js');
}

function isUpToDate(sourcePath, targetPath) {
  if (!existsSync(targetPath)) return false;
  const source = statSync(sourcePath);
  const target = statSync(targetPath);
  return target.mtimeMs >= source.mtimeMs && target.size === source.size;
}

function deleteOrphans() {
  for (const folder of SOURCE_FOLDERS) {
    for (const outputPath of listFiles(join(DIST, folder))) {
      if (BUNDLES.has(relative(DIST, outputPath))) continue;
      const stem = join(ROOT, relative(DIST, outputPath));
      const isAsset = isAssetPath(outputPath);
      const sources = isAsset ? [stem] : [stem.replace(EMITTED, '.ts'), stem.replace(EMITTED, '.tsx')];
      if ((EMITTED.test(stem) || isAsset) && !sources.some((path) => existsSync(path))) rmSync(outputPath);
    }
  }
}

function listFiles(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
