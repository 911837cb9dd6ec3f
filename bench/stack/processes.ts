/** Holdfast's own processes of a suite, as a deployment starts them, and the bare worker that they are compared with. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { z } from 'zod';
import type { WatchedProcess } from '../../cli/stack/watched-process';
import { environmentOfDevWorker } from '../../config/environment';
import { BARE_QUEUE, HOLDFAST_QUEUE, type BenchStack } from './bench-stack';

export interface WorkerOptions {
  readonly name: string;
  /** The module, by path. */
  readonly agents: string;
  /** For instance to write a profile (`--cpu-prof`). */
  readonly nodeArgs?: readonly string[];
  readonly maxCachedWorkflows?: number;
}

export const startHoldfastWorker = async (
  stack: BenchStack,
  { name, agents, nodeArgs, maxCachedWorkflows }: WorkerOptions,
): Promise<WatchedProcess> => {
  const cached = maxCachedWorkflows === undefined ? undefined : String(maxCachedWorkflows);
  const started = await stack.group.startScript({
    name,
    nodeArgs,
    script: require.resolve('../../workers/main'),
    onKilled: () => {
      stack.say(`${name} was killed`);
      return true;
    },
    env: environmentOf(stack, { HOLDFAST_AGENTS: agents, HOLDFAST_MAX_CACHED_WORKFLOWS: cached }),
  });
  return started.process;
};

export interface ServiceProcess {
  readonly process: WatchedProcess;
  readonly url: string;
}

const READY = z.object({ url: z.url() });

export const startService = async (stack: BenchStack, agents: string): Promise<ServiceProcess> => {
  const { process, ready } = await stack.group.startScript({
    name: 'service',
    script: require.resolve('../../cli/main'),
    args: ['serve', '--host', '127.0.0.1', '--port', '0'],
    env: environmentOf(stack, {
      HOLDFAST_AGENTS: agents,
      HOLDFAST_JWT_SECRET: stack.tokenSecret,
      HOLDFAST_CALLBACK_SECRETS: stack.callbackSecret,
    }),
  });
  return { process, url: READY.parse(ready).url };
};

export interface BareWorkerOptions {
  /** The program, and the module of its workflows, by path. */
  readonly program: string;
  readonly workflows: string;
}

/** The program gets its options as JSON: address, taskQueue, modelUrl, bundle. */
export const startBareWorker = async (
  { group, directory, temporal, model }: BenchStack,
  { program, workflows }: BareWorkerOptions,
): Promise<WatchedProcess> => {
  const { code } = await bundleWorkflowCode({ workflowsPath: workflows, logger: new DefaultLogger('WARN') });
  const bundle = join(directory, 'bare-bundle.js');
  writeFileSync(bundle, code);
  const options = { address: temporal.address, taskQueue: BARE_QUEUE, modelUrl: model.url, bundle };
  const started = await group.startScript({ name: 'bare-worker', script: program, args: [JSON.stringify(options)] });
  return started.process;
};

const environmentOf = (
  { directory, postgres, temporal, model }: BenchStack,
  changes: Readonly<Record<string, string | undefined>>,
): NodeJS.ProcessEnv => {
  // Temporal's reader of profiles would read the user's own.
  const profiles = join(directory, 'temporal.toml');
  writeFileSync(profiles, '[profile.default]\n');
  return environmentOfDevWorker({
    TEMPORAL_CONFIG_FILE: profiles,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_NAMESPACE: temporal.namespace,
    DATABASE_URL: postgres.url,
    ANTHROPIC_API_KEY: 'offline',
    ANTHROPIC_AUTH_TOKEN: undefined,
    ANTHROPIC_BASE_URL: model.url,
    HOLDFAST_TASK_QUEUE: HOLDFAST_QUEUE,
    HOLDFAST_TOKEN_KEY: undefined,
    HOLDFAST_DATA_DIR: join(directory, 'data'),
    HOLDFAST_LOG_LEVEL: 'warn',
    ...changes,
  });
};
