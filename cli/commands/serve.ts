/** `serve`: the HTTP service in the foreground. */
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { runService } from '../../client/http/run-service';
import { createPostgresStore } from '../../store/postgres';
import { endWithParent } from '../../workers/end-with-parent';
import { loadAgentsOf, tokenKeyOf } from '../agents-of';
import type { Action } from '../context';
import { CommandFailure } from '../errors';
import { describeStack, requireDatabase } from '../services';
import { errorCode } from '../stack/errors';
import { findTargets } from '../targets';

export interface ServeOptions {
  readonly host?: string;
  readonly port?: number;
  readonly agents?: string;
}

/**
 * Prints one line of JSON on standard output when it listens; its log goes to standard error. Neither database nor Temporal
 * has to be there: requests are answered 503 without the one; what they ask for is stored, and done later, without the other.
 */
export const serve: Action<ServeOptions> = async (options, context) => {
  const settings = context.settings();
  const { host = settings.host, port = settings.port } = options;
  const { databaseUrl, temporal, taskQueue, stack } = requireDatabase(findTargets(settings), context);
  if (stack !== undefined) context.output.note(describeStack(stack));
  const agents = await loadAgentsOf(context, { agents: options.agents, stack });
  const tokenKey = tokenKeyOf(context, stack);
  const { namespace, ...connect } = temporal;
  const connection = Connection.lazy(connect);
  const store = createPostgresStore({ url: databaseUrl });
  const log = pino({ level: settings.logLevel, base: { process: 'service', pid: process.pid } }, pino.destination(2));
  try {
    await runService({
      host,
      port,
      store,
      temporal: new Client({ connection, namespace }),
      taskQueue,
      tokens: settings.tokens,
      callbackSecrets: settings.callbacks.secrets,
      ...(agents === undefined ? {} : { agents }),
      ...(tokenKey === undefined ? {} : { tokenKey }),
      log,
      closing: untilStopped(),
      onReady: (url) => {
        context.output.print(JSON.stringify({ ready: true, url }));
      },
    });
  } catch (error) {
    throw explainListening(error, { host, port });
  } finally {
    await Promise.allSettled([connection.close(), store.close()]);
  }
  return 0;
};

const untilStopped = (): AbortSignal => {
  const stop = new AbortController();
  const end = (): void => {
    stop.abort();
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
  endWithParent(end);
  return stop.signal;
};

const explainListening = (error: unknown, { host, port }: Required<Pick<ServeOptions, 'host' | 'port'>>): unknown => {
  const code = errorCode(error);
  if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL' && code !== 'ENOTFOUND') return error;
  const message = `HOLDFAST_HOST, HOLDFAST_PORT: got ${host}:${port}, where this machine does not let it listen (${code}), expected an address of its own and a port that is free`;
  return new CommandFailure('service.cannot_listen', message, { cause: error });
};
