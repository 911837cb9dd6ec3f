/** An app on a port, and its end: what has been asked is answered, for a while. */
import type { AddressInfo } from 'node:net';
import { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';

export interface HttpServer {
  /** Without a path; with the port that it got where 0 was asked for. */
  readonly url: string;
  readonly port: number;
  /** Takes nothing new, and ends what is still open after `graceMs` (5 s). Idempotent. */
  stop(graceMs?: number): Promise<void>;
}

export interface ServedApp {
  /** `env` names the connection that the request came by. */
  fetch(request: Request, env?: object): Response | Promise<Response>;
}

export interface ListenOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
}

const GRACE_MS = 5_000;
/** For a request to arrive as a whole; how long it takes to answer is not limited here. */
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;

/** Throws what the system says where it cannot listen (`EADDRINUSE`, `EACCES`). */
export const startHttpServer = async (app: ServedApp, { host, port }: ListenOptions): Promise<HttpServer> => {
  const server = createAdaptorServer({ fetch: (request, env) => app.fetch(request, env) });
  if (!(server instanceof Server)) throw new TypeError('a plain HTTP server was made');
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.headersTimeout = HEADERS_TIMEOUT_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const listening = portOf(server.address());
  let stopping: Promise<void> | undefined;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${String(listening)}`,
    port: listening,
    stop: (graceMs = GRACE_MS) => (stopping ??= stopServer(server, graceMs)),
  };
};

const portOf = (address: AddressInfo | string | null): number =>
  typeof address === 'object' && address !== null ? address.port : 0;

const stopServer = (server: Server, graceMs: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.closeAllConnections();
    }, graceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
