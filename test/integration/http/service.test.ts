/** The service on a real database: starting, reading, following and cancelling runs, and what it refuses. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createDirectParts } from '../../../client/direct/direct-parts';
import { PROBLEM } from '../../../client/http/problems/problem';
import { RUN, RUN_PAGE } from '../../../client/schemas/run';
import { EVENT_PAGE } from '../../../client/schemas/event';
import { SUMMARY } from '../../../client/schemas/summary';
import { WAIT, WAIT_PAGE } from '../../../client/schemas/wait';
import { compileAgents } from '../../../definition/compile-agent';
import { createTicketsAgent } from '../../../examples/tickets/agent';
import type { RunRef } from '../../../workflows/contract/records';
import type { Terminal } from '../../../workflows/machine/states';
import { parseRunId, parseTenantId } from '../../../workflows/contract/ids';
import { setHttpStage, type HttpStage } from '../../support/http/http-stage';
import { endAs, event, newAttempt, newWait, startedRun, usage } from '../../support/store-contract/fixtures';

const OPERATOR = { tenant: 'acme', subject: 'olga', roles: ['operator', 'support'] };
const VIEWER = { tenant: 'acme', subject: 'vera', roles: ['viewer'] };
const STRANGER = { tenant: 'globex', subject: 'sam', roles: ['operator', 'approver', 'viewer'] };
const TASK = { agent: 'tickets', goal: 'Reassign T100', data: { ticket: 'T100' } };

let stage: HttpStage;
beforeAll(async () => {
  stage = await setHttpStage();
});
afterAll(() => stage.close());

const problemOf = async (response: Response): Promise<{ status: number; code: string; field?: string | undefined }> => {
  const { status, code, field } = PROBLEM.parse(await response.json());
  return { status, code, field };
};

const start = async (key?: string, body: object = TASK): Promise<Response> =>
  stage.ask(OPERATOR, '/v1/runs', {
    method: 'POST',
    body,
    ...(key === undefined ? {} : { headers: { 'Idempotency-Key': key } }),
  });

const refOf = (run: string, tenant = 'acme'): RunRef => ({ tenant: parseTenantId(tenant), run: parseRunId(run) });

const end = async (ref: RunRef, terminal: Terminal): Promise<void> => {
  await stage.store.runs.commit({ ref, events: [] }, endAs(ref, terminal));
};

const newRef = (tenant = 'acme'): RunRef => refOf(`run_${Math.random().toString(16).slice(2, 12)}`, tenant);

describe('starting', () => {
  test('answers with the run and where it is', async () => {
    const response = await start();
    const run = RUN.parse(await response.json());
    expect(response.status).toBe(201);
    expect(response.headers.get('Location')).toBe(`/v1/runs/${run.run}`);
    expect(run).toMatchObject({ agent: 'tickets', goal: TASK.goal, subject: 'olga', roles: ['operator', 'support'] });
    const described = await stage.temporal.workflow.getHandle(run.run).describe();
    expect(described.status.name).toBe('RUNNING');
  });

  test('twenty at once over two instances, with one key and body, are one run', async () => {
    const other = stage.another();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        stage.ask(OPERATOR, '/v1/runs', {
          method: 'POST',
          body: index % 3 === 0 ? { data: TASK.data, goal: TASK.goal, agent: TASK.agent } : TASK,
          headers: { 'Idempotency-Key': 'k-20' },
          app: index % 2 === 0 ? stage.app : other,
        }),
      ),
    );
    const runs = await Promise.all(answers.map(async (answer) => RUN.parse(await answer.json()).run));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
    expect(new Set(runs).size).toBe(1);
    const page = RUN_PAGE.parse(await (await stage.ask(VIEWER, '/v1/runs?limit=200')).json());
    expect(page.runs.filter(({ run }) => run === runs[0])).toHaveLength(1);
  });

  test('where the agents are known, one of another name is refused at once, and nothing is stored', async () => {
    const agents = compileAgents([createTicketsAgent({ tools: { deskUrl: 'http://127.0.0.1:1' } })]);
    const { store, temporal } = stage;
    const app = stage.another({ parts: createDirectParts({ store, temporal, taskQueue: 'nobody', agents }) });
    const ask = (agent: string, key: string): Promise<Response> =>
      stage.ask(OPERATOR, '/v1/runs', {
        method: 'POST',
        body: { ...TASK, agent },
        headers: { 'Idempotency-Key': key },
        app,
      });

    const response = await ask('tikkets', 'k-unknown');
    const problem = PROBLEM.parse(await response.json());

    expect(problem).toMatchObject({
      status: 422,
      code: 'start.agent_unknown',
      field: 'agent',
      detail: 'agent: got "tikkets", expected one that is served here: tickets',
    });
    expect(RUN_PAGE.parse(await (await stage.ask(VIEWER, '/v1/runs?agent=tikkets')).json()).runs).toEqual([]);
    expect((await ask('tickets', 'k-known')).status).toBe(201);
    // Started elsewhere, it is this run here as well.
    expect((await start('k-unknown', { ...TASK, agent: 'tikkets' })).status).toBe(201);
    expect((await ask('tikkets', 'k-unknown')).status).toBe(201);
  });

  test('the key with another body is refused; of another tenant it starts a run of its own', async () => {
    const first = RUN.parse(await (await start('k-body')).json());
    expect(await problemOf(await start('k-body', { ...TASK, goal: 'Something else' }))).toMatchObject({
      status: 409,
      code: 'run.body_differs',
    });
    const foreign = await stage.ask(STRANGER, '/v1/runs', {
      method: 'POST',
      body: TASK,
      headers: { 'Idempotency-Key': 'k-body' },
    });
    expect(RUN.parse(await foreign.json()).run).not.toBe(first.run);
  });

  test('repeated after the end it tells the end', async () => {
    const { run } = RUN.parse(await (await start('k-end')).json());
    await end(refOf(run), 'SUCCEEDED');
    expect(RUN.parse(await (await start('k-end')).json())).toMatchObject({
      run,
      state: 'SUCCEEDED',
      terminal: 'SUCCEEDED',
    });
  });

  test.each<[string, object, string]>([
    ['without a goal', { agent: 'tickets' }, 'goal'],
    ['with a member that is none', { ...TASK, tenant: 'globex' }, 'tenant'],
    ['for an agent that no column holds', { ...TASK, agent: 'a\u0000b' }, 'agent'],
    ['that is a list', [], 'body'],
    ['with a limit below 1', { ...TASK, limits: { maxSteps: 0 } }, 'limits.maxSteps'],
  ])('one %s is refused, naming the field', async (_, body, field) => {
    expect(await problemOf(await start(undefined, body))).toEqual({ status: 400, code: 'request.invalid', field });
  });

  test('a body that is too large, no JSON or of another type is refused', async () => {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${await stage.tokenOf(OPERATOR)}` };
    const send = (body: string, type = 'application/json'): Promise<Response> =>
      Promise.resolve(
        stage.app.request('/v1/runs', { method: 'POST', body, headers: { ...headers, 'Content-Type': type } }),
      );
    expect(await problemOf(await send(JSON.stringify({ ...TASK, goal: 'x'.repeat(300_000) })))).toMatchObject({
      code: 'request.too_large',
    });
    expect(await problemOf(await send('{"agent":'))).toMatchObject({ code: 'request.malformed' });
    expect(await problemOf(await send('agent=x', 'application/x-www-form-urlencoded'))).toMatchObject({
      code: 'request.media_type',
    });
  });
});

describe('reading', () => {
  test('another tenant sees what there is not', async () => {
    const { run } = RUN.parse(await (await start()).json());
    const none = newRef().run;
    for (const path of ['', '/details', '/events', '/result']) {
      const [foreign, absent] = await Promise.all(
        [run, none].map(async (id) => problemOf(await stage.ask(STRANGER, `/v1/runs/${id}${path}`))),
      );
      expect(foreign).toEqual({ status: 404, code: 'run.not_found' });
      expect(absent).toEqual(foreign);
    }
  });

  test('pages of the list neither skip nor repeat a run', async () => {
    const tenant = `pages-${Date.now()}`;
    const refs = await Promise.all(Array.from({ length: 7 }, () => startedRun(stage.store, { ref: newRef(tenant) })));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const query = cursor === undefined ? '' : `&cursor=${cursor}`;
      const response = await stage.ask({ ...VIEWER, tenant }, `/v1/runs?limit=3${query}`);
      const page = RUN_PAGE.parse(await response.json());
      seen.push(...page.runs.map(({ run }) => run));
      ({ cursor } = page);
    } while (cursor !== undefined);
    expect([...seen].sort()).toEqual(refs.map(({ run }) => String(run)).sort());
  });

  describe('searching', () => {
    const tenant = `search-${Date.now()}`;
    const TASK_OF_IT = {
      agent: 'tickets',
      goal: 'Reassign T100 to Zoë’s team:\nmind "case_sensitive" paths\\like C:\\temp, 100% of them, and 東京',
      data: { ticket: 'T100', owner: { mail: 'ada@example.com' }, price: 1200 },
    };
    let run: string;
    beforeAll(async () => {
      const started = await stage.ask({ ...OPERATOR, tenant }, '/v1/runs', { method: 'POST', body: TASK_OF_IT });
      ({ run } = RUN.parse(await started.json()));
    });
    const find = async (search: string, asked = tenant): Promise<readonly string[]> => {
      const response = await stage.ask({ ...VIEWER, tenant: asked }, `/v1/runs?search=${encodeURIComponent(search)}`);
      return RUN_PAGE.parse(await response.json()).runs.map((each) => each.run);
    };

    test.each([
      'reassign',
      'REASS T1',
      'team reassign',
      'mind',
      'sensitive',
      'case_sens',
      'C:\\temp',
      '100%',
      'zoë',
      '東京',
      'ada@example.com',
      'exam',
      '1200',
      'zoë’s team',
    ])('finds %s', async (search) => {
      expect(await find(search)).toEqual([run]);
    });

    test.each(['eassign', 'reassign bert', 'temp2', '!!', "bert' & 'reassign", 'bert | reassign', ':*', '\\', '\0'])(
      'does not find %j',
      async (search) => {
        expect(await find(search)).toEqual([]);
      },
    );

    test('finds the beginning of an id, and nothing of another tenant', async () => {
      expect(await find(run.slice(0, 12))).toEqual([run]);
      expect(await find(run)).toEqual([run]);
      expect(await find(`${run}-`)).toEqual([]);
      expect(await find(run, 'another')).toEqual([]);
      expect(await find('reassign', 'another')).toEqual([]);
      expect(await find(tenant)).toEqual([]);
    });
  });

  test('a cursor that no page gave is refused', async () => {
    expect(await problemOf(await stage.ask(VIEWER, '/v1/runs?cursor=abc'))).toMatchObject({
      code: 'store.cursor_invalid',
    });
  });

  test('the result is 202 until the end, and then the same for ever', async () => {
    const ref = await startedRun(stage.store, { ref: newRef() });
    const path = `/v1/runs/${ref.run}/result`;
    const before = await stage.ask(VIEWER, path);
    expect(before.status).toBe(202);
    expect(await before.json()).toEqual({ run: ref.run, state: 'READY' });
    await end(ref, 'FAILED');
    const after = await stage.ask(VIEWER, path);
    expect(after.status).toBe(200);
    expect(await after.json()).toMatchObject({ run: ref.run, terminal: 'FAILED', version: 1 });
  });

  test('events come as pages', async () => {
    const ref = await startedRun(stage.store, { ref: newRef() });
    await stage.store.journal.carry({ ref, events: [event(1), event(2), event(3)] });
    const read = async (query: string) =>
      EVENT_PAGE.parse(await (await stage.ask(VIEWER, `/v1/runs/${ref.run}/events?${query}`)).json());
    const first = await read('limit=2');
    expect(first).toMatchObject({ after: 2, isLast: false });
    const second = await read(`limit=2&after=${first.after}`);
    expect(second.events.map(({ position }) => position)).toEqual([3]);
    expect(second.isLast).toBe(true);
  });

  test('an artifact is read through the run that names it, whole and in parts, and through no other', async () => {
    const tenant = parseTenantId('acme');
    const bytes = Buffer.from('<script>alert(1)</script>'.repeat(10));
    const hash = await stage.store.artifacts.put(tenant, { bytes, mediaType: 'text/html' });
    const ref = newRef();
    await startedRun(stage.store, { ref });
    await stage.store.journal.note(ref, { eventId: 'e1', body: { kind: 'test', artifact: hash } });
    const path = `/v1/runs/${ref.run}/artifacts/${hash}`;
    const whole = await stage.ask(VIEWER, path);
    expect(Buffer.from(await whole.arrayBuffer())).toEqual(bytes);
    expect(whole.headers.get('Content-Security-Policy')).toContain('sandbox');
    expect(whole.headers.get('X-Content-Type-Options')).toBe('nosniff');
    const part = await stage.ask(VIEWER, path, { headers: { Range: 'bytes=8-15' } });
    expect(part.status).toBe(206);
    expect(part.headers.get('Content-Range')).toBe(`bytes 8-15/${bytes.byteLength}`);
    expect(await part.text()).toBe(bytes.toString().slice(8, 16));
    expect(await problemOf(await stage.ask(VIEWER, path, { headers: { Range: 'bytes=9000-' } }))).toMatchObject({
      status: 416,
    });
    const other = await startedRun(stage.store, { ref: newRef() });
    expect(await problemOf(await stage.ask(VIEWER, `/v1/runs/${other.run}/artifacts/${hash}`))).toMatchObject({
      code: 'artifact.not_found',
    });
    expect(await problemOf(await stage.ask(STRANGER, path))).toMatchObject({ code: 'run.not_found' });
  });
});

test('a wait promises no more time than its run has', async () => {
  const ref = await startedRun(stage.store, { ref: newRef() });
  const plan = await stage.store.artifacts.putJson(ref.tenant, {
    schemaVersion: 1,
    kind: 'handoff',
    why: '',
    operations: [],
    isComplete: true,
  });
  const { row } = await stage.store.waits.open(
    { ref, events: [] },
    newWait(ref, 1, { plan, expiresInMs: 7 * 86_400_000 }),
  );
  const brief = await stage.store.waits.open({ ref, events: [] }, newWait(ref, 2, { plan, expiresInMs: 60_000 }));
  const { deadlineAt = 0 } = (await stage.store.runs.get(ref)) ?? {};

  const read = async (wait: string) => WAIT.parse(await (await stage.ask(OPERATOR, `/v1/waits/${wait}`)).json());
  const [long, short] = [await read(row.id), await read(brief.row.id)];

  expect(Date.parse(long.expiresAt)).toBe(deadlineAt);
  expect(long.remainingMs).toBeLessThanOrEqual(3_600_000);
  expect(long.remainingMs).toBeGreaterThan(0);
  expect(Date.parse(short.expiresAt)).toBe(brief.row.expiresAt);
  const { waits } = WAIT_PAGE.parse(await (await stage.ask(OPERATOR, '/v1/waits?limit=200')).json());
  expect(waits.filter(({ run }) => run === ref.run).map(({ expiresAt }) => expiresAt)).toEqual([
    long.expiresAt,
    short.expiresAt,
  ]);
});

describe('moving on', () => {
  test('cancel is accepted, again and again, until the run has ended', async () => {
    const { run } = RUN.parse(await (await start()).json());
    const cancel = (): Promise<Response> => stage.ask(OPERATOR, `/v1/runs/${run}/cancel`, { method: 'POST' });
    for (const response of [await cancel(), await cancel()]) {
      expect(response.status).toBe(202);
      expect(RUN.parse(await response.json()).cancelRequestedAt).toBeDefined();
    }
    await end(refOf(run), 'CANCELLED');
    expect(await problemOf(await cancel())).toMatchObject({ status: 409, code: 'run.ended' });
  });

  test('a message to a run that is ending is refused, and the refusal is in its journal', async () => {
    const { run } = RUN.parse(await (await start()).json());
    const send = (body: object): Promise<Response> =>
      stage.ask(OPERATOR, `/v1/runs/${run}/messages`, { method: 'POST', body });
    await stage.store.runs.stopOperations({ ref: refOf(run), events: [] }, false);

    for (const kind of ['amend', 'amend']) {
      const refused = await problemOf(await send({ id: 'm-1', kind, text: 'Leave a note as well' }));
      expect(refused).toMatchObject({ status: 409, code: 'run.ending' });
    }
    // Another run is no plan of this one.
    expect((await send({ id: 'm-2', kind: 'new_goal', text: 'Leave a note as well' })).ok).toBe(true);

    const lines = await stage.store.journal.list(refOf(run), { after: 0, limit: 9 });
    expect(lines.map(({ eventId, body }) => [eventId, body])).toEqual([
      [
        'message:m-1:run.ending',
        expect.objectContaining({ kind: 'message_refused', asked: 'amend', code: 'run.ending' }),
      ],
      ['message:m-2:new_goal', expect.anything()],
    ]);
    expect(await stage.store.runs.get(refOf(run))).toMatchObject({ planVersion: 1 });
  });

  test('a message changes the plan once for its id; one of no known kind is refused with what there is', async () => {
    const { run } = RUN.parse(await (await start()).json());
    const send = (body: object): Promise<Response> =>
      stage.ask(OPERATOR, `/v1/runs/${run}/messages`, { method: 'POST', body });
    const message = { id: 'm-1', kind: 'amend', text: 'Leave a note as well' };
    for (const response of [await send(message), await send(message)]) {
      expect(await response.json()).toMatchObject({ id: 'm-1', kind: 'amend', planVersion: 2 });
    }
    expect(await problemOf(await send({ id: 'm-2', kind: 'tool_result', text: 'approved' }))).toMatchObject({
      status: 422,
      code: 'message.kind_unknown',
      field: 'kind',
    });
  });

  test('a wait that there is not, or of another run, is not answered', async () => {
    const approver = { tenant: 'acme', subject: 'anna', roles: ['approver'] };
    const { run } = RUN.parse(await (await start()).json());
    const other = RUN.parse(await (await start()).json()).run;
    const respond = (wait: string): Promise<Response> =>
      stage.ask(approver, `/v1/runs/${run}/responses`, {
        method: 'POST',
        body: { wait, response: { decision: 'approve' } },
      });
    for (const id of [run, other]) {
      expect(await problemOf(await respond(`wait_${id.slice(4)}_3_1`))).toMatchObject({
        status: 404,
        code: 'wait.not_found',
      });
    }
  });
});

test('the summary counts what a reopened run has spent once', async () => {
  const tenant = `sum-${Date.now()}-reopened`;
  const spend = async (ref: RunRef, step: number, costMicros: number): Promise<void> => {
    await stage.store.attempts.open({ ref, events: [] }, newAttempt(step, 1));
    const used = usage(10, { costMicros });
    const end = { state: 'STORED', outcome: { kind: 'candidateStored' }, usage: used } as const;
    await stage.store.attempts.end({ ref, step, attempt: 1 }, end);
  };
  const first = await startedRun(stage.store, { ref: newRef(tenant) });
  await spend(first, 1, 700);
  await end(first, 'FAILED');
  const second = await startedRun(stage.store, { ref: newRef(tenant), reopens: first.run });
  await spend(second, 2, 30);
  await end(second, 'FAILED');
  const third = await startedRun(stage.store, { ref: newRef(tenant), reopens: second.run });
  await spend(third, 3, 5);
  await end(third, 'SUCCEEDED');

  const summary = SUMMARY.parse(await (await stage.ask({ ...VIEWER, tenant }, '/v1/metrics/summary')).json());

  expect(summary).toMatchObject({ started: 3, costMicros: 735, costMicrosPerQualifiedTask: 735 });
  expect(await stage.store.ledger.totals(third)).toMatchObject({ costMicros: 735 });
});

test('the summary counts the runs of the period', async () => {
  const tenant = `sum-${Date.now()}`;
  const [one, two, three] = await Promise.all([1, 2, 3].map(() => startedRun(stage.store, { ref: newRef(tenant) })));
  if (one === undefined || two === undefined || three === undefined) throw new Error('not started');
  const rejected = event(2, {
    from: 'VALIDATING',
    event: 'candidateRejected',
    to: 'WAITING_USER',
    rule: 'candidate.rejected',
    at: 1_700_000_010_000,
    cause: { code: 'finish.condition_unmet' },
  });
  const accepted = event(3, {
    from: 'WAITING_USER',
    event: 'finishAccepted',
    to: 'FINALIZING',
    rule: 'finish.done',
    at: 1_700_000_014_000,
  });
  await stage.store.journal.carry({ ref: one, events: [event(1), rejected, accepted] });
  await stage.store.journal.carry({ ref: two, events: [event(1), { ...accepted, seq: 2 }] });
  await end(one, 'SUCCEEDED');
  await end(two, 'FAILED');
  const to = new Date(Date.now() + 60_000).toISOString();
  const response = await stage.ask({ ...VIEWER, tenant }, `/v1/metrics/summary?to=${to}`);
  expect(SUMMARY.parse(await response.json())).toMatchObject({
    started: 3,
    active: 1,
    ended: { SUCCEEDED: 1, FAILED: 1 },
    completionRate: 0.5,
    finishProposals: 3,
    prematureFinishRate: 0.5,
    costMicros: 0,
    costMicrosPerQualifiedTask: 0,
    userMs: 4_000,
  });
  expect(await problemOf(await stage.ask(VIEWER, '/v1/metrics/summary?from=2030-01-01T00:00:00Z'))).toMatchObject({
    field: 'from',
  });
});

describe('for those who run it', () => {
  test('it says that it lives, that it is ready, and what it counts, without a token', async () => {
    expect(await (await stage.app.request('/healthz')).json()).toEqual({ status: 'live' });
    const ready = await stage.app.request('/readyz');
    expect(ready.status).toBe(200);
    expect(await ready.json()).toEqual({ status: 'ready', store: 'there', engine: 'there' });
    const metrics = await (await stage.app.request('/metrics')).text();
    expect(metrics).toMatch(/holdfast_http_request_seconds_count\{method="POST",route="\/v1\/runs",status="201"\} \d+/);
    expect(metrics).not.toMatch(/run_[0-9a-f]{6}|acme|olga/);
  });

  test('answers carry the usual protections', async () => {
    const { headers } = await stage.app.request('/healthz');
    expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
    expect(headers.get('Content-Security-Policy')).toContain("default-src 'none'");
    expect(headers.get('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('what there is not is a problem, and so is another method', async () => {
    expect(await problemOf(await stage.ask(VIEWER, '/v1/nothing'))).toMatchObject({
      status: 404,
      code: 'route.not_found',
    });
    const response = await stage.ask(VIEWER, '/v1/runs', { method: 'DELETE' });
    expect(response.headers.get('Allow')).toContain('POST');
    expect(await problemOf(response)).toMatchObject({ status: 405, code: 'route.method' });
  });

  test('the log names runs, and never what was sent', async () => {
    const canary = 'CANARY-9f27';
    const run = RUN.parse(
      await (await start(undefined, { ...TASK, goal: `Goal ${canary}`, data: { secret: canary } })).json(),
    );
    await stage.ask(OPERATOR, `/v1/runs/${run.run}/messages`, { method: 'POST', body: { kind: canary, text: canary } });
    const token = await stage.tokenOf(OPERATOR);
    await stage.app.request(`/v1/runs?cursor=${canary}`, { headers: { Authorization: `Bearer ${token}` } });
    await stage.app.request(`/${canary}`);
    const lines = stage.logged.join('');
    expect(lines).toContain(run.run);
    expect(lines).not.toContain(canary);
    expect(lines).not.toContain(token);
  });
});
