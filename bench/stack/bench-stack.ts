/** Everything that a suite stands on: one Temporal server, one PostgreSQL, one model; a process for each worker and service. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTE_TYPES } from '../../cli/search-attribute-types';
import { endOnExit } from '../../cli/stack/exit-handlers';
import { startPostgres, type Postgres } from '../../cli/stack/postgres';
import { ProcessGroup } from '../../cli/stack/process-group';
import { findTemporalCli } from '../../cli/stack/temporal-binary';
import { startTemporalServer, type TemporalServer } from '../../cli/stack/temporal-server';
import { Runs } from '../../client';
import { loadSettings } from '../../config/settings';
import { readSearchPath } from '../../config/environment';
import { createPostgresStore, migrate } from '../../store/postgres';
import type { Store } from '../../store/store';
import { startModelServer, type ModelServer, type Script } from '../../testing';

export interface BenchStack {
  readonly client: Client;
  readonly runs: Runs;
  readonly store: Store;
  readonly model: ModelServer;
  readonly postgres: Postgres;
  readonly temporal: TemporalServer;
  readonly group: ProcessGroup;
  /** For files; removed at the end. */
  readonly directory: string;
  /** Of bearer tokens. */
  readonly tokenSecret: string;
  /** Of signed callbacks. */
  readonly callbackSecret: string;
  readonly say: Say;
  /** Rejects when a process ends by a fault of its own. */
  readonly broken: Promise<never>;
  stop(): Promise<void>;
}

/** A line of progress, on standard error. */
export type Say = (line: string) => void;

export const BARE_QUEUE = 'bench-bare';
export const HOLDFAST_QUEUE = 'bench-holdfast';
const KEY_BYTES = 32;

/** Whatever ends this process, or the start itself, ends what was started and removes the directory. */
export const startBenchStack = async (script: Script, say: Say): Promise<BenchStack> => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const removeDirectory = (): void => {
    rmSync(directory, { recursive: true, force: true });
  };
  const { promise: broken, reject: breakWith } = createBreak();
  const group = new ProcessGroup({
    logDir: join(directory, 'logs'),
    onUnexpectedExit: (name, { code }) => {
      if (code !== 0) breakWith(new Error(`${name} ended with exit code ${String(code)}`));
    },
  });
  const forgetHandlers = endOnExit(group, {
    onEnding: (cause) => {
      say(cause.kind === 'signal' ? `${cause.signal}: ending` : `ending after a failure: ${String(cause.error)}`);
    },
    onEnded: removeDirectory,
  });
  const end = async (): Promise<void> => {
    await group.stop();
    forgetHandlers();
    removeDirectory();
  };
  try {
    const [temporal, postgres] = await startServers({ directory, group, say });
    const store = createPostgresStore({ url: postgres.url });
    const model = await startModelServer({ script, keepBook: false });
    const connection = await Connection.connect({ address: temporal.address });
    const client = new Client({ connection });
    return {
      client,
      store,
      model,
      postgres,
      temporal,
      group,
      directory,
      say,
      broken,
      runs: new Runs({ store, temporal: client, taskQueue: HOLDFAST_QUEUE }),
      tokenSecret: randomBytes(KEY_BYTES).toString('hex'),
      callbackSecret: `whsec_${randomBytes(KEY_BYTES).toString('base64')}`,
      stop: async () => {
        await Promise.allSettled([connection.close(), store.close(), model.close()]);
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
};

/** Starts it, and ends it whatever becomes of the work. */
export const withBenchStack = async <T>(
  { script, say }: { readonly script: Script; readonly say: Say },
  work: (stack: BenchStack) => Promise<T>,
): Promise<T> => {
  const stack = await startBenchStack(script, say);
  try {
    return await Promise.race([work(stack), stack.broken]);
  } finally {
    await stack.stop();
  }
};

const createBreak = (): { readonly promise: Promise<never>; readonly reject: (error: Error) => void } => {
  let fail: (error: Error) => void = () => undefined;
  const promise = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  // Nobody may be waiting for it when it happens.
  promise.catch(() => undefined);
  return {
    promise,
    reject: (error) => {
      fail(error);
    },
  };
};

const startServers = async ({
  directory,
  group,
  say,
}: Pick<BenchStack, 'directory' | 'group' | 'say'>): Promise<readonly [TemporalServer, Postgres]> => {
  const logDir = join(directory, 'logs');
  const { cacheDir, temporalCli: override } = loadSettings();
  const { path: binary } = await findTemporalCli({ cacheDir, override, searchPath: readSearchPath(), onProgress: say });
  const temporal = await startTemporalServer({
    binary,
    logDir,
    databaseFile: join(directory, 'temporal.db'),
    searchAttributes: SEARCH_ATTRIBUTE_TYPES,
  });
  group.add(temporal);
  const postgres = await startPostgres({ directory: join(directory, 'postgres'), logDir, database: 'holdfast' });
  group.add(postgres);
  await migrate(postgres.url);
  return [temporal, postgres];
};
