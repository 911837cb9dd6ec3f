const globals = require('@jest/globals');

// jest reads `testTimeout` from the top of its configuration only, never from a project.
globals.jest.setTimeout(120_000);
