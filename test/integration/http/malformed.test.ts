/**
 * Ten thousand malformed requests, made from the service's own OpenAPI document: each is answered with a problem below 500,
 * and nothing in the process breaks. The seed is printed where one is not.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { createApp } from '../../../client/http/app';
import { describeApi } from '../../../client/http/describe-api';
import { describeOnly } from '../../../client/http/describe-only';
import { setHttpStage, type HttpStage } from '../../support/http/http-stage';
import { newRef, newWait, startedRun } from '../../support/store-contract/fixtures';

const SCHEMA = z.looseObject({ type: z.union([z.string(), z.array(z.string())]).optional() });
const OPERATION = z.looseObject({
  parameters: z
    .array(z.looseObject({ name: z.string(), in: z.enum(['path', 'query', 'header']), schema: SCHEMA }))
    .default([]),
  requestBody: z.looseObject({ content: z.record(z.string(), z.looseObject({ schema: SCHEMA })) }).optional(),
});
const DOCUMENT = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), OPERATION)),
  components: z.looseObject({
    schemas: z.record(z.string(), z.looseObject({ properties: z.record(z.string(), z.unknown()).optional() })),
  }),
});

const document = DOCUMENT.parse(describeApi(createApp(describeOnly())));
/** Names of members that some body has: a fuzzer that knows them gets past the first check. */
const MEMBERS = [
  ...new Set(Object.values(document.components.schemas).flatMap(({ properties }) => Object.keys(properties ?? {}))),
];
// What needs no token says how the service is, whatever the request; and rendering all figures takes longer than the rest.
const WITHOUT_TOKEN = ['/healthz', '/readyz', '/metrics'];
const ROUTES = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(WITHOUT_TOKEN.includes(path) ? {} : operations).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    ...operation,
  })),
);

const REQUESTS = 10_000;
/** At once: twice the connections to the database. */
const BATCH = 12;

let stage: HttpStage;
let authorization: string;
let known: Readonly<Record<string, string>>;
const rejections: unknown[] = [];
const note = (reason: unknown): void => {
  rejections.push(reason);
};

beforeAll(async () => {
  process.on('unhandledRejection', note);
  process.on('uncaughtExceptionMonitor', note);
  stage = await setHttpStage({ deps: { limits: { responsesPerMinute: 1_000_000, heartbeatMs: 10 } } });
  const ref = await startedRun(stage.store, { ref: newRef('acme') });
  const { row } = await stage.store.waits.open({ ref, events: [] }, newWait(ref, 1));
  known = { run: ref.run, wait: row.id, hash: row.plan };
  authorization = `Bearer ${await stage.tokenOf({ tenant: 'acme', subject: 'fuzz', roles: ['viewer', 'approver', 'operator'] })}`;
});
afterAll(async () => {
  process.off('unhandledRejection', note);
  process.off('uncaughtExceptionMonitor', note);
  await stage.close();
});

const odd = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e999',
    'NaN',
    'null',
    '%00',
    '../..',
    "' or 1=1 --",
    '\u0000',
    '\ud800',
    '9'.repeat(400),
  ),
  fc.integer().map(String),
  fc.double().map(String),
);

const body = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc
    .dictionary(fc.constantFrom(...MEMBERS, '__proto__', 'constructor'), fc.oneof(fc.jsonValue({ maxDepth: 3 }), odd), {
      maxKeys: 8,
    })
    .map((value) => JSON.stringify(value)),
  fc.constantFrom('', '[', '{}', '[]', 'null', '"x"', '{"a":'.repeat(2_000), `{"goal":"${'x'.repeat(300_000)}"}`),
);

const request = fc.constantFrom(...ROUTES).chain((route) =>
  fc.record({
    route: fc.constant(route),
    parameters: fc.tuple(...route.parameters.map(() => fc.option(odd, { nil: undefined }))),
    method: fc.oneof(
      { weight: 9, arbitrary: fc.constant(route.method) },
      { weight: 1, arbitrary: fc.constantFrom('PUT', 'DELETE', 'PATCH', 'OPTIONS') },
    ),
    type: fc.oneof(
      { weight: 8, arbitrary: fc.constant<string | undefined>('application/json') },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          undefined,
          'text/plain',
          'application/x-www-form-urlencoded',
          'multipart/form-data',
          ';;',
        ),
      },
    ),
    body,
    extra: fc.option(fc.tuple(odd, odd), { nil: undefined }),
  }),
);
type Odd = typeof request extends fc.Arbitrary<infer T> ? T : never;

/** What a header cannot hold is left out: no client could send it. */
const isSendable = (value: string): boolean => /^[\x20-\x7e]*$/.test(value);

const toRequest = ({ route, parameters, method, type, body: text, extra }: Odd): Request => {
  const headers = new Headers({ Authorization: authorization });
  const query = new URLSearchParams(extra === undefined ? [] : [[...extra]]);
  let path = route.path;
  for (const [index, { name, in: place }] of route.parameters.entries()) {
    const value = parameters[index];
    if (place === 'path') path = path.replace(`{${name}}`, encode(value ?? known[name] ?? ''));
    else if (value === undefined) continue;
    else if (place === 'query') query.append(name, value);
    else if (isSendable(value)) headers.set(name, value);
  }
  if (type !== undefined) headers.set('Content-Type', type);
  const hasBody = method !== 'GET';
  return new Request(`http://fuzz.local${path}?${query.toString()}`, {
    method,
    headers,
    ...(hasBody ? { body: text } : {}),
  });
};

const encode = (value: string): string => encodeURIComponent(value.replace(/[\ud800-\udfff]/g, '�'));

const show = ({ route, ...rest }: Odd): string =>
  `${route.method} ${route.path} ${JSON.stringify(rest).slice(0, 2_000)}`;

test('ten thousand malformed requests are answered below 500', async () => {
  const seed = Number(process.hrtime.bigint() % 2_147_483_647n);
  const requests = fc.sample(request, { numRuns: REQUESTS, seed });
  const statuses = new Map<number, number>();
  const broken: string[] = [];
  for (let from = 0; from < REQUESTS; from += BATCH) {
    await Promise.all(
      requests.slice(from, from + BATCH).map(async (each) => {
        const response = await stage.app.request(toRequest(each));
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        if (response.status >= 500)
          broken.push(`seed ${seed}: ${response.status} ${await response.text()} to ${show(each)}`);
        else await response.body?.cancel();
      }),
    );
  }
  expect(broken).toEqual([]);
  expect(rejections).toEqual([]);
  // It got past the door, and it was refused in several ways.
  for (const status of [200, 400, 404, 405, 413, 415]) expect(statuses.get(status) ?? 0).toBeGreaterThan(0);
}, 240_000);
