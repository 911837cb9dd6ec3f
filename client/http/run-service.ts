/**
 * The service of one process: receives callbacks, says how it is, and relays what is owed, until it is told to stop. It holds
 * nothing that is not in the database: whatever it acknowledged is read, also where it dies in the next moment.
 */
import { Hono } from 'hono';
import type { Logger } from 'pino';
import { runRelays } from '../../relays/run-relays';
import type { StartTarget } from '../../relays/start-workflow';
import type { Store } from '../../store/store';
import { SIGNALS, type ToolEventSignal } from '../../workflows/contract/messages';
import { createCallbackReceiver } from './callbacks/create-callback-receiver';
import { startHttpServer, type ListenOptions } from './server';

export interface ServiceOptions extends ListenOptions, StartTarget {
  readonly store: Store;
  /** Keys of callbacks, decoded; without any no callbacks are taken. */
  readonly callbackSecrets: readonly Uint8Array[];
  readonly log: Logger;
  /** Aborted: takes nothing new, answers what has been asked, and ends. */
  readonly signal: AbortSignal;
  readonly onReady: (url: string) => void;
}

/** Resolves when it has stopped. Throws what the system says where it cannot listen. */
export const runService = async (options: ServiceOptions): Promise<void> => {
  const { host, port, store, log, signal, onReady, callbackSecrets, ...target } = options;
  const server = await startHttpServer(createServiceApp({ ...target, store, log, callbackSecrets }), { host, port });
  log.info({ url: server.url, takesCallbacks: callbackSecrets.length > 0 }, 'the service listens');
  const relaying = runRelays({ ...target, store, log, signal });
  onReady(server.url);
  await aborted(signal);
  await Promise.all([server.stop(), relaying]);
  log.info('the service has stopped');
};

type AppOptions = Pick<ServiceOptions, 'store' | 'log' | 'callbackSecrets' | 'temporal'>;

const createServiceApp = ({ store, log, callbackSecrets, temporal }: AppOptions): Hono => {
  const app = new Hono();
  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) => {
    try {
      await store.ping();
      return c.json({ status: 'ok' });
    } catch {
      return c.json({ status: 'unavailable', code: 'store.unavailable' }, 503, { 'Retry-After': '5' });
    }
  });
  if (callbackSecrets.length === 0) return app;
  const receiver = createCallbackReceiver({
    store,
    secrets: callbackSecrets,
    log,
    signal: async ({ run }, operation) => {
      const event: ToolEventSignal = { operation };
      await temporal.workflow.getHandle(run).signal(SIGNALS.toolEvent, event);
    },
  });
  app.route('/', receiver);
  return app;
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
