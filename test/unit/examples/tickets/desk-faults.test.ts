import { expect, test } from '@jest/globals';
import type { FaultRuleInput } from '../../../../examples/tickets/desk/core/faults';
import { bodyOf, openDesk, outcomeOf, settle } from './desk-fixture';

const comment = { text: 'hello' };
const dropped = { name: 'ConnectionDroppedError' };

function openCommenter() {
  const desk = openDesk();
  const send = (key = 'k1') => desk.post('/tickets/T100/comments', comment, { 'Idempotency-Key': key });
  const add = (fault: FaultRuleInput['fault'], rule: Partial<FaultRuleInput> = {}) =>
    desk.control.addFault({ match: { route: 'comment' }, ...rule, fault });
  const countEffects = async () => (await desk.control.effects()).length;
  return { ...desk, send, add, countEffects };
}

test('apply-then-drop has the effect and no answer; the key then finds it, and a second send repeats nothing', async () => {
  const { send, add, countEffects, request } = openCommenter();
  await add({ kind: 'apply-then-drop' });

  await expect(send()).rejects.toMatchObject(dropped);

  expect(await countEffects()).toBe(1);
  expect(await bodyOf(request('/operations/k1'))).toMatchObject({ status: 'done' });
  expect((await send()).headers.get('Idempotent-Replayed')).toBe('true');
  expect(await countEffects()).toBe(1);
});

test('drop-before-apply has no effect; the next send has it', async () => {
  const { send, add, countEffects, request, control } = openCommenter();
  await add({ kind: 'drop-before-apply' });

  await expect(send()).rejects.toMatchObject(dropped);
  const before = await countEffects();
  const lookUp = await outcomeOf(request('/operations/k1'));
  await send();

  expect(before).toBe(0);
  expect(lookUp).toEqual({ status: 404, code: 'operation_not_found' });
  expect(await countEffects()).toBe(1);
  expect((await control.requests()).map(({ outcome }) => outcome)).toEqual(['dropped', 404, 200]);
});

test('apply-late drops at once and has the effect later', async () => {
  const { send, add, countEffects, clock } = openCommenter();
  await add({ kind: 'apply-late', delayMs: 1_000 });

  await expect(send()).rejects.toMatchObject(dropped);
  await clock.advance(999);
  const before = await countEffects();
  await clock.advance(1);

  expect(before).toBe(0);
  expect(await countEffects()).toBe(1);
});

test.each([
  [true, 1],
  [false, 2],
])('with dedupe %s, a late effect and a second send of its key are %d effect(s)', async (dedupe, effects) => {
  const { send, add, countEffects, clock, control } = openCommenter();
  await control.changeSettings({ dedupe });
  await add({ kind: 'apply-late', delayMs: 1_000 });
  await expect(send()).rejects.toMatchObject(dropped);

  await send();
  await clock.advance(1_000);

  expect(await countEffects()).toBe(effects);
});

test('a late write whose precondition has failed meanwhile has no effect', async () => {
  const { post, add, countEffects, clock, control } = openCommenter();
  await add({ kind: 'apply-late', delayMs: 1_000 });
  await expect(post('/tickets/T100/comments', comment, { 'If-Match': '"3"' })).rejects.toMatchObject(dropped);

  await control.putTicket({ id: 'T100', title: 'edited' });
  await clock.advance(1_000);

  expect(await countEffects()).toBe(0);
});

test.each([
  ['hold-then-apply', 0],
  ['apply-then-hold', 1],
] as const)('%s answers late, with %d effect(s) meanwhile', async (kind, meanwhile) => {
  const { send, add, countEffects, clock } = openCommenter();
  await add({ kind, delayMs: 1_000 });
  let isAnswered = false;

  const reply = send().finally(() => (isAnswered = true));
  await clock.advance(999);
  const effects = await countEffects();
  const wasAnswered = isAnswered;
  await clock.advance(1);

  expect((await reply).status).toBe(200);
  expect({ effects, wasAnswered }).toEqual({ effects: meanwhile, wasAnswered: false });
  expect(await countEffects()).toBe(1);
});

test('slow delays a read and changes nothing else', async () => {
  const { control, clock, request } = openDesk();
  await control.addFault({ match: { route: 'get_ticket' }, fault: { kind: 'slow', delayMs: 300 } });
  let isAnswered = false;

  const reply = request('/tickets/T100').finally(() => (isAnswered = true));
  await clock.advance(299);
  const wasAnswered = isAnswered;
  await clock.advance(1);

  expect(wasAnswered).toBe(false);
  expect(await bodyOf(reply)).toMatchObject({ id: 'T100' });
});

