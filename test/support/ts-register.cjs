// `node -r test/support/ts-register.cjs script.ts`: runs our TypeScript in a process of its own, as jest does in its own.
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { version } = require('@swc/core/package.json');

const optionsOf = (filename) => ({
  filename,
  swcrc: false,
  module: { type: 'commonjs' },
  jsc: {
    target: 'es2022',
    parser: { syntax: 'typescript', tsx: filename.endsWith('.tsx') },
    transform: { react: { runtime: 'automatic', importSource: 'hono/jsx' } },
  },
});

// Tests start many processes, each of which needs most of the tree. What is kept is named by all that goes into it, so
// that code which has changed since is never found.
const CACHE = join(__dirname, '../../node_modules/.cache/ts-register');
mkdirSync(CACHE, { recursive: true });

const register = (module, filename) => {
  const source = readFileSync(filename, 'utf8');
  const options = optionsOf(filename);
  const key = createHash('sha256')
    .update(JSON.stringify([version, options, source]))
    .digest('hex');
  const kept = join(CACHE, `${key}.js`);
  module._compile(readIfPresent(kept) ?? compile(source, options, kept), filename);
};

const compile = (source, options, kept) => {
  // Loaded only here: most processes find all that they need.
  const { code } = require('@swc/core').transformSync(source, options);
  // Another process may be reading: it finds all of it or nothing.
  const draft = `${kept}.${process.pid}.${require('node:worker_threads').threadId}`;
  writeFileSync(draft, code);
  renameSync(draft, kept);
  return code;
};

const readIfPresent = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

require.extensions['.ts'] = register;
require.extensions['.tsx'] = register;
