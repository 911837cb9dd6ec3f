/** The receiver of callbacks on a real socket and a real database: what is taken, what is refused, and what either leaves. */
import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { Webhook } from 'standardwebhooks';
import { z } from 'zod';
import {
  createCallbackReceiver,
  type CallbackReceiverOptions,
} from '../../../client/http/callbacks/create-callback-receiver';
import { startHttpServer, type HttpServer } from '../../../client/http/server';
import { createPostgresStore, migrate } from '../../../store/postgres';
import type { Store } from '../../../store/store';
import { operationIdOf, parseRunId, type OperationId } from '../../../workflows/contract/ids';
import type { RunRef } from '../../../workflows/contract/records';
import { startTestDatabase, type TestDatabase } from '../../support/databases';
import { createdOperation, dispatchedOperation, endAs, startedRun } from '../../support/store-contract/fixtures';
import { startCuttableProxy, type CuttableProxy } from '../model-attempts/cuttable-proxy';

const [NEW_KEY, OLD_KEY, OTHER_KEY] = [randomBytes(32), randomBytes(24), randomBytes(32)] as const;
const BODY = '{"job":"J3","type":"job.done"}';
const NOW_S = Math.floor(Date.now() / 1000);

let database: TestDatabase;
let proxy: CuttableProxy;
let store: Store;
let server: HttpServer;
let signalled: OperationId[] = [];
let canSignal = true;
let ref: RunRef;
let operation: OperationId;
const logged: string[] = [];

beforeAll(async () => {
  database = await startTestDatabase({
    migrate: async (url) => {
      await migrate(url);
    },
  });
  proxy = await startCuttableProxy(database.url);
  store = createPostgresStore({ url: proxy.url });
  server = await serve({ callbacksPerMinute: 10_000, forgedCallbacksPerMinute: 10_000 });
});

const serve = (limits: CallbackReceiverOptions['limits']): Promise<HttpServer> => {
  const receiver = createCallbackReceiver({
    store,
    secrets: [NEW_KEY, OLD_KEY],
    log: pino({ level: 'trace' }, { write: (line: string) => logged.push(line) }),
    signal: (_ref, id) => {
      signalled.push(id);
      return canSignal ? Promise.resolve() : Promise.reject(new Error('the engine is away'));
    },
    limits,
  });
  return startHttpServer(receiver, { host: '127.0.0.1', port: 0 });
};

beforeEach(async () => {
  signalled = [];
  canSignal = true;
  ref = await startedRun(store);
  operation = await dispatchedOperation(store, ref);
});

afterAll(async () => {
  await server.stop(0);
  await store.close();
  await proxy.close();
  await database.drop();
});

type Header = readonly [name: string, value: string];

interface Given {
  readonly body?: string | Buffer;
  readonly id?: string;
  readonly key?: Buffer;
  readonly at?: number;
  readonly to?: string;
  readonly method?: string;
  readonly isChunked?: boolean;
  /** Instead of those of a right request, by name. */
  readonly headers?: readonly Header[];
  readonly without?: readonly string[];
  readonly server?: HttpServer;
  /** The address that it is sent from. */
  readonly from?: string;
}

const PROBLEM = z.strictObject({ type: z.string(), title: z.string(), status: z.int(), code: z.string() });

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly code?: string;
}

/** Signs as the specification says, apart from any library. */
const signatureOf = (id: string, at: number | string, body: Buffer, key: Buffer): string =>
  `v1,${createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest('base64')}`;

const send = async (given: Given = {}): Promise<Answer> => {
  const body = Buffer.from(given.body ?? BODY);
  const { id = 'evt_1', key = NEW_KEY, at = NOW_S, to = operation, isChunked = false } = given;
  const { url } = given.server ?? server;
  const right: readonly Header[] = [
    ['Host', new URL(url).host],
    ['Content-Type', 'application/json'],
    ['webhook-id', id],
    ['webhook-timestamp', String(at)],
    ['webhook-signature', signatureOf(id, at, body, key)],
    ...(isChunked ? [] : [['Content-Length', String(body.length)] as const]),
  ];
  const changed = new Set([...(given.headers ?? []).map(([name]) => name), ...(given.without ?? [])]);
  const headers = [...right.filter(([name]) => !changed.has(name)), ...(given.headers ?? [])].flat();
  const local = given.from === undefined ? {} : { localAddress: given.from };
  const options = { method: given.method ?? 'POST', headers, agent: false, ...local };
  const sent = request(`${url}/v1/callbacks/${to}`, options);
  // A receiver that refuses a large body closes before it is sent.
  sent.on('error', () => undefined);
  sent.end(body);
  const [response] = z.tuple([z.custom<IncomingMessage>()]).parse(await once(sent, 'response'));
  const text = (await buffer(response)).toString();
  const answer = { status: response.statusCode ?? 0, headers: response.headers };
  if (answer.status === 204) return answer;
  expect(response.headers['content-type']).toBe('application/problem+json');
  const problem = PROBLEM.parse(JSON.parse(text));
  expect(problem).toMatchObject({ status: answer.status, type: `urn:holdfast:problem:${problem.code}` });
  return { ...answer, code: problem.code };
};