test.each([
  [{ status: 403 }, { status: 403, code: 'forbidden' }],
  [{ status: 409 }, { status: 409, code: 'conflict' }],
  [{ status: 412 }, { status: 412, code: 'version_mismatch' }],
  [{ status: 422 }, { status: 422, code: 'unprocessable' }],
  [{ status: 429 }, { status: 429, code: 'rate_limited' }],
  [{ status: 503 }, { status: 503, code: 'unavailable' }],
  [{ status: 418 }, { status: 418, code: 'status_418' }],
  [
    { status: 403, code: 'revoked' },
    { status: 403, code: 'revoked' },
  ],
])('status %j answers %j before anything is done', async (fault, outcome) => {
  const { send, add, countEffects } = openCommenter();
  await add({ kind: 'status', ...fault });

  expect(await outcomeOf(send())).toEqual(outcome);
  expect(await countEffects()).toBe(0);
});

test('a status may come with retry-after, with the current version, and after the effect', async () => {
  const { send, add, countEffects } = openCommenter();
  await add({ kind: 'status', status: 429, retryAfter: 7 });
  await add({ kind: 'status', status: 412 });
  await add({ kind: 'status', status: 503, applied: true });

  const limited = await send();
  const conflict = await bodyOf(send());
  const before = await countEffects();
  const lied = await send();

  expect(limited.headers.get('Retry-After')).toBe('7');
  expect(conflict).toMatchObject({ currentVersion: 3 });
  expect(before).toBe(0);
  expect(lied.status).toBe(503);
  expect(await countEffects()).toBe(1);
});

test('a fault comes before the recorded reply: a second generation can be refused after the first has worked', async () => {
  const { send, add, countEffects } = openCommenter();
  await add({ kind: 'apply-then-drop' });
  await add({ kind: 'status', status: 403 });

  await expect(send()).rejects.toMatchObject(dropped);
  expect(await outcomeOf(send())).toEqual({ status: 403, code: 'forbidden' });
  expect(await outcomeOf(send())).toEqual({ status: 200 });
  expect(await countEffects()).toBe(1);
});

test('a rule skips, fires and is used up; the rule behind it begins then', async () => {
  const { send, add, control } = openCommenter();
  await add({ kind: 'status', status: 503 }, { skip: 1, times: 2 });
  await add({ kind: 'status', status: 429 }, { skip: 1, times: 'always' });

  const statuses = [];
  for (let index = 0; index < 6; index += 1) statuses.push((await send(`k${String(index)}`)).status);

  expect(statuses).toEqual([200, 503, 503, 429, 429, 429]);
  expect(await control.faults()).toMatchObject([
    { id: 1, seen: 3, fired: 2 },
    { id: 2, seen: 4, fired: 3 },
  ]);
});

test('a rule may be for one ticket, one key, every write or every route', async () => {
  const { control, post, request } = openDesk();
  await control.addFault({ match: { route: 'any', ticket: 'T101' }, times: 1, fault: { kind: 'status', status: 500 } });
  await control.addFault({ match: { route: 'write', key: 'k2' }, fault: { kind: 'status', status: 503 } });

  expect((await request('/tickets/T100')).status).toBe(200);
  expect((await request('/tickets/T101')).status).toBe(500);
  expect((await post('/tickets/T100/close', undefined, { 'Idempotency-Key': 'k1' })).status).toBe(200);
  expect((await post('/tickets/T102/close', undefined, { 'Idempotency-Key': 'k2' })).status).toBe(503);
  expect((await request('/operations/k2')).status).toBe(404);
});

test('faults for different moments meet in one request', async () => {
  const { control, post, clock, receiver } = openDesk();
  const match = { route: 'reassign' } as const;
  await control.addFault({ match, fault: { kind: 'slow', delayMs: 100 } });
  await control.addFault({ match, fault: { kind: 'accept-job', manual: true } });
  await control.addFault({ match, fault: { kind: 'callback', when: 'twice' } });
  await control.addFault({ match, fault: { kind: 'apply-then-drop' } });

  const reply = post('/tickets/T100/reassign', { team: 'legal' }, { 'Callback-Url': 'http://127.0.0.1:9/' });
  reply.catch(() => undefined);
  await clock.advance(100);

  await expect(reply).rejects.toMatchObject(dropped);
  expect(await control.jobs()).toMatchObject([{ id: 'J3', status: 'running', plan: { run: 'manual' } }]);
  expect(receiver.sent).toHaveLength(4);
});

