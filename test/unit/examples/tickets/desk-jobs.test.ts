import { expect, test } from '@jest/globals';
import { bodyOf, openDesk, outcomeOf } from './desk-fixture';

const reassignment = { team: 'payments-oncall' };
const asyncHeaders = { 'Idempotency-Key': 'k1', Prefer: 'respond-async' };

test('a write that may be done later is accepted as job J3, works, and is done once', async () => {
  const { post, request, clock, control } = openDesk();

  const accepted = await post('/tickets/T100/reassign', reassignment, asyncHeaders);

  expect(accepted.status).toBe(202);
  expect(await bodyOf(accepted)).toEqual({ job: 'J3', status: 'accepted' });
  const before = await bodyOf(request('/jobs/J3'));
  await clock.advance(1);
  const during = await bodyOf(request('/jobs/J3'));
  const effectsBefore = await control.effects();
  await clock.advance(200);
  const after = await bodyOf(request('/jobs/J3'));

  expect(before).toEqual({ job: 'J3', status: 'accepted', key: 'k1', kind: 'reassign', ticket: 'T100' });
  expect(during).toMatchObject({ status: 'running' });
  expect(effectsBefore).toEqual([]);
  expect(after).toMatchObject({ status: 'done', effect: { key: 'k1', job: 'J3', ticketVersion: 4 } });
  expect(await control.effects()).toMatchObject([{ job: 'J3', args: reassignment }]);
});

test.each([
  ['respond-async, wait=10', 202],
  ['return=minimal, Respond-Async;x=1', 202],
  ['return=representation', 200],
])('Prefer: %s is answered with %d', async (prefer, status) => {
  const { post } = openDesk();

  expect((await post('/tickets/T100/close', undefined, { Prefer: prefer })).status).toBe(status);
});

test('the same key gets the same job, and no second effect', async () => {
  const { post, clock, control, request } = openDesk();
  await post('/tickets/T100/reassign', reassignment, asyncHeaders);
  await clock.advance(1_000);

  const again = await post('/tickets/T100/reassign', reassignment, asyncHeaders);
  await clock.advance(1_000);

  expect(again.headers.get('Idempotent-Replayed')).toBe('true');
  expect(await bodyOf(again)).toEqual({ job: 'J3', status: 'accepted' });
  expect(await bodyOf(request('/jobs?key=k1'))).toMatchObject({ jobs: [{ job: 'J3', status: 'done' }] });
  expect(await control.effects()).toHaveLength(1);
});

test('jobs are listed by key, or all', async () => {
  const { post, request } = openDesk();
  await post('/tickets/T100/reassign', reassignment, asyncHeaders);
  await post('/tickets/T101/close', undefined, { Prefer: 'respond-async' });

  expect(await bodyOf(request('/jobs?key=k1'))).toMatchObject({ jobs: [{ job: 'J3' }] });
  expect(await bodyOf(request('/jobs?key=k2'))).toEqual({ jobs: [] });
  expect(await bodyOf(request('/jobs'))).toMatchObject({ jobs: [{ job: 'J3' }, { job: 'J4', key: null }] });
});

test('what would be refused at once is not accepted as a job', async () => {
  const { post, control } = openDesk();

  const outcome = await outcomeOf(post('/tickets/T100/close', undefined, { ...asyncHeaders, 'If-Match': '"2"' }));

  expect(outcome).toEqual({ status: 412, code: 'version_mismatch' });
  expect(await control.jobs()).toEqual([]);
});

test('a job judges the ticket again when it does its work', async () => {
  const { post, request, clock, control } = openDesk();
  await post('/tickets/T100/reassign', reassignment, { ...asyncHeaders, 'If-Match': '"3"' });
  await post('/tickets/T101/reassign', reassignment, { Prefer: 'respond-async' });
  await control.putTicket({ id: 'T100', title: 'edited meanwhile' });
  await post('/tickets/T101/close');

  await clock.advance(1_000);

  expect(await bodyOf(request('/jobs/J3'))).toMatchObject({ status: 'failed', failure: { code: 'version_mismatch' } });
  expect(await bodyOf(request('/jobs/J4'))).toMatchObject({ status: 'failed', failure: { code: 'ticket_closed' } });
  expect(await control.effects()).toMatchObject([{ kind: 'close', ticket: 'T101' }]);
});

test('a manual job ends when it is told to, once', async () => {
  const { post, clock, control } = openDesk();
  await control.addFault({ match: { route: 'write' }, fault: { kind: 'accept-job', manual: true } });
  await post('/tickets/T100/reassign', reassignment, { 'Idempotency-Key': 'k1' });

  await clock.advance(10 * 86_400_000);
  const before = await control.effects();
  const done = await control.finishJob('J3');

  expect(before).toEqual([]);
  expect(done).toMatchObject({ status: 'done', effect: { key: 'k1' } });
  await expect(control.finishJob('J3')).rejects.toMatchObject({ status: 409 });
  expect(await control.effects()).toHaveLength(1);
});

test('a job can be made to fail by itself', async () => {
  const { post, request, clock, control } = openDesk();
  const fault = { kind: 'accept-job', runMs: 10, outcome: 'failed' } as const;
  await control.addFault({ match: { route: 'reassign', ticket: 'T100' }, fault });
  await post('/tickets/T100/reassign', reassignment);

  await clock.advance(10);

  expect(await bodyOf(request('/jobs/J3'))).toMatchObject({ status: 'failed', failure: { code: 'job_failed' } });
  expect(await control.effects()).toEqual([]);
});

test('a cancelled job does nothing, and may be cancelled again', async () => {
  const { post, request, clock, control } = openDesk();
  await post('/tickets/T100/reassign', reassignment, asyncHeaders);
  await clock.advance(1);

  const first = await outcomeOf(post('/jobs/J3/cancel'));
  const second = await outcomeOf(post('/jobs/J3/cancel'));
  await clock.advance(1_000);

  expect([first, second]).toEqual([{ status: 202 }, { status: 202 }]);
  expect(await bodyOf(request('/jobs/J3'))).toMatchObject({ status: 'cancelled' });
  expect(await control.effects()).toEqual([]);
});

test('a job that is done or cannot be cancelled refuses to be', async () => {
  const { post, request, clock, control } = openDesk();
  const refused = { status: 409, code: 'job_not_cancellable' };
  const fault = { kind: 'accept-job', cancellable: false, runMs: 100 } as const;
  await control.addFault({ match: { route: 'reassign' }, fault });
  await post('/tickets/T100/reassign', reassignment);
  await clock.advance(50);

  const running = await bodyOf(post('/jobs/J3/cancel'));
  await clock.advance(50);
  const done = await bodyOf(post('/jobs/J3/cancel'));

  expect(running).toMatchObject({ ...refused, jobStatus: 'running' });
  expect(done).toMatchObject({ ...refused, jobStatus: 'done' });
  expect(await bodyOf(request('/jobs/J3'))).toMatchObject({ status: 'done' });
  expect(await control.effects()).toHaveLength(1);
});
