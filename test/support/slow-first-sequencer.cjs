const { relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');

/** Seconds that the longest take on a machine of their own, for where jest has no times of its own yet. */
const SECONDS = {
  'cli.test.ts': 160,
  'scenarios/declared.test.ts': 146,
  'scenarios/continue.test.ts': 137,
  'scenarios/crashes.test.ts': 118,
  'cli-services.test.ts': 106,
  'scenarios/deploys.test.ts': 97,
  'scenarios/unknown-outcomes.test.ts': 94,
  'scenarios/jobs.test.ts': 92,
  'scenarios/cancel.test.ts': 81,
  'scenarios/waiting-restarts.test.ts': 68,
  'scenarios/after-end.test.ts': 63,
  'http/malformed.test.ts': 57,
  'histories.test.ts': 52,
  'operate/callbacks.test.ts': 47,
  'scenarios/ends.test.ts': 47,
  'operate/sends.test.ts': 47,
  'scenarios/streams.test.ts': 44,
  'store/postgres-store.test.ts': 42,
};

/** Longest first, so that at the end no long file runs alone. */
module.exports = class SlowFirstSequencer extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    return sorted.sort((one, other) => durationOf(other) - durationOf(one));
  }
};

const durationOf = ({ path, duration, context }) => {
  const name = relative(`${context.config.rootDir}/test/integration`, path);
  return duration ?? (SECONDS[name] ?? 0) * 1_000;
};
