/** A desk in this process behind a real socket, so that dropped connections and late answers are what they are. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { createDesk } from '../../../../examples/tickets/desk/desk';
import { DeskControl } from '../../../../examples/tickets/desk/desk-client';
import { CALLBACK_SECRET } from './desk-fixture';

export interface ServedDesk {
  readonly url: string;
  readonly control: DeskControl;
  close(): Promise<void>;
}

export const serveDesk = async (): Promise<ServedDesk> => {
  const desk = createDesk({ callbackSecret: CALLBACK_SECRET });
  const server = serve({ fetch: desk.app.fetch, hostname: '127.0.0.1', port: 0 });
  if (!server.listening) await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${String(port)}`;
  return {
    url,
    control: new DeskControl(url),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      if ('closeAllConnections' in server) server.closeAllConnections();
      desk.close();
      await closed;
    },
  };
};
