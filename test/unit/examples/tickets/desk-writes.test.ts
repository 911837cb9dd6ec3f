import { expect, test } from '@jest/globals';
import { bodyOf, openDesk, outcomeOf } from './desk-fixture';

const reassignment = { team: 'payments-oncall', reason: 'R-7' };

test('a reassignment is one effect and a new version', async () => {
  const { post, request, control } = openDesk();

  const response = await post('/tickets/T100/reassign', reassignment, { 'If-Match': '"3"', 'Idempotency-Key': 'k1' });

  expect(response.status).toBe(200);
  expect(response.headers.get('ETag')).toBe('"4"');
  const effect = { id: 'F1', key: 'k1', kind: 'reassign', ticket: 'T100', ticketVersion: 4, args: reassignment };
  expect(await bodyOf(response)).toMatchObject({ ticket: { team: 'payments-oncall', version: 4 }, effect });
  expect(await bodyOf(request('/tickets/T100'))).toMatchObject({ team: 'payments-oncall', version: 4 });
  expect(await control.effects()).toMatchObject([effect]);
});

test('no header is required, and a comment sent twice is there twice', async () => {
  const { post, request, control } = openDesk();

  await post('/tickets/T101/comments', { text: 'on it' });
  await post('/tickets/T101/comments', { text: 'on it' });

  expect(await bodyOf(request('/tickets/T101'))).toMatchObject({
    version: 3,
    comments: [{ text: 'on it' }, { text: 'on it' }],
  });
  expect(await control.effects()).toMatchObject([{ key: null }, { key: null }]);
});

test('a closed ticket takes no further write, whatever the precondition says', async () => {
  const { post, control } = openDesk();

  const closed = await bodyOf(post('/tickets/T101/close'));

  expect(closed).toMatchObject({ ticket: { status: 'closed', version: 2 } });
  const again = await bodyOf(post('/tickets/T101/close', undefined, { 'If-Match': '"1"' }));
  expect(again).toMatchObject({ status: 409, code: 'ticket_closed', currentVersion: 2 });
  expect(await control.effects()).toHaveLength(1);
});

test.each([
  ['"3"', { status: 200 }],
  ['*', { status: 200 }],
  ['"1", "3"', { status: 200 }],
  ['"2"', { status: 412, code: 'version_mismatch' }],
  ['W/"3"', { status: 412, code: 'version_mismatch' }],
  ['3', { status: 400, code: 'if_match_malformed' }],
])('If-Match: %s on version 3 gives %j', async (ifMatch, outcome) => {
  const { post, control } = openDesk();

  const actual = await outcomeOf(post('/tickets/T100/reassign', reassignment, { 'If-Match': ifMatch }));

  expect(actual).toEqual(outcome);
  expect(await control.effects()).toHaveLength(outcome.status === 200 ? 1 : 0);
});

test('a mismatch names the current version', async () => {
  const { post } = openDesk();

  const body = await bodyOf(post('/tickets/T100/close', undefined, { 'If-Match': '"2"' }));

  expect(body).toMatchObject({ code: 'version_mismatch', currentVersion: 3 });
});

test('a person who edits a ticket makes a version', async () => {
  const { post, control } = openDesk();

  const edited = await control.putTicket({ id: 'T100', title: 'Checkout times out' });

  expect(edited).toMatchObject({ title: 'Checkout times out', team: 'frontend', version: 4 });
  const outcome = await outcomeOf(post('/tickets/T100/close', undefined, { 'If-Match': '"3"' }));
  expect(outcome).toEqual({ status: 412, code: 'version_mismatch' });
  expect(await control.effects()).toEqual([]);
});

test('a new ticket and a changed rule can be put', async () => {
  const { control, request } = openDesk();

  await control.putTicket({ id: 'T200', title: 'New', service: 'search-index', team: 'frontend' });
  await control.putRule({ id: 'R-7', team: 'billing-oncall' });

  expect(await bodyOf(request('/tickets/T200'))).toMatchObject({ version: 1, status: 'open', comments: [] });
  expect(await bodyOf(request('/rules/oncall?service=payments-checkout'))).toMatchObject({
    rules: [{ id: 'R-7', team: 'billing-oncall', version: 3 }],
  });
});

test.each([
  ['reassign', { team: 'nobody' }, { status: 422, code: 'team_unknown' }, 'team: expected one of frontend'],
  ['reassign', {}, { status: 422, code: 'validation_failed' }, '/team'],
  ['reassign', { team: 7 }, { status: 422, code: 'validation_failed' }, '/team'],
  ['reassign', { team: 'legal', key: 'k' }, { status: 422, code: 'validation_failed' }, 'key'],
  ['comments', { text: '' }, { status: 422, code: 'validation_failed' }, '/text'],
  ['comments', [], { status: 422, code: 'validation_failed' }, 'body'],
  ['comments', { text: 'x'.repeat(300_000) }, { status: 413, code: 'body_too_large' }, 'bytes'],
])('%s with a wrong body is refused by name (%#)', async (route, body, outcome, named) => {
  const { post, control } = openDesk();

  const response = post(`/tickets/T100/${route}`, body);

  expect(await outcomeOf(response.then((r) => r.clone()))).toEqual(outcome);
  expect((await bodyOf(response))['detail']).toContain(named);
  expect(await control.effects()).toEqual([]);
});

