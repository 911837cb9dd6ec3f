/**
 * The service on a real database, asked without a port. Temporal is the shared development server, and no worker serves the
 * task queue: runs stay where the store is told to put them.
 */
import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { pino, type Logger } from 'pino';
import { RunFeeds } from '../../../client/feed/run-feeds';
import { createApp } from '../../../client/http/app';
import { signToken } from '../../../client/http/auth/verify-token';
import { createService, type ServiceParts } from '../../../client/http/create-service';
import type { App, ServiceDeps } from '../../../client/http/service';
import { createPostgresStore, migrate } from '../../../store/postgres';
import type { Store } from '../../../store/store';
import { SEARCH_ATTRIBUTES } from '../../../workflows/contract/messages';
import { startTestDatabase, type TestDatabase } from '../databases';
import { startDevServer } from '../services';

export const SECRET = 'a-secret-of-the-tests-that-is-long-enough';

export interface Person {
  readonly tenant: string;
  readonly subject: string;
  readonly roles: readonly string[];
}

export interface HttpStage {
  readonly app: App;
  readonly store: Store;
  readonly temporal: Client;
  readonly database: TestDatabase;
  /** Every line that was logged, as it was written. */
  readonly logged: string[];
  readonly log: Logger;
  readonly closing: AbortController;
  /** Another instance of the service on the same database, as another process would have it. */
  readonly another: (changes?: Partial<ServiceDeps>) => App;
  /** A request with a token of the person; a body is sent as JSON. */
  readonly ask: (person: Person, path: string, init?: AskInit) => Promise<Response>;
  /** Throws what the service logged where it failed itself (500), which says more than a test that misses something. */
  readonly unfailed: (response: Response) => Response;
  readonly tokenOf: (person: Person, expiresInMs?: number) => Promise<string>;
  readonly close: () => Promise<void>;
}

export interface AskInit extends Omit<RequestInit, 'body'> {
  readonly body?: unknown;
  readonly app?: App;
}

export interface HttpStageOptions {
  readonly deps?: Partial<ServiceDeps>;
  readonly parts?: Partial<ServiceParts>;
  /** In place of the database's own, for one that can be cut. */
  readonly databaseUrl?: (url: string) => Promise<string>;
}

export const setHttpStage = async (options: HttpStageOptions = {}): Promise<HttpStage> => {
  const [server, database] = await Promise.all([
    startDevServer(Object.fromEntries(Object.values(SEARCH_ATTRIBUTES).map((name) => [name, 'KEYWORD' as const]))),
    startTestDatabase({
      migrate: async (url) => {
        await migrate(url);
      },
    }),
  ]);
  const url = (await options.databaseUrl?.(database.url)) ?? database.url;
  const connection = await Connection.connect({ address: server.address });
  const temporal = new Client({ connection, namespace: server.namespace });
  const taskQueue = `http-${randomBytes(4).toString('hex')}`;
  const logged: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => logged.push(line) });
  const closing = new AbortController();
  const stores: Store[] = [];
  const make = (changes: Partial<ServiceDeps> = {}): { readonly app: App; readonly store: Store } => {
    const store = createPostgresStore({ url, poolSize: 6 });
    stores.push(store);
    const feeds = new RunFeeds({ store, log, beatMs: 20 });
    const service = createService({
      store,
      temporal,
      taskQueue,
      log,
      closing: closing.signal,
      tokens: { secret: SECRET },
      feeds,
      ...options.parts,
    });
    return { app: createApp({ ...service, ...options.deps, ...changes }), store };
  };
  const { app, store } = make();
  const unfailed = (response: Response): Response => {
    if (response.status === 500) throw new Error(`the service failed:\n${logged.slice(-5).join('')}`);
    return response;
  };
  const tokenOf = (person: Person, expiresInMs = 600_000): Promise<string> =>
    signToken({ secret: SECRET }, person, new Date(Date.now() + expiresInMs));
  return {
    app,
    store,
    temporal,
    database,
    logged,
    log,
    closing,
    another: (changes) => make(changes).app,
    tokenOf,
    ask: async (person, path, { body, headers, app: asked = app, ...init } = {}) =>
      unfailed(
        await asked.request(path, {
          ...init,
          headers: {
            Authorization: `Bearer ${await tokenOf(person)}`,
            ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
            ...parseHeaders(headers),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        }),
      ),
    unfailed,
    close: async () => {
      closing.abort();
      await connection.close();
      await Promise.all(stores.map((each) => each.close()));
      await database.drop();
    },
  };
};

const parseHeaders = (headers: AskInit['headers']): Record<string, string> => (headers ?? {}) as Record<string, string>;
