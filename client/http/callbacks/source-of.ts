/** Whom a refused callback is counted for: the address that the connection comes from. */
import { getConnInfo } from '@hono/node-server/conninfo';
import type { Context } from 'hono';
import { isIPv6 } from 'node:net';

/** Behind a proxy it is the proxy's, so all of them are one; headers that name another are anybody's to write. */
export const sourceOf = (c: Context): string => {
  const isServed = typeof c.env === 'object' && c.env !== null && 'incoming' in c.env;
  const address = isServed ? getConnInfo(c).remote.address : undefined;
  return address === undefined ? 'unknown' : toSource(address);
};

/** Whoever has one address of the sixth version has 2^64 of them. */
export const toSource = (address: string): string => {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const before = head.split(':').filter((group) => group !== '');
  const after = (tail ?? '').split(':').filter((group) => group !== '');
  const zeros = Array.from({ length: tail === undefined ? 0 : 8 - before.length - after.length }, () => '0');
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
};
