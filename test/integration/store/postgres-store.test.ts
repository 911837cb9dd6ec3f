import { createPostgresStore, migrate } from '../../../store/postgres';
import { startTestDatabase } from '../../support/databases';
import { describeStore } from '../../support/store-contract';

describeStore('PostgreSQL', async () => {
  const database = await startTestDatabase({
    migrate: async (url) => {
      await migrate(url);
    },
  });
  let offsetMs = 0;
  const clock = { offsetMs: () => offsetMs };
  const store = createPostgresStore({ url: database.url, clock });
  const other = createPostgresStore({ url: database.url, clock });
  return {
    store,
    other,
    fresh: () => createPostgresStore({ url: database.url, clock }),
    advance: (ms) => {
      offsetMs += ms;
    },
    close: async () => {
      await Promise.all([store.close(), other.close()]);
      await database.drop();
    },
  };
});
