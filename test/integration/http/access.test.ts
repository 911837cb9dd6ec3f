/** Every route of the API against everybody who may not: the list of routes is the service's own OpenAPI document. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { ACCESSES, isAllowed, type Access } from '../../../client/http/auth/access';
import { createApp } from '../../../client/http/app';
import { describeApi } from '../../../client/http/describe-api';
import { describeOnly } from '../../../client/http/describe-only';
import { ACCESS } from '../../../client/http/openapi';
import { PROBLEM } from '../../../client/http/problems/problem';
import type { RunRef } from '../../../workflows/contract/records';
import { setHttpStage, type HttpStage, type Person } from '../../support/http/http-stage';
import { hashFrom, newRef, newWait, startedRun } from '../../support/store-contract/fixtures';

const DOCUMENT = z.looseObject({
  paths: z.record(z.string(), z.record(z.string(), z.looseObject({ [ACCESS]: z.enum(ACCESSES).optional() }))),
});

const OPEN = ['/healthz', '/readyz', '/metrics'];

interface Route {
  readonly method: string;
  readonly path: string;
  readonly access: Access;
}

const ROUTES: readonly Route[] = Object.entries(DOCUMENT.parse(describeApi(createApp(describeOnly()))).paths).flatMap(
  ([path, methods]) =>
    OPEN.includes(path)
      ? []
      : Object.entries(methods).map(([method, { [ACCESS]: access }]) => {
          if (access === undefined) throw new Error(`${method} ${path} says nothing of who may call it`);
          return { method: method.toUpperCase(), path, access };
        }),
);

/** A right body for each route that takes one, so that nothing but access is wrong. */
const BODIES: Readonly<Record<string, (wait: string) => object>> = {
  '/v1/runs': () => ({ agent: 'tickets', goal: 'x' }),
  '/v1/runs/{run}/responses': (wait) => ({ wait, response: { decision: 'approve' } }),
  '/v1/runs/{run}/messages': () => ({ kind: 'amend', text: 'x' }),
  '/v1/runs/{run}/resolutions': () => ({ operation: 'op_abcdef_1_1', state: 'SUCCEEDED', why: 'seen' }),
  '/v1/runs/{run}/reopen': () => ({}),
};

const OWNER = { tenant: 'acme', subject: 'ada', roles: ['viewer', 'approver', 'operator'] };
const STRANGER = { tenant: 'globex', subject: 'sam', roles: ['viewer', 'approver', 'operator'] };

let stage: HttpStage;
let ref: RunRef;
let wait: string;

beforeAll(async () => {
  stage = await setHttpStage();
  ref = await startedRun(stage.store, { ref: newRef('acme') });
  wait = (await stage.store.waits.open({ ref, events: [] }, newWait(ref, 1))).row.id;
});
afterAll(() => stage.close());

const urlOf = (path: string): string =>
  path.replace('{run}', ref.run).replace('{wait}', wait).replace('{hash}', hashFrom('definition'));

const bodyOf = ({ method, path }: Route): object | undefined => (method === 'POST' ? BODIES[path]?.(wait) : undefined);

const send = async (route: Route, token: string | undefined): Promise<Response> => {
  const body = bodyOf(route);
  return stage.app.request(urlOf(route.path), {
    method: route.method,
    headers: {
      ...(token === undefined ? {} : { Authorization: token }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
};

const codeOf = async (response: Response): Promise<string> => {
  const problem = PROBLEM.parse(await response.json());
  expect(problem.status).toBe(response.status);
  return `${problem.status} ${problem.code}`;
};

const bearer = async (person: Person, expiresInMs?: number): Promise<string> =>
  `Bearer ${await stage.tokenOf(person, expiresInMs)}`;

test('there are routes of every kind', () => {
  expect(ROUTES.length).toBeGreaterThanOrEqual(12);
  expect(new Set(ROUTES.map(({ access }) => access))).toEqual(new Set(ACCESSES));
});

describe.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))('%s', (_, route) => {
  test('without a token is 401', async () => {
    expect(await codeOf(await send(route, undefined))).toBe('401 auth.missing');
  });

  test('with a token that has expired is 401', async () => {
    expect(await codeOf(await send(route, await bearer(OWNER, -60_000)))).toBe('401 auth.expired');
  });

  test.each([
    ['the secret of callbacks', 'Bearer whsec_dGhlIHNlY3JldCBvZiBjYWxsYmFja3Mh'],
    ['Basic credentials', 'Basic YWRhOmFkYQ=='],
    ['nothing behind Bearer', 'Bearer '],
  ])('with %s in place of a token is 401', async (__, authorization) => {
    expect(await codeOf(await send(route, authorization))).toBe('401 auth.invalid');
  });

  test('of the own tenant without the role is 403', async () => {
    const roles = ['viewer', 'approver', 'operator', 'support'].filter((role) => !isAllowed(route.access, [role]));
    expect(await codeOf(await send(route, await bearer({ ...OWNER, roles })))).toBe('403 auth.forbidden');
  });

  if (route.path.includes('{')) {
    test('of another tenant is 404, as for a thing that there is not', async () => {
      expect(await codeOf(await send(route, await bearer(STRANGER)))).toMatch(/^404 (run|wait)\.not_found$/);
    });
  } else if (route.method === 'GET') {
    test('of another tenant shows nothing of this one', async () => {
      const response = await send(route, await bearer(STRANGER));
      expect(response.status).toBe(200);
      expect(await response.text()).not.toContain(ref.run);
    });
  }
});

test('nothing of all this has been done to the run', async () => {
  const row = await stage.store.runs.get(ref);
  expect(row).toMatchObject({ state: 'READY', planVersion: 1 });
  expect(row?.cancelRequestedAt).toBeUndefined();
  const reading = await stage.store.waits.list(ref.tenant, { run: ref.run, limit: 5 });
  expect(reading).toMatchObject([{ id: wait, state: 'OPEN' }]);
});
