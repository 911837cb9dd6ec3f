/**
 * The service of one process: answers, follows, receives callbacks, and relays what is owed, until it is told to stop. It
 * holds nothing that is not in the database: whatever it acknowledged is read, also where it dies in the next moment.
 */
import { runRelays } from '../../relays/run-relays';
import { createApp } from './app';
import { createService, type ServiceParts } from './create-service';
import { startHttpServer, type ListenOptions } from './server';

export interface ServiceOptions extends ListenOptions, ServiceParts {
  readonly onReady: (url: string) => void;
}

/**
 * Resolves when it has stopped, which `closing` asks for: it takes nothing new, ends its streams and answers what has been
 * asked. Throws what the system says where it cannot listen.
 */
export const runService = async ({ host, port, onReady, ...parts }: ServiceOptions): Promise<void> => {
  const { store, log, closing: signal, temporal, taskQueue, callbackSecrets = [], agents, tokens } = parts;
  const server = await startHttpServer(createApp(createService(parts)), { host, port });
  log.info(
    {
      url: server.url,
      takesCallbacks: callbackSecrets.length > 0,
      tokens: tokens.jwksUrl === undefined ? (tokens.secret === undefined ? 'none' : 'development') : 'issued',
      agents: agents === undefined ? [] : [...agents.agents.keys()],
    },
    'the service listens',
  );
  if (tokens.jwksUrl === undefined && tokens.secret === undefined) {
    log.warn('HOLDFAST_JWKS_URL: got nothing, so no token is accepted and only callbacks are served');
  }
  const relaying = runRelays({ temporal, taskQueue, store, log, signal });
  onReady(server.url);
  await aborted(signal);
  await Promise.all([server.stop(), relaying]);
  log.info('the service has stopped');
};

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => {
      resolve();
    });
  });