test('a rule for a moment that a request does not reach waits for one that does', async () => {
  const { control, post } = openDesk();
  const match = { route: 'close' } as const;
  await control.addFault({ match, fault: { kind: 'accept-job' } });
  await control.addFault({ match, fault: { kind: 'callback', when: 'never' } });
  await control.addFault({ match, fault: { kind: 'status', status: 503 } });

  const statuses = [];
  for (const ticket of ['T100', 'T100', 'T101']) statuses.push((await post(`/tickets/${ticket}/close`)).status);

  expect(statuses).toEqual([503, 202, 200]);
  expect((await control.faults()).map(({ fired }) => fired)).toEqual([1, 0, 1]);
});

test.each([
  [{ text: '' }, ''],
  [{ text: '{"ticket":' }, '{"ticket":'],
  [{ base64: Buffer.from([0x7b, 0xff, 0xfe]).toString('base64') }, Buffer.from([0x7b, 0xff, 0xfe])],
  [{ fillBytes: 2_000_000 }, 'x'.repeat(2_000_000)],
])('a wrong body replaces the answer, not the effect (%#)', async (content, expected) => {
  const { send, add, countEffects } = openCommenter();
  await add({ kind: 'body', content });

  const response = await send();

  expect(response.status).toBe(200);
  expect(Buffer.from(await response.arrayBuffer()).equals(Buffer.from(expected))).toBe(true);
  expect(await countEffects()).toBe(1);
});

test('a wrong body may have another status and type', async () => {
  const { control, request } = openDesk();
  const fault = { kind: 'body', content: { text: '<html>' }, status: 502, contentType: 'text/html' } as const;
  await control.addFault({ match: { route: 'get_ticket' }, fault });

  const response = await request('/tickets/T100');

  expect([response.status, response.headers.get('Content-Type'), await response.text()]).toEqual([
    502,
    'text/html',
    '<html>',
  ]);
});

test('a malformed request is refused without using up a rule', async () => {
  const { post, add, control } = openCommenter();
  await add({ kind: 'apply-then-drop' });

  expect((await post('/tickets/T100/comments', { text: 7 })).status).toBe(422);
  expect(await control.faults()).toMatchObject([{ seen: 0, fired: 0 }]);
});

test.each([
  [{ match: { route: 'get_ticket' }, fault: { kind: 'accept-job' } }, '/match/route'],
  [{ match: { route: 'any' }, fault: { kind: 'apply-late', delayMs: 1 } }, '/match/route'],
  [{ match: { route: 'lookups' }, fault: { kind: 'hang' } }, '/match/route'],
  [{ match: { route: 'list' }, fault: { kind: 'apply-later' } }, '/fault/kind'],
  [{ match: { route: 'list' }, fault: { kind: 'status', status: 200 } }, '/fault/status'],
  [{ match: { route: 'list' }, times: 0, fault: { kind: 'hang' } }, '/times'],
  [{ match: { route: 'list' }, fault: { kind: 'body', content: { base64: '*' } } }, '/fault/content'],
])('a rule that cannot act is refused by name: %j', async (rule, pointer) => {
  const { post } = openDesk();

  const body = await bodyOf(post('/_control/faults', rule));

  expect(body).toMatchObject({ status: 422, detail: expect.stringContaining(pointer) });
});

test('clearing the rules ends them', async () => {
  const { send, add, control } = openCommenter();
  await add({ kind: 'status', status: 503 }, { times: 'always' });

  await control.clearFaults();

  expect((await send()).status).toBe(200);
});

test('reset drops what was to happen later and cuts what is held', async () => {
  const { send, add, countEffects, clock, control } = openCommenter();
  await add({ kind: 'apply-late', delayMs: 1_000 });
  await add({ kind: 'hold-then-apply', delayMs: 1_000 });
  await expect(send('late')).rejects.toMatchObject(dropped);
  const held = send('held');
  held.catch(() => undefined);
  await settle();

  await control.reset();
  await clock.advance(10_000);

  await expect(held).rejects.toMatchObject(dropped);
  expect(await countEffects()).toBe(0);
});
