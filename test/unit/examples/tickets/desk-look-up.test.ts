import { expect, test } from '@jest/globals';
import { bodyOf, openDesk, outcomeOf, settle } from './desk-fixture';

const comment = { text: 'hello' };

test('a key that did something is found with its effect and the version after it', async () => {
  const { post, request } = openDesk();
  await post('/tickets/T100/comments', comment, { 'Idempotency-Key': 'run_1/op 9' });
  await post('/tickets/T100/close');

  const body = await bodyOf(request(`/operations/${encodeURIComponent('run_1/op 9')}`));

  expect(body).toMatchObject({ status: 'done', effect: { id: 'F1', key: 'run_1/op 9', kind: 'comment' } });
  expect(body['ticketVersion']).toBe(4);
});

test('a key that did nothing is not found, also when it was refused', async () => {
  const { post, request } = openDesk();
  await post('/tickets/T100/comments', comment, { 'Idempotency-Key': 'k1', 'If-Match': '"1"' });

  expect(await outcomeOf(request('/operations/k1'))).toEqual({ status: 404, code: 'operation_not_found' });
});

test('an effect is visible to look-up only after the lag', async () => {
  const { post, request, clock, control } = openDesk();
  await control.changeSettings({ lookupLagMs: 500 });
  await post('/tickets/T100/comments', comment, { 'Idempotency-Key': 'k1' });

  await clock.advance(499);
  const early = await outcomeOf(request('/operations/k1'));
  await clock.advance(1);
  const late = await outcomeOf(request('/operations/k1'));

  expect(early).toEqual({ status: 404, code: 'operation_not_found' });
  expect(late).toEqual({ status: 200 });
});

test('a look-up that is off is 501, one that fails is 503, as long as the setting lasts', async () => {
  const { post, request, control } = openDesk();
  await post('/tickets/T100/comments', comment, { 'Idempotency-Key': 'k1' });

  await control.changeSettings({ lookup: 'off' });
  expect(await outcomeOf(request('/operations/k1'))).toEqual({ status: 501, code: 'lookup_off' });
  await control.changeSettings({ lookup: 'fail' });
  expect(await outcomeOf(request('/operations/k1'))).toEqual({ status: 503, code: 'lookup_unavailable' });
  await control.changeSettings({ lookup: 'on' });
  expect(await outcomeOf(request('/operations/k1'))).toEqual({ status: 200 });
});

test('a look-up can fail a number of times and then work', async () => {
  const { post, request, control } = openDesk();
  await post('/tickets/T100/comments', comment, { 'Idempotency-Key': 'k1' });
  await control.addFault({ match: { route: 'lookup', key: 'k1' }, times: 2, fault: { kind: 'status', status: 503 } });

  const statuses = [];
  for (let index = 0; index < 3; index += 1) statuses.push((await request('/operations/k1')).status);

  expect(statuses).toEqual([503, 503, 200]);
});

test('a look-up that hangs is not answered, and is cut when the desk is reset', async () => {
  const { request, control } = openDesk();
  await control.changeSettings({ lookup: 'hang' });
  let isSettled = false;

  const hanging = request('/operations/k1').finally(() => {
    isSettled = true;
  });
  hanging.catch(() => undefined);
  await settle();

  expect(isSettled).toBe(false);
  await control.reset();
  await expect(hanging).rejects.toMatchObject({ name: 'ConnectionDroppedError' });
});

test('a job is pending until it has ended, also for as long as look-up lags behind its end', async () => {
  const { post, request, clock, control } = openDesk();
  await control.changeSettings({ lookupLagMs: 50, jobRunMs: 200 });
  await post('/tickets/T100/comments', comment, { 'Idempotency-Key': 'k1', Prefer: 'respond-async' });
  const lookUp = () => bodyOf(request('/operations/k1'));

  expect(await lookUp()).toMatchObject({ code: 'operation_not_found' });
  await clock.advance(60);
  expect(await lookUp()).toEqual({ key: 'k1', status: 'pending', job: 'J3' });
  await clock.advance(150);
  expect(await control.effects()).toHaveLength(1);
  expect(await lookUp()).toMatchObject({ status: 'pending' });
  await clock.advance(50);
  expect(await lookUp()).toMatchObject({
    status: 'done',
    job: 'J3',
    effect: { key: 'k1', job: 'J3' },
    ticketVersion: 4,
  });
});

test('a failed and a cancelled job are found as failed, with the reason', async () => {
  const { post, request, clock, control } = openDesk();
  await control.addFault({ match: { route: 'comment' }, times: 2, fault: { kind: 'accept-job', manual: true } });
  await post('/tickets/T100/comments', comment, { 'Idempotency-Key': 'k1' });
  await post('/tickets/T100/comments', comment, { 'Idempotency-Key': 'k2' });
  await clock.advance(1);
  await control.finishJob('J3', 'failed');
  await post('/jobs/J4/cancel');

  expect(await bodyOf(request('/operations/k1'))).toMatchObject({ status: 'failed', failure: { code: 'job_failed' } });
  expect(await bodyOf(request('/operations/k2'))).toMatchObject({
    status: 'failed',
    failure: { code: 'job_cancelled' },
  });
  expect(await control.effects()).toEqual([]);
});
