import { createServer, type Server } from 'node:net';
import { StackError } from './errors';

const LOOPBACK = '127.0.0.1';

/**
 * Ports of the loopback interface that were free a moment ago, all different.
 * Somebody else may take one before it is used, so whoever starts a server on one tries again with others (`withFreshPorts`).
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const held = await Promise.all(Array.from({ length: count }, () => listen()));
  const ports = held.map(portOf);
  await Promise.all(held.map(close));
  return ports;
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new StackError('stack.port_unavailable', 'no free port on 127.0.0.1');
  return port;
}

const MAX_TRIES = 3;

/** Runs `start`, and once more with other ports when it failed because a port had been taken in between. */
export async function withFreshPorts<T>(count: number, start: (ports: readonly number[]) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await start(await freePorts(count));
    } catch (error) {
      const taken = error instanceof StackError && error.type === 'stack.port_unavailable';
      if (!taken || attempt >= MAX_TRIES) throw error;
    }
  }
}

function listen(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (cause) => {
      reject(new StackError('stack.port_unavailable', `no free port on ${LOOPBACK}: ${cause.message}`, { cause }));
    });
    server.listen(0, LOOPBACK, () => {
      resolve(server);
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a TCP address');
  return address.port;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
  });
}
