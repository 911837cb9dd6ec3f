import { expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { FaultRuleInput } from '../../../../examples/tickets/desk/core/faults';
import { bodyOf, CALLBACK_SECRET, openDesk, outcomeOf, settle, type Sent } from './desk-fixture';

const CALLBACK_URL = 'http://127.0.0.1:9/v1/callbacks/op_9';

type CallbackFault = Omit<Extract<FaultRuleInput['fault'], { kind: 'callback' }>, 'kind'>;

/** A desk, and a comment on T100 that it does as a job with callbacks. */
async function openJob(callback?: CallbackFault) {
  const desk = openDesk();
  if (callback) await desk.control.addFault({ match: { route: 'write' }, fault: { kind: 'callback', ...callback } });
  const submit = () =>
    desk.post(
      '/tickets/T100/comments',
      { text: 'done – é' },
      { Prefer: 'respond-async', 'Idempotency-Key': 'k1', 'Callback-Url': CALLBACK_URL },
    );
  return { ...desk, submit };
}

const verify = ({ payload, headers }: Sent): unknown =>
  new Webhook(CALLBACK_SECRET).verify(payload, Object.fromEntries(headers));

test('a job tells each of its events, signed over the bytes sent, after the 202', async () => {
  const { submit, clock, receiver } = await openJob();

  expect((await submit()).status).toBe(202);
  const sentBefore = receiver.sent.length;
  await clock.advance(1_000);

  expect(sentBefore).toBe(0);
  expect(receiver.sent.map(verify)).toMatchObject([
    { eventId: 'evt_J3_1', job: 'J3', key: 'k1', type: 'job.accepted', sequence: 1 },
    { eventId: 'evt_J3_2', job: 'J3', key: 'k1', type: 'job.running', sequence: 2 },
    { eventId: 'evt_J3_3', job: 'J3', key: 'k1', type: 'job.done', sequence: 3, effect: { id: 'F1', key: 'k1' } },
  ]);
  expect(receiver.sent[0]).toMatchObject({ url: CALLBACK_URL });
  expect(receiver.sent[2]?.headers.get('webhook-id')).toBe('evt_J3_3');
});

test('early callbacks are taken before the 202 is answered, the effect included', async () => {
  const { submit, receiver, control } = await openJob({ when: 'early' });
  let release: () => void = () => undefined;
  const isHeld = new Promise<void>((resolve) => (release = resolve));
  receiver.answer = async () => {
    await isHeld;
    return new Response(null, { status: 200 });
  };
  let isAnswered = false;

  const reply = submit().finally(() => (isAnswered = true));
  await settle();
  const wasAnswered = isAnswered;
  release();

  expect(wasAnswered).toBe(false);
  expect(await bodyOf(reply)).toEqual({ job: 'J3', status: 'accepted' });
  expect(receiver.bodies().map(({ type }) => type)).toEqual(['job.accepted', 'job.running', 'job.done']);
  expect(await control.effects()).toHaveLength(1);
});

test('twice means the same event several times at once', async () => {
  const { submit, clock, receiver } = await openJob({ when: 'twice', copies: 3 });
  await submit();

  await clock.advance(1_000);

  const ids = receiver.bodies().map(({ eventId }) => eventId);
  expect(ids).toEqual(['evt_J3_1', 'evt_J3_2', 'evt_J3_3'].flatMap((id) => [id, id, id]).sort());
});

test('late callbacks come that much after their events', async () => {
  const { submit, clock, receiver, control } = await openJob({ when: 'late', delayMs: 5_000 });
  await submit();

  await clock.advance(4_999);
  const sentEarly = receiver.sent.length;
  await clock.advance(201);

  expect(sentEarly).toBe(0);
  expect(await control.effects()).toHaveLength(1);
  expect(receiver.bodies().map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
});

test('never means that the job is done and nobody is told', async () => {
  const { submit, clock, receiver, request } = await openJob({ when: 'never' });
  await submit();

  await clock.advance(3_600_000);

  expect(await bodyOf(request('/jobs/J3'))).toMatchObject({ status: 'done' });
  expect(receiver.sent).toEqual([]);
});

test('forged callbacks carry a signature of another secret, and are not repeated', async () => {
  const { submit, clock, receiver } = await openJob({ when: 'forged' });
  receiver.answer = () => new Response(null, { status: 401 });
  await submit();

  await clock.advance(3_600_000);

  expect(receiver.sent).toHaveLength(3);
  for (const sent of receiver.sent) expect(() => verify(sent)).toThrow('No matching signature');
});

test('a callback is repeated with back-off until it is taken', async () => {
  const { submit, clock, receiver, control } = await openJob();
  const answers = [500, 404, 200];
  await control.changeSettings({ callbackBackoffMs: 1_000, jobRunMs: 86_400_000 });
  receiver.answer = () =>
    new Response(null, { status: receiver.bodies().at(-1)?.['sequence'] === 1 ? (answers.shift() ?? 200) : 200 });
  await submit();

  await clock.advance(1);
  await clock.advance(998);
  const soon = (await control.callbacks()).filter(({ eventId }) => eventId === 'evt_J3_1');
  await clock.advance(60_000);

  expect(soon).toMatchObject([{ attempt: 1, status: 500 }]);
  const all = (await control.callbacks()).filter(({ eventId }) => eventId === 'evt_J3_1');
  expect(all).toMatchObject([
    { attempt: 1, status: 500 },
    { attempt: 2, status: 404 },
    { attempt: 3, status: 200, signing: 'valid', url: CALLBACK_URL },
  ]);
  const gapsMs = all.slice(1).map((delivery, index) => Date.parse(delivery.at) - Date.parse(all[index]?.at ?? ''));
  expect(gapsMs).toEqual([1_000, 2_000]);
});

test('a receiver that is not there is given up after the last attempt, and the job is done all the same', async () => {
  const { submit, clock, receiver, control } = await openJob();
  await control.changeSettings({ callbackAttempts: 3 });
  receiver.answer = () => Promise.reject(new TypeError('fetch failed', { cause: new Error('ECONNREFUSED') }));
  await submit();

  await clock.advance(3_600_000);

  expect(receiver.sent).toHaveLength(9);
  expect(await control.callbacks()).toContainEqual(
    expect.objectContaining({ type: 'job.done', attempt: 3, error: expect.stringContaining('ECONNREFUSED') }),
  );
  expect(await control.effects()).toHaveLength(1);
});

test('a failed job tells so, without an effect', async () => {
  const { submit, clock, receiver, control } = await openJob();
  await control.addFault({ match: { route: 'comment' }, fault: { kind: 'accept-job', runMs: 5, outcome: 'failed' } });
  await submit();

  await clock.advance(5);

  expect(receiver.bodies().at(-1)).toEqual(expect.objectContaining({ type: 'job.failed', sequence: 3 }));
  expect(receiver.bodies().at(-1)).not.toHaveProperty('effect');
});

test('a callback can be made by hand: out of order, for another address, expired, unsigned', async () => {
  const { submit, clock, receiver, control } = await openJob({ when: 'never' });
  await submit();
  await clock.advance(1_000);

  await control.sendCallback('J3', { type: 'job.done', sequence: 3, copies: 2 });
  await control.sendCallback('J3', { type: 'job.running', sequence: 2, url: 'http://127.0.0.1:9/other' });
  await control.sendCallback('J3', { type: 'job.done', signing: 'expired' });
  await control.sendCallback('J3', { type: 'job.done', signing: 'none', eventId: 'evt_x' });

  const [first, copy, other, expired, unsigned] = receiver.sent;
  expect([first, copy].map((sent) => sent && verify(sent))).toMatchObject([
    { eventId: 'evt_J3_3', effect: { id: 'F1' } },
    { eventId: 'evt_J3_3', effect: { id: 'F1' } },
  ]);
  expect(other).toMatchObject({ url: 'http://127.0.0.1:9/other' });
  expect(() => expired && verify(expired)).toThrow('too old');
  expect(unsigned?.headers.has('webhook-signature')).toBe(false);
});

test('after a reset no callback of an older job is sent', async () => {
  const { submit, clock, receiver, control } = await openJob({ when: 'late', delayMs: 1_000 });
  await submit();
  await clock.advance(500);

  await control.reset();
  await clock.advance(3_600_000);

  expect(receiver.sent).toEqual([]);
  expect(await control.effects()).toEqual([]);
});

test('a callback that is under way when the desk is reset is neither repeated nor remembered', async () => {
  const { submit, clock, receiver, control } = await openJob();
  let refuse: (response: Response) => void = () => undefined;
  receiver.answer = () => new Promise((resolve) => (refuse = resolve));
  await submit();
  await clock.advance(1);
  const sent = receiver.sent.length;

  await control.reset();
  await submit();
  refuse(new Response(null, { status: 500 }));
  receiver.answer = () => new Response(null, { status: 204 });
  await clock.advance(3_600_000);

  expect(sent).toBe(2);
  expect(receiver.bodies().slice(2)).toMatchObject([{ sequence: 1 }, { sequence: 2 }, { sequence: 3 }]);
  expect(await control.callbacks()).toMatchObject([{ attempt: 1 }, { attempt: 1 }, { attempt: 1 }]);
});

test.each(['https://example.com/hook', 'http://10.0.0.1/hook', 'ftp://127.0.0.1/', 'nonsense'])(
  'the desk does not call %s',
  async (url) => {
    const { post, control } = openDesk();

    const outcome = await outcomeOf(post('/tickets/T100/close', undefined, { 'Callback-Url': url }));

    expect(outcome).toEqual({ status: 400, code: 'callback_url_refused' });
    expect(await control.effects()).toEqual([]);
  },
);

test('a desk without a secret refuses to call back rather than calling unsigned', async () => {
  const { post } = openDesk({ callbackSecret: undefined });

  const outcome = await outcomeOf(post('/tickets/T100/close', undefined, { 'Callback-Url': CALLBACK_URL }));

  expect(outcome).toEqual({ status: 422, code: 'callbacks_not_configured' });
});

test('a secret that is no base64 is refused when the desk is made', () => {
  expect(() => openDesk({ callbackSecret: '***' })).toThrow(expect.objectContaining({ code: 'desk.options_invalid' }));
});
