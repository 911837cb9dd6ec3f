/** The page without a browser: who gets in, what other sites cannot do, and that nothing from outside becomes markup. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WAIT_PAGE } from '../../../client/schemas/wait';
import { operationIdOf } from '../../../workflows/contract/ids';
import { setHttpStage, type AskInit, type HttpStage, type Person } from '../../support/http/http-stage';
import { createdOperation, newRef, newRun, newWait, startedRun } from '../../support/store-contract/fixtures';

const OLGA = { tenant: 'acme', subject: 'olga', roles: ['operator', 'approver'] };
const VERA = { tenant: 'acme', subject: 'vera', roles: ['viewer'] };
const SAM = { tenant: 'globex', subject: 'sam', roles: ['operator', 'approver', 'viewer'] };
const GOAL = `<script>alert('goal')</script> \u202eT100`;

let stage: HttpStage;
let run: string;
beforeAll(async () => {
  stage = await setHttpStage();
  const started = await stage.ask(OLGA, '/v1/runs', {
    method: 'POST',
    body: { agent: 'tickets', goal: GOAL, data: { ticket: '<b>' } },
  });
  run = parseRun(await started.json());
});
afterAll(() => stage.close());

const parseRun = (body: unknown): string => (body as { readonly run: string }).run;

const OWN = { 'Sec-Fetch-Site': 'same-origin' };

/** As a browser sends a form. */
const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = OWN) =>
  stage.app.request(path, { method: 'POST', body: new URLSearchParams(fields), headers });

const used: string[] = [];

const signIn = async (person: Person): Promise<string> => {
  const token = await stage.tokenOf(person);
  used.push(token);
  const response = await post('/signin', { token, next: '/runs' });
  expect(response.status).toBe(303);
  return (response.headers.get('Set-Cookie') ?? '').split(';')[0] ?? '';
};

const look = async (person: Person, path: string, init: Omit<AskInit, 'body'> = {}) =>
  stage.unfailed(await stage.app.request(path, { ...init, headers: { Cookie: await signIn(person) } }));

const formTokenIn = (html: string): string => /name="formToken" value="([^"]+)"/.exec(html)?.[1] ?? '';

describe('signing in', () => {
  test('opens a session that no script can read, and leads where the person wanted to go', async () => {
    const response = await post('/signin', { token: await stage.tokenOf(OLGA), next: `/runs/${run}` });

    expect(response.headers.get('Location')).toBe(`/runs/${run}`);
    expect(response.headers.get('Set-Cookie')).toMatch(/^holdfast_session=.*; HttpOnly; SameSite=Lax$/);
  });

  test('behind TLS the cookie is for TLS and this host alone', async () => {
    const secure = stage.another({ isPageSecure: true });
    const body = new URLSearchParams({ token: await stage.tokenOf(OLGA) });

    const response = await secure.request('/signin', { method: 'POST', body, headers: OWN });

    expect(response.headers.get('Set-Cookie')).toMatch(/^__Host-holdfast_session=.*; HttpOnly; Secure; SameSite=Lax$/);
  });

  test.each(['https://evil.example', '//evil.example', '/\\evil.example', '/v1/runs', 'javascript:alert(1)'])(
    'never leads anywhere but to our own pages: %s',
    async (next) => {
      const response = await post('/signin', { token: await stage.tokenOf(OLGA), next });

      expect(response.headers.get('Location')).toBe('/inbox');
    },
  );

  test('refuses a token that is expired or none, and repeats nothing of it', async () => {
    const expired = await stage.tokenOf(OLGA, -60_000);

    for (const token of [expired, 'no-token', '', 'x'.repeat(5_000)]) {
      const response = await post('/signin', { token });
      expect(response.status).toBe(401);
      expect(response.headers.get('Set-Cookie')).toBeNull();
      const html = await response.text();
      expect(token === '' || !html.includes(token)).toBe(true);
    }
  });

  test.each(['/inbox', '/runs', '/summary', '/waits/wait_000000_1_1', '/runs/run_000000'])(
    'is asked for before %s is looked at',
    async (path) => {
      const response = await stage.app.request(path);

      expect(response.status).toBe(303);
      expect(response.headers.get('Location')).toBe(`/signin?next=${encodeURIComponent(path)}`);
    },
  );
});

