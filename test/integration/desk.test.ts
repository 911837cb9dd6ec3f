import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { DeskControl } from '../../examples/tickets/desk/desk-client';
import { startDeskProcess, type DeskProcess } from '../../examples/tickets/desk/desk-process';

const MAIN_PATH = join(__dirname, '../../examples/tickets/desk/main.ts');
const NODE_ARGUMENTS = ['-r', join(__dirname, '../support/ts-register.cjs')];
const SECRET = `whsec_${Buffer.from('the secret of the desk under test').toString('base64')}`;
const EVENTUALLY_LIMIT_MS = 10_000;

let directory: string;
let desk: DeskProcess;
let control: DeskControl;

const startDesk = (dataDirectory?: string): Promise<DeskProcess> =>
  startDeskProcess({
    mainPath: MAIN_PATH,
    nodeArguments: NODE_ARGUMENTS,
    callbackSecretFile: join(directory, 'secret'),
    ...(dataDirectory !== undefined && { dataDirectory }),
  });

const comment = (key: string, { url = desk.url, headers = {}, signal }: CommentOptions = {}): Promise<Response> =>
  fetch(`${url}/tickets/T100/comments`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key, ...headers },
    body: JSON.stringify({ text: key }),
    ...(signal && { signal }),
  });

interface CommentOptions {
  readonly url?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'desk-'));
  writeFileSync(join(directory, 'secret'), `${SECRET}\n`);
  desk = await startDesk();
  control = new DeskControl(desk.url);
});

beforeEach(() => control.reset());

afterAll(async () => {
  await desk.stop();
  rmSync(directory, { recursive: true });
});

test.each([
  ['apply-then-drop', 1],
  ['drop-before-apply', 0],
] as const)('%s cuts the socket with %d effect(s); the next request is served', async (kind, effects) => {
  await control.addFault({ match: { route: 'comment' }, fault: { kind } });

  await expect(comment('k1')).rejects.toThrow('fetch failed');

  expect(await control.effects()).toHaveLength(effects);
  expect((await comment('k2')).status).toBe(200);
  expect((await control.requests()).map(({ outcome }) => outcome)).toEqual(['dropped', 200]);
});

test('apply-late cuts the socket and has its effect afterwards', async () => {
  await control.addFault({ match: { route: 'comment' }, fault: { kind: 'apply-late', delayMs: 150 } });

  await expect(comment('k1')).rejects.toThrow('fetch failed');

  expect(await control.effects()).toEqual([]);
  const [effect] = await eventually(
    () => control.effects(),
    (effects) => effects.length > 0,
  );
  expect(effect).toMatchObject({ key: 'k1' });
});

test('a caller that gives up while the desk holds the request does not stop the effect', async () => {
  await control.addFault({ match: { route: 'comment' }, fault: { kind: 'hold-then-apply', delayMs: 150 } });

  await expect(comment('k1', { signal: AbortSignal.timeout(30) })).rejects.toMatchObject({ name: 'TimeoutError' });

  expect(await control.effects()).toEqual([]);
  expect(
    await eventually(
      () => control.effects(),
      (effects) => effects.length > 0,
    ),
  ).toHaveLength(1);
});

test('a request that hangs ends when its caller gives up, and leaves nothing behind', async () => {
  await control.addFault({ match: { route: 'lookup' }, fault: { kind: 'hang' } });

  const hanging = fetch(`${desk.url}/operations/k1`, { signal: AbortSignal.timeout(50) });
  await expect(hanging).rejects.toMatchObject({ name: 'TimeoutError' });

  const requests = await eventually(
    () => control.requests(),
    ([first]) => first?.outcome === 'dropped',
  );
  expect(requests).toHaveLength(1);
});

test.each([{ fillBytes: 3_000_000 }, { fillBytes: 0 }])('a wrong body arrives as it is: %j', async (content) => {
  await control.addFault({ match: { route: 'get_ticket' }, fault: { kind: 'body', content } });

  const response = await fetch(`${desk.url}/tickets/T100`);

  expect((await response.arrayBuffer()).byteLength).toBe(content.fillBytes);
});

test('callbacks arrive over HTTP with signatures that hold over the bytes received', async () => {
  const receiver = await openReceiver();
  await control.addFault({ match: { route: 'comment' }, fault: { kind: 'accept-job', runMs: 10 } });

  const accepted = await comment('k1', { headers: { 'Callback-Url': `${receiver.url}/v1/callbacks/op_9` } });
  const received = await eventually(
    () => receiver.received,
    ({ length }) => length === 3,
  );
  await receiver.close();

  expect(accepted.status).toBe(202);
  expect(received.map(({ path }) => path)).toEqual(Array(3).fill('/v1/callbacks/op_9'));
  const events = received.map(({ payload, headers }) => new Webhook(SECRET).verify(payload, signatureOf(headers)));
  expect(events).toMatchObject([{ type: 'job.accepted' }, { type: 'job.running' }, { type: 'job.done', key: 'k1' }]);
});

