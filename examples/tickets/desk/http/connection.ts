import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { DeskContext } from './context';

/** Stands for a cut connection where there is none: `app.request` rejects with it, as `fetch` would over a socket. */
export class ConnectionDroppedError extends Error {
  override readonly name = 'ConnectionDroppedError';
}

/** Cuts the connection without a byte of an answer. */
export function dropConnection(c: DeskContext): Response {
  c.set('isDropped', true);
  const { incoming } = bindingsOf(c);
  if (!incoming) throw new ConnectionDroppedError('the desk dropped the connection');
  incoming.socket.destroy();
  return RESPONSE_ALREADY_SENT;
}

/** Resolves when the other side has gone away; never where there is no socket. */
export function clientGone(c: DeskContext): Promise<void> {
  return new Promise((resolve) => {
    bindingsOf(c).outgoing?.once('close', resolve);
  });
}

/** What the server put beside the request; `app.request` puts nothing there, which Hono's types do not know. */
function bindingsOf({ env }: { readonly env: DeskContext['env'] | undefined }): Partial<HttpBindings> {
  return env ?? {};
}
