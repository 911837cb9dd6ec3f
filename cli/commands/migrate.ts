/** `migrate`: brings what the environment names to what this version needs. */
import { Connection } from '@temporalio/client';
import { migrate } from '../../store/postgres';
import type { Action, CliContext } from '../context';
import { CommandFailure, UsageError } from '../errors';
import { SEARCH_ATTRIBUTE_TYPES } from '../search-attribute-types';
import { registerSearchAttributes } from '../stack/search-attributes';
import { findTargets, showAddress, type Targets } from '../targets';

export interface MigrateOptions {
  readonly databaseOnly?: true;
  readonly json?: true;
}

export const migrateServices: Action<MigrateOptions> = async ({ databaseOnly, json }, context) => {
  const targets = findTargets(context.settings());
  const migrations = await migrateDatabase(targets, context);
  const isEngineDone = databaseOnly !== true;
  if (isEngineDone) await registerAttributes(targets, context);
  if (json === true) {
    const searchAttributes = isEngineDone ? Object.keys(SEARCH_ATTRIBUTE_TYPES) : [];
    context.output.printJson({ migrations, searchAttributes });
  }
  return 0;
};

const migrateDatabase = async ({ databaseUrl }: Targets, { output }: CliContext): Promise<readonly string[]> => {
  if (databaseUrl === undefined) {
    throw new UsageError("DATABASE_URL: got nothing, expected the address of Holdfast's PostgreSQL");
  }
  const done = await migrate(databaseUrl);
  const what = done.length === 0 ? 'is up to date' : `ran ${done.join(', ')}`;
  output.note(`database ${showAddress(databaseUrl)}: ${what}`);
  return done;
};

const registerAttributes = async ({ temporal }: Targets, { output }: CliContext): Promise<void> => {
  const { namespace, ...connect } = temporal;
  const names = Object.keys(SEARCH_ATTRIBUTE_TYPES).join(', ');
  try {
    const connection = await Connection.connect(connect);
    try {
      await registerSearchAttributes(connection, namespace, SEARCH_ATTRIBUTE_TYPES);
    } finally {
      await connection.close();
    }
  } catch (cause) {
    const mend = `register them yourself (Keyword: ${names}) where only the operator of Temporal may, and use --database-only`;
    const message = `Temporal at ${temporal.address}, namespace ${namespace}: the search attributes could not be registered: ${mend}`;
    throw new CommandFailure('engine.unavailable', message, { cause });
  }
  output.note(`Temporal ${temporal.address}, namespace ${namespace}: search attributes ${names} are there`);
};