const journal = async (): Promise<readonly (string | undefined)[]> =>
  (await store.journal.list(ref, { after: 0, limit: 100 })).map(({ eventId }) => eventId);

describe('R50: what is taken is taken exactly as it arrived', () => {
  test.each<[string, string | Buffer]>([
    ['blanks', '{ "job" :  "J3" }'],
    ['a number that is written as 1.0', '{"n":1.0}'],
    ['an escape', String.raw`{"name":"\u00e9"}`],
    ['the same as a character', '{"name":"é"}'],
    ['the same, decomposed', '{"name":"e\u0301"}'],
    ['keys in another order', '{"z":1,"a":2}'],
    ['a newline at the end', `${BODY}\n`],
    ['a byte order mark', `\uFEFF${BODY}`],
    ['integers of 64 bits', '{"n":9223372036854775807}'],
    ['no JSON', '{"job":'],
    ['no UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
    ['a NUL', '{"a":"\0"}'],
    ['a mebibyte', Buffer.alloc(1024 * 1024, 'x')],
  ])('%s', async (_title, body) => {
    expect(await send({ body })).toMatchObject({ status: 204 });

    const [report] = await store.inbox.unsettled(ref, operation);
    if (report === undefined) throw new Error('nothing was stored');
    const stored = await store.artifacts.get(ref.tenant, report.body);
    expect(Buffer.from(stored?.bytes ?? []).equals(Buffer.from(body))).toBe(true);
    expect(await journal()).toEqual([`callback:${operation}:evt_1`]);
    expect(signalled).toEqual([operation]);
  });

  test('a signature over bytes that read the same is no signature of these', async () => {
    const [one, other] = [Buffer.from([0x7b, 0xff, 0x7d]), Buffer.from([0x7b, 0xfe, 0x7d])];
    const signature = signatureOf('evt_1', NOW_S, one, NEW_KEY);

    expect(await send({ body: other, headers: [['webhook-signature', signature]] })).toMatchObject({
      status: 401,
      code: 'callback.signature_invalid',
    });
    expect(await send({ body: one, headers: [['webhook-signature', signature]] })).toMatchObject({ status: 204 });
  });

  test('as the published library signs it, also in pieces without a length', async () => {
    const signature = new Webhook(NEW_KEY.toString('base64')).sign('evt_1', new Date(NOW_S * 1000), BODY);

    expect(await send({ headers: [['webhook-signature', signature]], isChunked: true })).toMatchObject({ status: 204 });
  });

  test.each<Header>([
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Content-Type', 'application/cloudevents+json'],
    ['Content-Encoding', 'identity'],
    ['webhook-id', 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W.1'],
  ])('%s: %s', async (name, value) => {
    const id = name === 'webhook-id' ? { id: value } : { headers: [[name, value] as const] };

    expect(await send(id)).toMatchObject({ status: 204 });
  });
});

describe('R47: secrets that are being replaced', () => {
  test('the new one and the old one are both valid, alone and side by side', async () => {
    const both = `${signatureOf('evt_3', NOW_S, Buffer.from(BODY), OTHER_KEY)} v1a,AAAA ${signatureOf('evt_3', NOW_S, Buffer.from(BODY), OLD_KEY)}`;

    expect(await send({ id: 'evt_1', key: NEW_KEY })).toMatchObject({ status: 204 });
    expect(await send({ id: 'evt_2', key: OLD_KEY })).toMatchObject({ status: 204 });
    expect(await send({ id: 'evt_3', headers: [['webhook-signature', both]] })).toMatchObject({ status: 204 });
    expect(await send({ id: 'evt_4', key: OTHER_KEY })).toMatchObject({ status: 401 });
    expect((await store.inbox.list(ref)).map(({ eventId }) => eventId)).toEqual(['evt_1', 'evt_2', 'evt_3']);
  });
});

describe('C2: the same delivery again', () => {
  test('in turn and at once: each is answered 2xx, and it is there once, with one signal', async () => {
    const answers = [await send(), ...(await Promise.all([send(), send(), send(), send()]))];

    expect(answers.map(({ status }) => status)).toEqual([204, 204, 204, 204, 204]);
    expect(await store.inbox.list(ref)).toHaveLength(1);
    expect(await journal()).toEqual([`callback:${operation}:evt_1`]);
    expect(signalled).toEqual([operation]);
  });
});

describe('C3, R50: what is refused changes nothing and is journaled once', () => {
  const TWICE = signatureOf('evt_1', NOW_S, Buffer.from(BODY), NEW_KEY);

  test.each<[string, Given, string]>([
    ['another secret', { key: OTHER_KEY }, 'callback.signature_invalid'],
    [
      'another body',
      { headers: [['webhook-signature', signatureOf('evt_1', NOW_S, Buffer.from('{}'), NEW_KEY)]] },
      'callback.signature_invalid',
    ],
    ['another id', { headers: [['webhook-id', 'evt_2']] }, 'callback.signature_invalid'],
    ['another time', { headers: [['webhook-timestamp', String(NOW_S - 1)]] }, 'callback.signature_invalid'],
    ['a short signature', { headers: [['webhook-signature', 'v1,AAAA']] }, 'callback.signature_invalid'],
    ['a long signature', { headers: [['webhook-signature', `v1,${'A'.repeat(3000)}`]] }, 'callback.signature_invalid'],
    [
      'far too many',
      { headers: [['webhook-signature', Array(99).fill(TWICE).join(' ')]] },
      'callback.signature_invalid',
    ],
    ['no version', { headers: [['webhook-signature', TWICE.slice(3)]] }, 'callback.signature_invalid'],
    [
      'an unknown version',
      { headers: [['webhook-signature', TWICE.replace('v1', 'v2')]] },
      'callback.signature_invalid',
    ],
    ['an empty signature', { headers: [['webhook-signature', '']] }, 'callback.signature_invalid'],
    [
      'the signature twice',
      {
        headers: [
          ['webhook-signature', TWICE],
          ['webhook-signature', TWICE],
        ],
      },
      'callback.signature_invalid',
    ],
    [
      'the id twice',
      {
        headers: [
          ['webhook-id', 'evt_1'],
          ['webhook-id', 'evt_1'],
        ],
      },
      'callback.signature_invalid',
    ],
    [
      'the time twice',
      {
        headers: [
          ['webhook-timestamp', String(NOW_S)],
          ['webhook-timestamp', String(NOW_S)],
        ],
      },
      'callback.signature_invalid',
    ],
    ['a time with a fraction', { headers: [['webhook-timestamp', `${NOW_S}.5`]] }, 'callback.signature_invalid'],
    ['no signature', { without: ['webhook-signature'] }, 'callback.signature_missing'],
    ['no time', { without: ['webhook-timestamp'] }, 'callback.signature_missing'],
    ['six minutes old', { at: NOW_S - 360 }, 'callback.expired'],
    ['six minutes early', { at: NOW_S + 360 }, 'callback.expired'],
  ])('%s: 401', async (_title, given, code) => {
    const answers = [await send(given), await send(given)];

    for (const answer of answers) expect(answer).toMatchObject({ status: 401, code });
    expect(answers[0]?.headers['www-authenticate']).toBeDefined();
    expect(await store.inbox.list(ref)).toEqual([]);
    expect(signalled).toEqual([]);
    expect(await journal()).toEqual([expect.stringContaining(`callback_refused:${operation}:${code}:`)]);
    expect((await store.operations.get(ref, operation))?.state).toBe('DISPATCHED');
  });

  test('four and a half minutes either way is in time', async () => {
    expect(await send({ id: 'evt_1', at: NOW_S - 270 })).toMatchObject({ status: 204 });
    expect(await send({ id: 'evt_2', at: NOW_S + 270 })).toMatchObject({ status: 204 });
  });

  test.each<[string, Given, number, string]>([
    ['no body', { body: '' }, 400, 'callback.body_empty'],
    ['another type', { headers: [['Content-Type', 'text/plain']] }, 415, 'callback.media_type'],
    ['no type', { without: ['Content-Type'] }, 415, 'callback.media_type'],
    [
      'another charset',
      { headers: [['Content-Type', 'application/json; charset=latin1']] },
      415,
      'callback.media_type',
    ],
    ['packed', { body: gzipSync(BODY), headers: [['Content-Encoding', 'gzip']] }, 415, 'callback.media_type'],
    ['too large', { body: Buffer.alloc(1024 * 1024 + 1) }, 413, 'callback.too_large'],
    [
      'too large, without a length',
      { body: Buffer.alloc(3 * 1024 * 1024), isChunked: true },
      413,
      'callback.too_large',
    ],
    ['another method', { method: 'PUT' }, 405, 'callback.method'],
  ])('%s', async (_title, given, status, code) => {
    expect(await send(given)).toMatchObject({ status, code });

    expect(await store.inbox.list(ref)).toEqual([]);
    expect(await journal()).toEqual([]);
    expect(signalled).toEqual([]);
  });

  test('signed, for what is no operation, a read, or one that nobody has: 404 all alike', async () => {
    const read = await createdOperation(store, ref, { ordinal: 2, effect: 'read' });
    const names = [
      'op_x',
      encodeURIComponent("'; drop table runs; --"),
      read,
      operationIdOf(ref.run, 9, 9),
      operationIdOf(parseRunId('run_nobodyhasthis'), 1, 1),
    ];

    for (const to of names) {
      expect(await send({ to })).toMatchObject({ status: 404, code: 'callback.operation_unknown' });
    }
    expect(await store.inbox.list(ref)).toEqual([]);
    expect(await journal()).toEqual([]);
    expect(signalled).toEqual([]);
  });

  test('forged, for one that nobody has: the same answer as for one that there is', async () => {
    expect(await send({ to: operationIdOf(ref.run, 9, 9), key: OTHER_KEY })).toMatchObject({
      status: 401,
      code: 'callback.signature_invalid',
    });
  });
});

describe('a flood', () => {
  let small: HttpServer;
  beforeEach(async () => {
    small = await serve({ callbacksPerMinute: 3, forgedCallbacksPerMinute: 2 });
  });
  afterEach(() => small.stop(0));

  const LIMITED = { status: 429, code: 'rate.limited' };

  test('of forged ones is refused without asking the database, and takes nothing from the real sender', async () => {
    const forge = (given: Given = {}): Promise<Answer> => send({ server: small, key: OTHER_KEY, ...given });
    for (const id of ['evt_1', 'evt_2']) expect(await forge({ id })).toMatchObject({ status: 401 });
    for (let left = 20; left > 0; left -= 1) expect(await forge({ id: `evt_more_${left}` })).toMatchObject(LIMITED);
    expect(Number((await forge()).headers['retry-after'])).toBeGreaterThan(0);
    expect(await journal()).toHaveLength(2);

    // From the same address, as behind one proxy.
    expect(await send({ server: small, id: 'evt_real' })).toMatchObject({ status: 204 });
    expect(await store.inbox.list(ref)).toHaveLength(1);
  });

  test('of forged ones from one address leaves those from another their answer', async () => {
    for (let left = 3; left > 0; left -= 1) await send({ server: small, key: OTHER_KEY });
    expect(await send({ server: small, key: OTHER_KEY })).toMatchObject(LIMITED);
    expect(await send({ server: small, key: OTHER_KEY, from: '127.0.0.2' })).toMatchObject({ status: 401 });
  });

  test('of old ones that were rightly signed is one of forged ones', async () => {
    for (let left = 4; left > 0; left -= 1) await send({ server: small, at: NOW_S - 360, id: `evt_old_${left}` });
    expect(await send({ server: small, at: NOW_S - 360 })).toMatchObject(LIMITED);
    expect(await send({ server: small })).toMatchObject({ status: 204 });
  });

  test('of signed ones waits, and those about another operation do not', async () => {
    for (const id of ['evt_1', 'evt_2', 'evt_3'])
      expect(await send({ server: small, id })).toMatchObject({ status: 204 });
    const refused = await send({ server: small, id: 'evt_4' });
    expect(refused).toMatchObject(LIMITED);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(await send({ server: small, id: 'evt_4', to: 'op_abcdef00_1_1' })).toMatchObject({ status: 404 });
    expect(await store.inbox.list(ref)).toHaveLength(3);
  });
});

test('after the end of the run it is kept, and no signal is sent to it', async () => {
  await store.operations.settle(ref, operation, { state: 'UNKNOWN' });
  await store.runs.commit({ ref, events: [] }, endAs(ref, 'EXPIRED', 'deadline'));

  expect(await send()).toMatchObject({ status: 204 });

  expect(await store.inbox.unsettled(ref, operation)).toHaveLength(1);
  expect(await journal()).toContain(`callback:${operation}:evt_1`);
  expect(signalled).toEqual([]);
});

test('a run that cannot be woken at once is woken later: it is stored all the same', async () => {
  canSignal = false;

  expect(await send()).toMatchObject({ status: 204 });

  expect(signalled).toEqual([operation]);
  expect(await store.inbox.unsettled(ref, operation)).toHaveLength(1);
});

test('while the database is away nothing is acknowledged; the delivery that comes again is taken', async () => {
  proxy.cut();
  const away = await send();
  const forged = await send({ key: OTHER_KEY });
  proxy.mend();
  const again = await send();

  expect(away).toMatchObject({ status: 503, code: 'callback.unavailable', headers: { 'retry-after': '5' } });
  expect(forged).toMatchObject({ status: 401 });
  expect(again).toMatchObject({ status: 204 });
  expect(await store.inbox.list(ref)).toHaveLength(1);
});

test('neither bodies nor secrets nor signatures are logged', () => {
  const text = logged.join('');

  expect(text).toContain('a callback was stored');
  expect(text).not.toContain('job.done');
  expect(text).not.toContain('v1,');
  for (const key of [NEW_KEY, OLD_KEY]) expect(text).not.toContain(key.toString('base64'));
});
