import { createPostgresStore, pendingMigrations } from '../../store/postgres';
import { errorText } from '../stack/errors';
import { showAddress, type Targets } from '../targets';
import { ok, wrong, type Finding } from './finding';

/** Reachable, and at the schema of this version. */
export const checkDatabase = async ({ databaseUrl }: Pick<Targets, 'databaseUrl'>): Promise<Finding> => {
  if (databaseUrl === undefined) {
    return wrong(
      'database',
      'DATABASE_URL is not set, and no development stack runs here',
      'set DATABASE_URL to a PostgreSQL for Holdfast, or start a stack: npx holdfast dev',
    );
  }
  const address = showAddress(databaseUrl);
  const refusal = await tryPing(databaseUrl);
  if (refusal !== undefined) {
    const mend = 'start PostgreSQL, or mend host, port, user and password in DATABASE_URL';
    return wrong('database', `no answer from ${address}: ${refusal}`, mend);
  }
  return checkSchema(databaseUrl, address);
};

const checkSchema = async (url: string, address: string): Promise<Finding> => {
  const pending = await pendingMigrations(url);
  if (pending.length === 0) return ok('database', `${address} answers and is at the schema of this version`);
  const names = pending.map(({ name, isBreaking }) => `${name}${isBreaking ? ' (breaking)' : ''}`);
  return wrong('database', `${address} answers, and lacks ${names.join(', ')}`, 'run: npx holdfast migrate');
};

/** A busy machine may need longer for its first connection than the store gives it. */
const TRIES = 3;

const tryPing = async (url: string): Promise<string | undefined> => {
  const store = createPostgresStore({ url, poolSize: 1 });
  let refusal: string | undefined;
  try {
    for (let tries = 1; tries <= TRIES; tries += 1) {
      refusal = await store.ping().then(() => undefined, reasonOf);
      if (refusal === undefined) break;
    }
    return refusal;
  } finally {
    await store.close();
  }
};

const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return errorText(cause) || 'it refused the connection';
};
