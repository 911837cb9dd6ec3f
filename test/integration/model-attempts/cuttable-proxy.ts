import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A way to a database that can be cut and mended, as a network is. */
export interface CuttableProxy {
  readonly url: string;
  /** Breaks every connection and lets none through until mended. */
  cut(): void;
  mend(): void;
  /** Resolves at the next connection that is refused. */
  whenRefused(): Promise<void>;
  close(): Promise<void>;
}

export async function startCuttableProxy(target: string): Promise<CuttableProxy> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  const refused = new Set<() => void>();
  let isCut = false;
  const server = createServer((inner) => {
    if (isCut) {
      inner.destroy();
      for (const tell of refused) tell();
      refused.clear();
      return;
    }
    const outer = connect(Number(port), hostname);
    for (const [socket, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      open.add(socket);
      socket.pipe(other);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a TCP address');
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(address.port);
  const breakAll = () => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: url.href,
    cut: () => {
      isCut = true;
      breakAll();
    },
    mend: () => {
      isCut = false;
    },
    whenRefused: () =>
      new Promise((resolve) => {
        refused.add(resolve);
      }),
    close: async () => {
      breakAll();
      server.close();
      await once(server, 'close');
    },
  };
}
