/** The services of one command, connected: Runs on the store and on Temporal. */
import { Client, Connection } from '@temporalio/client';
import { Runs } from '../client/runs';
import { createPostgresStore } from '../store/postgres';
import { StoreUnavailable } from '../store/errors';
import type { Store } from '../store/store';
import type { CliContext } from './context';
import type { StackFile } from './dev/stack-file';
import { CommandFailure } from './errors';
import { errorCode } from './stack/errors';
import { findTargets, showAddress, type Targets } from './targets';
import type { TemporalAddress } from '../config/temporal-connection';

export interface Services {
  readonly runs: Runs;
  readonly store: Store;
  readonly temporal: Client;
  readonly taskQueue: string;
  readonly stack?: StackFile;
  /** Throws `engine.unavailable` where Temporal does not answer, before anything is written. */
  requireEngine(): Promise<void>;
  close(): Promise<void>;
}

export interface ServiceTargets {
  readonly databaseUrl: string;
  readonly temporal: TemporalAddress;
  readonly taskQueue: string;
  readonly stack?: StackFile;
}

const CONNECT_TIMEOUT_MS = 5_000;

/** Connects to nothing yet: the database and Temporal are asked when something is asked of them. */
export const openServices = ({ databaseUrl, temporal, taskQueue, stack }: ServiceTargets): Services => {
  const { namespace, ...connect } = temporal;
  const connection = Connection.lazy({ ...connect, connectTimeout: CONNECT_TIMEOUT_MS });
  const store = createPostgresStore({ url: databaseUrl, poolSize: 4 });
  const client = new Client({ connection, namespace });
  return {
    runs: new Runs({ store, temporal: client, taskQueue }),
    store,
    temporal: client,
    taskQueue,
    ...(stack === undefined ? {} : { stack }),
    requireEngine: () => requireEngine(connection, temporal.address),
    close: async () => {
      await Promise.allSettled([connection.close(), store.close()]);
    },
  };
};

/** The services of this command, closed when `use` is done. Says on standard error when they are the development stack's. */
export const withServices = async <T>(context: CliContext, use: (services: Services) => Promise<T>): Promise<T> => {
  const targets = requireDatabase(findTargets(context.settings()), context);
  const services = openServices(targets);
  if (services.stack !== undefined) {
    context.output.note(context.output.noteColors.dim(describeStack(services.stack)));
  }
  try {
    return await use(services);
  } catch (error) {
    throw explainDatabaseError(error, targets.databaseUrl);
  } finally {
    await services.close();
  }
};

export const describeStack = ({ pid, databaseUrl, temporal }: StackFile): string =>
  `using the development stack of process ${pid} (Temporal at ${temporal.address}, database ${showAddress(databaseUrl)})`;

export const requireDatabase = (targets: Targets, context: CliContext): ServiceTargets => {
  const { databaseUrl } = targets;
  if (databaseUrl !== undefined) return { ...targets, databaseUrl };
  const { dataDir } = context.settings();
  throw new CommandFailure(
    'services.unknown',
    `DATABASE_URL: got nothing, expected the address of Holdfast's PostgreSQL, and no development stack runs on ${dataDir}: ` +
      'set DATABASE_URL (and TEMPORAL_ADDRESS), or start a stack with `npm start` or `npx holdfast dev`',
  );
};

const UNDEFINED_TABLE = '42P01';

const explainDatabaseError = (error: unknown, url: string): unknown => {
  if (error instanceof StoreUnavailable) {
    const message =
      `DATABASE_URL: got no answer at ${showAddress(url)}, expected Holdfast's PostgreSQL: start it, or mend the ` +
      'address (`holdfast doctor` looks closer)';
    return new CommandFailure('database.unavailable', message, { cause: error.cause });
  }
  if (errorCode(error) === UNDEFINED_TABLE) {
    const message = `DATABASE_URL: got a database without Holdfast's tables at ${showAddress(url)}: run \`holdfast migrate\``;
    return new CommandFailure('database.not_migrated', message);
  }
  return error;
};

const requireEngine = async (connection: Connection, address: string): Promise<void> => {
  try {
    await connection.ensureConnected();
  } catch (cause) {
    throw new CommandFailure(
      'engine.unavailable',
      `Temporal: got no answer at ${address}, expected its server: start it, or set TEMPORAL_ADDRESS (\`holdfast doctor\` looks closer)`,
      { cause },
    );
  }
};