test.each([
  ['{"text":', 'application/json', { status: 400, code: 'body_not_json' }],
  [Uint8Array.from([0x22, 0xff, 0x22]), 'application/json', { status: 400, code: 'body_not_json' }],
  ['text=hello', 'application/x-www-form-urlencoded', { status: 415, code: 'unsupported_media_type' }],
])('a body that is no JSON is refused (%#)', async (body, type, outcome) => {
  const { request } = openDesk();

  const response = request('/tickets/T100/comments', { method: 'POST', body, headers: { 'Content-Type': type } });

  expect(await outcomeOf(response)).toEqual(outcome);
});

test('the same key and body get the recorded reply, even when the ticket has moved on', async () => {
  const { post, control } = openDesk();
  const headers = { 'Idempotency-Key': 'k1', 'If-Match': '"3"' };
  const first = await post('/tickets/T100/reassign', reassignment, headers);
  await post('/tickets/T100/close');

  const second = await post('/tickets/T100/reassign', { reason: 'R-7', team: 'payments-oncall' }, headers);

  expect(first.headers.get('Idempotent-Replayed')).toBeNull();
  expect(second.status).toBe(200);
  expect(second.headers.get('Idempotent-Replayed')).toBe('true');
  expect(second.headers.get('ETag')).toBe('"4"');
  expect(await second.text()).toBe(await first.text());
  expect(await control.effects()).toMatchObject([{ kind: 'reassign' }, { kind: 'close' }]);
});

test.each([
  ['/tickets/T100/reassign', { team: 'legal' }],
  ['/tickets/T101/reassign', reassignment],
  ['/tickets/T100/close', undefined],
])('the same key for something else is refused: %s %j', async (path, body) => {
  const { post, control } = openDesk();
  await post('/tickets/T100/reassign', reassignment, { 'Idempotency-Key': 'k1' });

  const outcome = await outcomeOf(post(path, body, { 'Idempotency-Key': 'k1' }));

  expect(outcome).toEqual({ status: 422, code: 'idempotency_key_reused' });
  expect(await control.effects()).toHaveLength(1);
});

test('twenty requests with one key at once are one effect', async () => {
  const { post, control } = openDesk();

  const replies = await Promise.all(
    Array.from({ length: 20 }, () => post('/tickets/T100/comments', { text: 'once' }, { 'Idempotency-Key': 'k1' })),
  );

  const bodies = new Set(await Promise.all(replies.map((reply) => reply.text())));
  expect(bodies.size).toBe(1);
  expect(await control.effects()).toHaveLength(1);
});

test('a refusal is not recorded: the same key may be used again', async () => {
  const { post, control } = openDesk();
  const headers = { 'Idempotency-Key': 'k1' };
  await post('/tickets/T100/reassign', reassignment, { ...headers, 'If-Match': '"2"' });

  const response = await post('/tickets/T100/reassign', reassignment, { ...headers, 'If-Match': '"3"' });

  expect(response.status).toBe(200);
  expect(await control.effects()).toHaveLength(1);
});

test('with dedupe switched off the same key does it twice', async () => {
  const { post, control } = openDesk();
  await control.changeSettings({ dedupe: false });

  await post('/tickets/T100/comments', { text: 'twice' }, { 'Idempotency-Key': 'k1' });
  await post('/tickets/T100/comments', { text: 'twice' }, { 'Idempotency-Key': 'k1' });

  expect(await control.effects()).toMatchObject([{ key: 'k1' }, { key: 'k1' }]);
});

test('a key is forgotten at the end of its retention, not before', async () => {
  const { post, control, clock } = openDesk();
  const comment = () => post('/tickets/T100/comments', { text: 'again' }, { 'Idempotency-Key': 'k1' });
  await control.changeSettings({ keyRetentionMs: 1_000 });
  await comment();

  await clock.advance(999);
  await comment();
  const before = await control.effects();
  await clock.advance(1);
  await comment();

  expect(before).toHaveLength(1);
  expect(await control.effects()).toHaveLength(2);
});

test.each(['', 'k'.repeat(256)])('a key of a wrong length is refused (%#)', async (key) => {
  const { post } = openDesk();

  const outcome = await outcomeOf(post('/tickets/T100/close', undefined, { 'Idempotency-Key': key }));

  expect(outcome).toEqual({ status: 400, code: 'idempotency_key_malformed' });
});

test('reset brings the seed and the default settings back', async () => {
  const { post, control, request } = openDesk();
  await control.changeSettings({ dedupe: false, lookup: 'off' });
  await control.addFault({ match: { route: 'list' }, times: 'always', fault: { kind: 'status', status: 500 } });
  await post('/tickets/T100/close');

  await control.reset();

  expect(await bodyOf(request('/tickets/T100'))).toMatchObject({ status: 'open', version: 3 });
  expect(await control.settings()).toMatchObject({ dedupe: true, lookup: 'on' });
  expect(await control.effects()).toEqual([]);
  expect(await control.faults()).toEqual([]);
  expect(await control.requests()).toMatchObject([{ path: '/tickets/T100' }]);
});

test('a setting that does not exist or has a wrong value is refused', async () => {
  const { post, control } = openDesk();

  const unknown = await bodyOf(post('/_control/settings', { dedup: true }));
  const wrong = await bodyOf(post('/_control/settings', { lookup: 'maybe' }));

  expect(unknown).toMatchObject({ status: 422, detail: expect.stringContaining('dedup') });
  expect(wrong).toMatchObject({ status: 422, detail: expect.stringContaining('/lookup') });
  await expect(control.finishJob('J99')).rejects.toMatchObject({ name: 'DeskControlError', status: 404 });
});
