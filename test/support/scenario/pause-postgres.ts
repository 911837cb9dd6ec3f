/** Takes a database away from everybody but us, as a failed server would: connections end and new ones are refused. */
import { Client } from 'pg';
import { databaseUrl, type TestDatabase } from '../databases';

/** Other files' databases on the same server stay as they are. */
export const pausePostgres = async ({ name }: TestDatabase, forMs: number): Promise<void> => {
  const admin = new Client({ connectionString: await databaseUrl('postgres') });
  await admin.connect();
  try {
    await admin.query(`alter database "${name}" with allow_connections false`);
    await admin.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
    await new Promise((resolve) => setTimeout(resolve, forMs));
  } finally {
    await admin.query(`alter database "${name}" with allow_connections true`);
    await admin.end();
  }
};
