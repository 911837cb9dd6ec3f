/** A PostgreSQL of one scenario's own, which may be taken away and brought back at the same address. */
import { join } from 'node:path';
import { startPostgres, type Postgres } from '../../../cli/stack/postgres';
import { migrate } from '../../../store/postgres';
import type { TestDatabase } from '../databases';

export interface OwnPostgres extends TestDatabase {
  /** Stops the server, and starts it on the same data and port after so long. */
  goAway(forMs: number): Promise<void>;
}

export const startOwnPostgres = async (directory: string): Promise<OwnPostgres> => {
  const options = { directory: join(directory, 'postgres'), logDir: join(directory, 'logs'), database: 'holdfast' };
  let server: Postgres = await startPostgres(options);
  const { url, port } = server;
  await migrate(url);
  return {
    name: options.database,
    url,
    drop: () => server.stop(),
    goAway: async (forMs) => {
      await server.stop();
      await new Promise((resolve) => setTimeout(resolve, forMs));
      server = await startPostgres({ ...options, port });
    },
  };
};
