/** `worker`: the production worker in the foreground; the same program as `workers/main`. */
import { runWorker } from '../../workers/run-worker';
import type { Action } from '../context';
import { UsageError } from '../errors';
import { describeStack } from '../services';
import { findTargets } from '../targets';

export interface WorkerOptions {
  readonly agents?: string;
}

/** Prints one line of JSON on standard output when it is ready; its log goes to standard error. */
export const worker: Action<WorkerOptions> = async ({ agents }, { settings: load, output }) => {
  const settings = load();
  const path = agents ?? settings.agents;
  if (path === undefined) {
    throw new UsageError(
      '--agents: got nothing, expected a compiled module that exports `agents` (or HOLDFAST_AGENTS)',
    );
  }
  const { databaseUrl, temporal, taskQueue, stack } = findTargets(settings);
  if (stack !== undefined) output.note(describeStack(stack));
  await runWorker({
    settings: { ...settings, taskQueue, agents: path, ...(databaseUrl === undefined ? {} : { databaseUrl }) },
    temporal,
    onReady: (names) => {
      output.print(JSON.stringify({ ready: true, agents: names }));
    },
  });
  return 0;
};
