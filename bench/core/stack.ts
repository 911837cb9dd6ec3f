/** Everything that both sides share: one Temporal server, one PostgreSQL, one model; a worker process each. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { bundleWorkflowCode } from '@temporalio/worker';
import { startPostgres } from '../../cli/stack/postgres';
import { ProcessGroup } from '../../cli/stack/process-group';
import { findTemporalCli } from '../../cli/stack/temporal-binary';
import { startTemporalServer } from '../../cli/stack/temporal-server';
import type { WatchedProcess } from '../../cli/stack/watched-process';
import { Runs } from '../../client';
import { loadEnvironment, loadSettings } from '../../config/settings';
import { createPostgresStore, migrate } from '../../store/postgres';
import type { Store } from '../../store/store';
import { startModelServer, type ModelServer } from '../../testing';
import { SEARCH_ATTRIBUTES } from '../../workflows/contract/messages';
import { script } from './script';

export interface BenchStack {
  readonly client: Client;
  readonly runs: Runs;
  readonly store: Store;
  readonly model: ModelServer;
  readonly pids: { readonly temporal: number; readonly postgres: number };
  startBareWorker(): Promise<WatchedProcess>;
  /** `nodeArgs` for instance to write a profile (`--cpu-prof`). */
  startHoldfastWorker(name: string, nodeArgs?: readonly string[]): Promise<WatchedProcess>;
  stop(): Promise<void>;
}

export const BARE_QUEUE = 'bench-bare';
const HOLDFAST_QUEUE = 'bench-holdfast';
const KEYWORDS = Object.fromEntries(Object.values(SEARCH_ATTRIBUTES).map((name) => [name, 'KEYWORD' as const]));

export const startBenchStack = async (say: (line: string) => void): Promise<BenchStack> => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const logDir = join(directory, 'logs');
  const group = new ProcessGroup({ logDir });
  const { cacheDir, temporalCli } = loadSettings();
  const { path: binary } = await findTemporalCli({
    cacheDir,
    override: temporalCli,
    searchPath: loadEnvironment()['PATH'],
    onProgress: say,
  });
  const temporal = await startTemporalServer({
    binary,
    logDir,
    databaseFile: join(directory, 'temporal.db'),
    searchAttributes: KEYWORDS,
  });
  group.add(temporal);
  const postgres = await startPostgres({ directory: join(directory, 'postgres'), logDir, database: 'holdfast' });
  group.add(postgres);
  await migrate(postgres.url);
  const store = createPostgresStore({ url: postgres.url });
  const model = await startModelServer({ script });
  const connection = await Connection.connect({ address: temporal.address });
  const client = new Client({ connection });
  const bareBundle = await writeBareBundle(join(directory, 'bare-bundle.js'));

  return {
    client,
    store,
    model,
    runs: new Runs({ store, temporal: client, taskQueue: HOLDFAST_QUEUE }),
    pids: { temporal: temporal.pid, postgres: postgres.pid },
    startBareWorker: async () => {
      const options = { address: temporal.address, taskQueue: BARE_QUEUE, modelUrl: model.url, bundle: bareBundle };
      const started = await group.startScript({
        name: 'bare-worker',
        script: require.resolve('./bare-worker'),
        args: [JSON.stringify(options)],
      });
      return started.process;
    },
    startHoldfastWorker: async (name, nodeArgs = []) => {
      const started = await group.startScript({
        name,
        nodeArgs,
        script: require.resolve('../../workers/main'),
        env: {
          ...loadEnvironment(),
          DATABASE_URL: postgres.url,
          TEMPORAL_ADDRESS: temporal.address,
          ANTHROPIC_API_KEY: 'offline',
          ANTHROPIC_BASE_URL: model.url,
          HOLDFAST_TASK_QUEUE: HOLDFAST_QUEUE,
          HOLDFAST_AGENTS: require.resolve('./agents'),
          HOLDFAST_LOG_LEVEL: 'warn',
        },
      });
      return started.process;
    },
    stop: async () => {
      await connection.close();
      await store.close();
      await model.close();
      await group.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};

const writeBareBundle = async (path: string): Promise<string> => {
  const { code } = await bundleWorkflowCode({ workflowsPath: require.resolve('./bare-workflows') });
  writeFileSync(path, code);
  return path;
};
