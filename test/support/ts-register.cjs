// `node -r test/support/ts-register.cjs script.ts`: runs our TypeScript in a process of its own, as jest does in its own.
const { readFileSync } = require('node:fs');
const { transformSync } = require('@swc/core');

const register = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    filename,
    swcrc: false,
    sourceMaps: 'inline',
    module: { type: 'commonjs' },
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', tsx: filename.endsWith('.tsx') },
      transform: { react: { runtime: 'automatic', importSource: 'hono/jsx' } },
    },
  });
  module._compile(code, filename);
};

require.extensions['.ts'] = register;
require.extensions['.tsx'] = register;
