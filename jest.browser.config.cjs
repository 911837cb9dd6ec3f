// The page in a real browser: what the integration tests have, and Chromium. Apart from `npm test`, as not every machine has one.
const { projects, reporters } = require('./jest.config.cjs');

const integration = projects.find(({ displayName }) => displayName === 'integration');

/** @type {import('jest').Config} */
module.exports = {
  maxWorkers: 1,
  reporters,
  projects: [{ ...integration, displayName: 'browser', testMatch: ['<rootDir>/test/browser/**/*.test.ts'] }],
};
