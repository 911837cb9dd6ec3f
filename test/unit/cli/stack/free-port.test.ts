import { expect, test } from '@jest/globals';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { StackError } from '../../../../cli/stack/errors';
import { freePort, freePorts, withFreshPorts } from '../../../../cli/stack/free-port';

const taken = (): StackError => new StackError('stack.port_unavailable', 'taken');

test('ports are different and can be listened on', async () => {
  const ports = await freePorts(20);
  const server = createServer().listen(await freePort(), '127.0.0.1');
  await once(server, 'listening');
  server.close();

  expect(new Set(ports).size).toBe(20);
});

test('a start whose port was taken is tried again with others', async () => {
  const seen: (readonly number[])[] = [];

  const result = await withFreshPorts(2, (ports) => {
    seen.push(ports);
    return seen.length < 3 ? Promise.reject(taken()) : Promise.resolve('up');
  });

  expect(result).toBe('up');
  expect(seen.map((ports) => ports.length)).toEqual([2, 2, 2]);
});

test('it gives up after three, and at once on any other failure', async () => {
  let starts = 0;
  const failing = (error: Error) => () => {
    starts += 1;
    return Promise.reject(error);
  };

  await expect(withFreshPorts(1, failing(taken()))).rejects.toThrow('taken');
  expect(starts).toBe(3);
  await expect(withFreshPorts(1, failing(new Error('other')))).rejects.toThrow('other');
  expect(starts).toBe(4);
});
