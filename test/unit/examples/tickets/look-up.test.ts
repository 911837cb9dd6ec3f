import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { compileAgents } from '../../../../definition/compile-agent';
import { createTicketsAgent } from '../../../../examples/tickets/agent';
import { WRITE_CONTRACTS, type WriteContract } from '../../../../examples/tickets/tools/contract';
import { traitsOf } from '../../../../activities/operate/next-for-unknown';
import { contextOf, execute, KEY, toolOf } from './tool-fixture';
import { serveDesk, type ServedDesk } from './served-desk';

let desk: ServedDesk;
beforeAll(async () => {
  desk = await serveDesk();
});
afterAll(() => desk.close());
beforeEach(() => desk.control.reset());

const REASSIGN = { ticket: 'T100', team: 'payments-oncall' };
const DONE = { ticket: 'T100', team: 'payments-oncall', version: 4, effect: 'F1' };

const reassign = (contract?: WriteContract) =>
  toolOf({ deskUrl: desk.url, ...(contract === undefined ? {} : { contract }) }, 'reassign_ticket');
const lookUp = () => reassign().reconcile?.(REASSIGN, contextOf());
const check = (job: string) => reassign().poll?.check(REASSIGN, contextOf({ job }));

describe('a look-up by key', () => {
  test('finds what was done although its receipt was lost', async () => {
    await desk.control.addFault({ match: { route: 'reassign' }, fault: { kind: 'apply-then-drop' } });
    await expect(execute(reassign(), REASSIGN)).rejects.toMatchObject({ code: 'UNAVAILABLE' });

    expect(await lookUp()).toMatchObject({ kind: 'found', output: DONE });
  });

  test('says that nothing was done where the request never arrived', async () => {
    expect(await lookUp()).toEqual({ kind: 'notFound' });
  });

  test('does not take another operation that did the same for this one', async () => {
    await execute(reassign(), REASSIGN, { idempotencyKey: 'op_somebody-else_1_1' });

    expect(await lookUp()).toEqual({ kind: 'notFound' });
  });

  test.each([
    ['off', { lookup: 'off' }],
    ['failing', { lookup: 'fail' }],
  ] as const)('cannot tell while the look-up is %s', async (_name, settings) => {
    await desk.control.changeSettings(settings);

    expect(await lookUp()).toMatchObject({ kind: 'cannotTell' });
  });

  test('cannot tell from a 404 that says something else, nor from no answer', async () => {
    await desk.control.addFault({ match: { route: 'lookup' }, fault: { kind: 'status', status: 404 } });
    const wrong = await lookUp();
    await desk.control.addFault({ match: { route: 'lookup' }, fault: { kind: 'drop-before-apply' } });

    expect([wrong, await lookUp()]).toMatchObject([{ kind: 'cannotTell' }, { kind: 'cannotTell' }]);
  });
});

describe('a job', () => {
  beforeEach(async () => {
    await desk.control.addFault({ match: { route: 'reassign' }, fault: { kind: 'accept-job', manual: true } });
    await reassign().execute(REASSIGN, contextOf());
  });

  test('runs until it has ended, by job and by key', async () => {
    const running = [await check('J3'), await lookUp()];
    await desk.control.finishJob('J3');

    expect(running).toEqual([
      { kind: 'running', job: 'J3' },
      { kind: 'running', job: 'J3' },
    ]);
    expect([await check('J3'), await lookUp()]).toMatchObject([
      { kind: 'found', output: DONE },
      { kind: 'found', output: DONE },
    ]);
  });

  test('that failed says of what kind', async () => {
    await desk.control.finishJob('J3', 'failed');

    expect(await check('J3')).toMatchObject({ kind: 'failed', code: 'UNAVAILABLE' });
    expect(await lookUp()).toMatchObject({ kind: 'failed', code: 'UNAVAILABLE' });
  });

  test('whose ticket was closed meanwhile ended in a conflict', async () => {
    await desk.control.putTicket({ id: 'T100', status: 'closed' });
    await desk.control.finishJob('J3');

    expect(await check('J3')).toMatchObject({ kind: 'failed', code: 'STATE_CONFLICT' });
  });

  test('is cancelled, and then says so', async () => {
    await reassign().cancel?.(REASSIGN, contextOf({ job: 'J3' }));

    expect([await check('J3'), await lookUp()]).toEqual([{ kind: 'cancelled' }, { kind: 'cancelled' }]);
    expect(await desk.control.effects()).toEqual([]);
  });

  test('that is done cannot be cancelled any more, which is no error', async () => {
    await desk.control.finishJob('J3');

    await expect(reassign().cancel?.(REASSIGN, contextOf({ job: 'J3' }))).resolves.toBeUndefined();
    expect(await check('J3')).toMatchObject({ kind: 'found' });
  });

  test('that the desk never heard of is not found', async () => {
    expect(await check('J999')).toEqual({ kind: 'notFound' });
  });
});

describe('the four contracts', () => {
  test.each([
    ['key and look-up', { canLookUp: true, isLookUpAuthoritative: true, idempotency: 'key' }],
    ['key only', { canLookUp: false, isLookUpAuthoritative: false, idempotency: 'key' }],
    ['look-up only', { canLookUp: true, isLookUpAuthoritative: false, idempotency: 'none' }],
    ['neither', { canLookUp: false, isLookUpAuthoritative: false, idempotency: 'none' }],
  ] as const)('%s is what the runtime understands', (contract, expected) => {
    expect(traitsOf(reassign(contract))).toMatchObject(expected);
  });

  test.each(WRITE_CONTRACTS)('with %s the key goes out where something rests on it', async (contract) => {
    await execute(reassign(contract), REASSIGN);

    expect(await desk.control.requests()).toMatchObject([{ key: contract === 'neither' ? null : KEY }]);
  });

  test.each(WRITE_CONTRACTS)('with %s an agent compiles', (contract) => {
    const agent = createTicketsAgent({ tools: { deskUrl: desk.url, contract } });

    expect([...compileAgents([agent]).agents.keys()]).toEqual(['tickets']);
  });
});