test('forged callbacks do not verify, and early ones come before the 202', async () => {
  const receiver = await openReceiver();
  const match = { route: 'comment' } as const;
  await control.addFault({ match, times: 2, fault: { kind: 'accept-job', runMs: 10_000 } });
  await control.addFault({ match, fault: { kind: 'callback', when: 'early' } });
  await control.addFault({ match, fault: { kind: 'callback', when: 'forged' } });

  await comment('early', { headers: { 'Callback-Url': receiver.url } });
  const early = [...receiver.received];
  await comment('forged', { headers: { 'Callback-Url': receiver.url } });
  const received = await eventually(
    () => receiver.received,
    ({ length }) => length === 5,
  );
  await receiver.close();

  expect(early.map(({ payload }) => JSON.parse(payload) as unknown)).toMatchObject([
    { type: 'job.accepted' },
    { type: 'job.running' },
    { type: 'job.done', effect: { key: 'early' } },
  ]);
  for (const { payload, headers } of received.slice(3)) {
    expect(() => new Webhook(SECRET).verify(payload, signatureOf(headers))).toThrow('No matching signature');
  }
});

test('killed in the middle of its work, the desk has everything that it acknowledged, once', async () => {
  const dataDirectory = join(directory, 'killed');
  const first = await startDesk(dataDirectory);
  const acknowledged: string[] = [];
  const writers = ['a', 'b', 'c', 'd'].map(async (writer) => {
    for (let index = 0; index < 1_000; index += 1) {
      const key = `${writer}${String(index)}`;
      const response = await comment(key, { url: first.url }).catch(() => undefined);
      if (response?.status !== 200) return key;
      acknowledged.push(key);
      if (acknowledged.length === 40) await first.stop('SIGKILL');
    }
    throw new Error('the desk was never killed');
  });
  const cutOff = await Promise.all(writers);

  const second = await startDesk(dataDirectory);
  const survived = (await new DeskControl(second.url).effects()).map(({ key }) => key);
  for (const key of [...acknowledged, ...cutOff]) await comment(key, { url: second.url });
  const keys = (await new DeskControl(second.url).effects()).map(({ key }) => key);
  await second.stop();

  expect((await first.exited).signal).toBe('SIGKILL');
  expect(survived).toEqual(expect.arrayContaining(acknowledged));
  expect([...keys].sort()).toEqual([...acknowledged, ...cutOff].sort());
});

test('killed while a job is open, the desk finishes it and calls back', async () => {
  const dataDirectory = join(directory, 'job');
  const receiver = await openReceiver();
  const first = await startDesk(dataDirectory);
  const fault = { kind: 'accept-job', manual: true } as const;
  await new DeskControl(first.url).addFault({ match: { route: 'comment' }, fault });
  await comment('k1', { url: first.url, headers: { 'Callback-Url': receiver.url } });
  await eventually(
    () => receiver.received,
    ({ length }) => length === 2,
  );
  await first.stop('SIGKILL');

  const second = await startDesk(dataDirectory);
  const job = await new DeskControl(second.url).finishJob('J3');
  const isDone = (received: readonly Received[]) => received.some(({ payload }) => payload.includes('job.done'));
  await eventually(() => receiver.received, isDone);
  await Promise.all([second.stop(), receiver.close()]);

  expect(job).toMatchObject({ status: 'done', effect: { id: 'F1', key: 'k1' } });
});

test('the desk ends cleanly on SIGTERM, also while it holds requests', async () => {
  const held = await startDesk();
  await new DeskControl(held.url).addFault({ match: { route: 'comment' }, fault: { kind: 'hang' } });
  const hanging = expect(comment('k1', { url: held.url })).rejects.toThrow('fetch failed');
  const isReceived = (requests: readonly unknown[]) => requests.length === 1;
  await eventually(() => new DeskControl(held.url).requests(), isReceived);

  const exit = await held.stop('SIGTERM');

  await hanging;
  expect(exit).toEqual({ code: 0, signal: null });
});

test('with --exit-with-parent the desk ends when its standard input closes', async () => {
  const child = spawn(process.execPath, [...NODE_ARGUMENTS, MAIN_PATH, '--exit-with-parent'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');

  child.stdin.end();

  expect(await exited).toEqual([0, null]);
});

test.each([
  [['--port', '70000'], 2, 'port'],
  [['--colour'], 2, '--colour'],
  [['--callback-secret-file', '/nowhere/secret'], 1, '/nowhere/secret'],
])('started with %j the desk says what is wrong and ends with %d', async (flags, exitCode, named) => {
  const { code, stderr } = await runMain(flags);

  expect(code).toBe(exitCode);
  expect(stderr).toContain(named);
});

test('a port that is taken is an error, not a desk elsewhere', async () => {
  const { code, stderr } = await runMain(['--port', new URL(desk.url).port]);

  expect(code).toBe(1);
  expect(stderr).toContain('EADDRINUSE');
});

/** Reads until the value is the wanted one, and fails with the last one read. */
async function eventually<Value>(
  read: () => Value | Promise<Value>,
  isWanted: (value: Value) => boolean,
): Promise<Value> {
  const deadline = Date.now() + EVENTUALLY_LIMIT_MS;
  for (;;) {
    const value = await read();
    if (isWanted(value)) return value;
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(value)}`);
    await pause(5);
  }
}

interface Received {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly payload: string;
}

/** A receiver of callbacks on a free port. */
async function openReceiver() {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ path: request.url, headers: request.headers, payload: Buffer.concat(chunks).toString('utf8') });
      response.writeHead(204).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${String(address.port)}`, received, close };
}

function signatureOf(headers: IncomingHttpHeaders): Record<string, string> {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return Object.fromEntries(names.map((name) => [name, String(headers[name])]));
}

function runMain(flags: readonly string[]): Promise<{ readonly code: unknown; readonly stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...NODE_ARGUMENTS, MAIN_PATH, ...flags], { timeout: 20_000 }, (error, _out, stderr) => {
      resolve({ code: error?.code ?? 0, stderr });
    });
  });
}