describe('other sites', () => {
  test.each<Record<string, string>>([
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Origin: 'https://evil.example', Host: 'holdfast.example' },
    { Origin: 'null', Host: 'holdfast.example' },
    {},
  ])('cannot send our forms: %j', async (headers) => {
    const cookie = await signIn(OLGA);
    const page = await (await look(OLGA, `/runs/${run}`)).text();

    const response = await post(
      `/runs/${run}/cancel`,
      { formToken: formTokenIn(page), id: crypto.randomUUID() },
      { ...headers, Cookie: cookie },
    );

    expect(response.status).toBe(403);
    expect(await stage.ask(OLGA, `/v1/runs/${run}`).then((answer) => answer.json())).not.toHaveProperty(
      'cancelRequestedAt',
    );
  });

  test('cannot make the token of a form, nor use that of another session', async () => {
    const cookie = await signIn(OLGA);
    const others = formTokenIn(await (await look(SAM, '/inbox')).text());

    for (const formToken of ['', 'x', others]) {
      const response = await post(`/runs/${run}/cancel`, { formToken }, { ...OWN, Cookie: cookie });
      expect(response.status).toBe(403);
    }
  });

  test('cannot frame a page, and a page runs nothing but its own script', async () => {
    const { headers } = await look(OLGA, '/inbox');

    const policy = headers.get('Content-Security-Policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(headers.get('Cache-Control')).toBe('no-store');
    expect(headers.get('Referrer-Policy')).toBe('same-origin');
    expect(headers.get('X-Frame-Options')).toBe('DENY');
  });

  test('cannot sign anybody out', async () => {
    const cookie = await signIn(OLGA);

    const foreign = await post('/signout', {}, { 'Sec-Fetch-Site': 'cross-site', Cookie: cookie });
    const own = await post('/signout', {}, { ...OWN, Cookie: cookie });

    expect(foreign.status).toBe(403);
    expect(foreign.headers.get('Set-Cookie')).toBeNull();
    expect(own.headers.get('Set-Cookie')).toMatch(/^holdfast_session=;/);
  });
});

describe('what comes from outside', () => {
  test.each(['/runs', `/runs/RUN`, '/runs/RUN/journal'])(
    'is text and never markup, and hides nothing: %s',
    async (path) => {
      const html = await (await look(OLGA, path.replace('RUN', run))).text();

      expect(html).not.toContain('<script>alert');
      expect(html).not.toContain('\u202e');
      if (!path.endsWith('journal')) expect(html).toContain('&lt;U+202E&gt;T100');
    },
  );

  test('has no inline script or style to stand on', async () => {
    const html = await (await look(OLGA, `/runs/${run}`)).text();

    expect(html).not.toMatch(/<script(?![^>]*src=)/);
    expect(html).not.toMatch(/<style|\sstyle=|\son[a-z]+=/);
  });
});

test('a plan that is too large to be shown says so, and links to the whole of it', async () => {
  const { store } = stage;
  const ref = await startedRun(store, { ref: newRef('acme') });
  const plan = await store.artifacts.putJson(ref.tenant, {
    schemaVersion: 1,
    kind: 'approval',
    why: 'it is a write',
    isComplete: true,
    operations: [
      {
        id: operationIdOf(ref.run, 1, 1),
        tool: 'add_comment',
        risk: 'low',
        arguments: { text: `${'x'.repeat(300_000)}END` },
      },
    ],
  });
  const { row } = await store.waits.open({ ref, events: [] }, newWait(ref, 1, { plan }));

  const html = await (await look(OLGA, `/waits/${row.id}`)).text();
  const whole = await look(OLGA, `/runs/${ref.run}/artifacts/${plan}`);

  expect(html).toContain('This is not all of it.');
  expect(html).toContain(`href="/runs/${ref.run}/artifacts/${plan}"`);
  expect(html).not.toContain('END');
  expect(whole.status).toBe(200);
});

