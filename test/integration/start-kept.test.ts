import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { startKept } from '../../cli/dev/start-kept';
import { ProcessGroup } from '../../cli/stack/process-group';
import { waitFor } from '../../cli/stack/wait-for';
import { makeTempDir, removeDir } from '../support/temp-dir';

const LIMIT_MS = 30_000;
/** Answers with its own pid. */
const SERVER = `
const server = require('node:http').createServer((_, response) => response.end(JSON.stringify({ pid: process.pid })));
server.listen(Number(process.argv[2]), '127.0.0.1', () => {
  console.log(JSON.stringify({ ready: true, url: 'http://127.0.0.1:' + server.address().port }));
});
`;
const ANSWER = z.object({ pid: z.int() });

let dir: string;
let ended: unknown[];
let told: string[];
let group: ProcessGroup;

beforeEach(() => {
  dir = makeTempDir('kept');
  ended = [];
  told = [];
  group = new ProcessGroup({ logDir: join(dir, 'logs'), onUnexpectedExit: (name) => ended.push(name) });
  writeFileSync(join(dir, 'server.cjs'), SERVER);
});
afterEach(async () => {
  await group.stop();
  removeDir(dir);
});

const start = (canTakePort = true): Promise<string> =>
  startKept(
    { group, onProgress: (message) => told.push(message) },
    { name: 'desk', canTakePort, at: (port) => ({ script: join(dir, 'server.cjs'), args: [String(port)] }) },
  );

const pidAt = async (url: string): Promise<number | undefined> => {
  try {
    return ANSWER.parse(await (await fetch(url)).json()).pid;
  } catch {
    return undefined; // nobody listens there now
  }
};

/** Kills who answers there, and waits until another one does or the stack was told. */
const killAt = async (url: string): Promise<void> => {
  const killed = await pidAt(url);
  if (killed === undefined) throw new Error(`nobody answers at ${url}`);
  process.kill(killed, 'SIGKILL');
  const isDecided = async (): Promise<boolean> => {
    const now = await pidAt(url);
    return ended.length > 0 || (now !== undefined && now !== killed);
  };
  expect(await waitFor(isDecided, LIMIT_MS)).toBe(true);
};

test('one that is killed is started again at its port, and that is said; too often ends the stack', async () => {
  const url = await start();

  await killAt(url);

  expect(ended).toEqual([]);
  expect(told[0]).toBe(`desk was killed: another one takes over at ${url}`);
  for (let kills = 1; kills < 5; kills += 1) await killAt(url);
  expect(ended).toEqual([]);
  await killAt(url);
  expect(ended).toEqual(['desk']);
});

test('one that cannot be told its port is not started again', async () => {
  const url = await start(false);

  await killAt(url);

  expect({ ended, told }).toEqual({ ended: ['desk'], told: [] });
});