test('the inbox says what the operation is that is asked about, with what cannot be seen written out', async () => {
  const { store } = stage;
  const ref = newRef('inbox-tenant');
  const definition = await store.artifacts.putJson(ref.tenant, {
    tools: [{ name: 'close_ticket', hash: 'h', risk: 'high', inputSchema: {} }],
  });
  await store.runs.start(newRun(ref));
  await store.runs.open(ref, { definition, deadlineMs: 3_600_000 });
  const other = await startedRun(store, { ref: newRef('inbox-tenant') });
  for (const [each, tool] of [
    [ref, 'close_ticket'],
    [other, 'of_no_definition'],
  ] as const) {
    const operation = await createdOperation(store, each, { tool, target: 'ticket:T\u202e100' });
    await store.waits.open({ ref: each, events: [] }, newWait(each, 1, { operation }));
    await store.waits.open({ ref: each, events: [] }, newWait(each, 2, { kind: 'handoff' }));
  }
  const olga = { ...OLGA, tenant: 'inbox-tenant' };

  const { waits } = WAIT_PAGE.parse(await (await stage.ask(olga, '/v1/waits')).json());
  const html = await (await look(olga, '/inbox')).text();

  expect(waits.map(({ about }) => about)).toEqual([
    { tool: 'close_ticket', target: 'ticket:T<U+202E>100', risk: 'high' },
    undefined,
    { tool: 'of_no_definition', target: 'ticket:T<U+202E>100' },
    undefined,
  ]);
  expect(html.match(/class="about"/g)).toHaveLength(2);
  expect(html).toMatch(/<code>close_ticket<\/code>[^]*<code>ticket:T&lt;U\+202E&gt;100<\/code>[^]*high risk/);
});

describe('who may', () => {
  test("another tenant's run is not there", async () => {
    for (const path of [`/runs/${run}`, `/runs/${run}/journal`, `/runs/${run}/live`]) {
      expect((await look(SAM, path)).status).toBe(404);
    }
    expect(await (await look(SAM, '/runs')).text()).not.toContain(run);
  });

  test('a viewer has no forms, and is refused where one is sent all the same', async () => {
    const cookie = await signIn(VERA);
    const html = await (await look(VERA, `/runs/${run}`)).text();
    const formToken = formTokenIn(html);

    expect(html).not.toContain(`action="/runs/${run}/cancel"`);
    const response = await post(`/runs/${run}/cancel`, { formToken }, { ...OWN, Cookie: cookie });
    expect(response.status).toBe(403);
  });

  test('a form without a session does nothing, and says so', async () => {
    const response = await post(`/runs/${run}/cancel`, { formToken: 'x' });

    expect(response.status).toBe(401);
    expect(await response.text()).toContain('Nothing was done.');
  });

  test('an operator cancels by the form', async () => {
    const cookie = await signIn(OLGA);
    const page = await (await look(OLGA, `/runs/${run}`)).text();

    const response = await post(
      `/runs/${run}/cancel`,
      { formToken: formTokenIn(page), id: crypto.randomUUID() },
      { ...OWN, Cookie: cookie },
    );

    expect(response.status).toBe(303);
    expect(await stage.ask(OLGA, `/v1/runs/${run}`).then((answer) => answer.json())).toHaveProperty(
      'cancelRequestedAt',
    );
  });
});

describe('what is asked wrongly', () => {
  test.each([
    ['/runs?state=NONSENSE', 400],
    ['/runs?cursor=%21', 400],
    ['/inbox?kind=nonsense', 400],
    ['/summary?from=yesterday', 400],
    ['/summary?from=2026-02-01&to=2026-01-01', 400],
    ['/runs/nonsense', 400],
    ['/waits/nonsense', 400],
    ['/runs/run_00000000', 404],
    ['/waits/wait_00000000_1_1', 404],
    ['/assets/../page.css', 404],
    ['/assets/none.js', 404],
  ])('%s is a page that says so, with status %i', async (path, status) => {
    const response = await look(OLGA, path);

    expect(response.status).toBe(status);
  });

  test('none of all this has put a token or a goal into the log', () => {
    const log = stage.logged.join('');

    expect(used.filter((token) => log.includes(token.split('.')[2] ?? token))).toEqual([]);
    expect(used.length).toBeGreaterThan(0);
    expect(log).not.toContain("alert('goal')");
  });
});
