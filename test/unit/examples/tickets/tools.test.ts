import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { classifyReadError, classifyWriteError } from '../../../../activities/operate/classify-tool-error';
import { ToolError } from '../../../../index';
import { contextOf, execute, KEY, named, toolOf } from './tool-fixture';
import { serveDesk, type ServedDesk } from './served-desk';

let desk: ServedDesk;
beforeAll(async () => {
  desk = await serveDesk();
});
afterAll(() => desk.close());
beforeEach(() => desk.control.reset());

const tool = (name: string) => toolOf({ deskUrl: desk.url }, name);

const errorOf = async (promise: Promise<unknown>): Promise<ToolError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ToolError)) throw new Error(`expected a ToolError, got ${String(error)}`);
  return error;
};

const REASSIGN = { ticket: 'T100', team: 'payments-oncall' };

describe('reads', () => {
  test('get_ticket gives the ticket, and its state as facts of this version', async () => {
    const { output, facts } = await execute(tool('get_ticket'), { ticket: 'T100' });

    expect(output).toMatchObject({ id: 'T100', service: 'payments-checkout', team: 'frontend', version: 3 });
    expect(named(facts)).toEqual({
      'ticket:T100.service': 'payments-checkout',
      'ticket:T100.team': 'frontend',
      'ticket:T100.status': 'open',
      'ticket:T100.version': 3,
      'revision:T100@3.team': 'frontend',
    });
    expect(new Set(facts.map(({ version }) => version))).toEqual(new Set(['3']));
  });

  test('get_oncall_rules confirms the rules of a service, and that there are none', async () => {
    const { facts } = await execute(tool('get_oncall_rules'), { service: 'payments-checkout' });
    const none = await execute(tool('get_oncall_rules'), { service: 'nothing' });

    expect(named(facts)).toEqual({
      'service:payments-checkout.rules': ['R-7'],
      'rule:R-7.service': 'payments-checkout',
      'rule:R-7.team': 'payments-oncall',
      'team:payments-oncall.exists': true,
    });
    expect(named(none.facts)).toEqual({ 'service:nothing.rules': [] });
  });

  test('list_teams confirms each team', async () => {
    const { facts } = await execute(tool('list_teams'), {});

    expect(named(facts)).toMatchObject({ 'team:legal.exists': true, 'team:frontend.exists': true });
    expect(facts).toHaveLength(7);
  });

  test('search_tickets lists what has all words', async () => {
    const { output, facts } = await execute(tool('search_tickets'), { text: 'login broken' });

    expect(output).toMatchObject({ total: 2, tickets: [{ id: 'T101' }, { id: 'T102' }] });
    expect(named(facts)).toMatchObject({ 'ticket:T101.team': 'frontend', 'ticket:T102.team': 'frontend' });
  });

  test('search_tickets for one ticket names both that match, and says where none does', async () => {
    const several = await errorOf(execute(tool('search_tickets'), { text: 'login broken', expect: 'one' }));
    const none = await errorOf(execute(tool('search_tickets'), { text: 'no such words', expect: 'one' }));

    expect(several.code).toBe('OBJECT_AMBIGUOUS');
    expect(several.details.matches?.map(({ object }) => object)).toEqual(['ticket:T101', 'ticket:T102']);
    expect(none.code).toBe('NOT_FOUND');
  });

  test('an id with characters of its own stays one part of the path', async () => {
    await errorOf(execute(tool('get_ticket'), { ticket: 'T100/../T101?x=1' }));

    expect((await desk.control.requests()).map(({ path }) => path)).toEqual(['/tickets/T100%2F..%2FT101%3Fx%3D1']);
  });
});

describe('writes', () => {
  test('reassign_ticket sends key and version, and confirms the new state', async () => {
    const { output, facts } = await execute(tool('reassign_ticket'), REASSIGN, { expectedVersion: '3' });

    expect(output).toEqual({ ticket: 'T100', team: 'payments-oncall', version: 4, effect: 'F1' });
    expect(named(facts)).toEqual({
      'ticket:T100.team': 'payments-oncall',
      'ticket:T100.version': 4,
      'revision:T100@4.team': 'payments-oncall',
    });
    expect(await desk.control.requests()).toMatchObject([{ key: KEY, ifMatch: '"3"' }]);
    expect(await desk.control.effects()).toMatchObject([{ kind: 'reassign', key: KEY, ticketVersion: 4 }]);
  });

  test('a comment carries no version: it does not rest on what the ticket said', async () => {
    await execute(tool('add_comment'), { ticket: 'T100', text: 'Looking.' }, { expectedVersion: '1' });

    expect(await desk.control.requests()).toMatchObject([{ key: KEY, ifMatch: null }]);
    expect(await desk.control.effects()).toMatchObject([{ kind: 'comment', args: { text: 'Looking.' } }]);
  });

  test('close_ticket confirms the status', async () => {
    const { facts } = await execute(tool('close_ticket'), { ticket: 'T100' }, { expectedVersion: '3' });

    expect(named(facts)).toMatchObject({ 'ticket:T100.status': 'closed', 'ticket:T100.version': 4 });
  });

  test('a ticket that has changed is a conflict that says its version now', async () => {
    await desk.control.putTicket({ id: 'T100', title: 'Edited by somebody' });

    const error = await errorOf(execute(tool('reassign_ticket'), REASSIGN, { expectedVersion: '3' }));

    expect(error.code).toBe('STATE_CONFLICT');
    expect(error.details.confirmed).toEqual({ problem: 'version_mismatch', currentVersion: 4 });
    expect(await desk.control.effects()).toEqual([]);
  });

  test('a team that does not exist is an invalid argument', async () => {
    const error = await errorOf(execute(tool('reassign_ticket'), { ticket: 'T100', team: 'nobody' }));

    expect(error.code).toBe('INVALID_ARGUMENT');
  });

  test('a job is accepted, not done', async () => {
    await desk.control.addFault({ match: { route: 'reassign' }, fault: { kind: 'accept-job', manual: true } });
    const reassign = tool('reassign_ticket');

    const result = await reassign.execute(REASSIGN, contextOf({ callbackUrl: 'http://127.0.0.1:9/callback' }));

    expect(result).toMatchObject({ kind: 'accepted', job: 'J3' });
    expect(await desk.control.jobs()).toMatchObject([{ callback: { url: 'http://127.0.0.1:9/callback' } }]);
    expect(await desk.control.effects()).toEqual([]);
  });
});

describe('what the desk refuses', () => {
  test.each([
    [400, undefined, 'INVALID_ARGUMENT'],
    [401, undefined, 'PERMISSION_DENIED'],
    [403, undefined, 'PERMISSION_DENIED'],
    [404, undefined, 'NOT_FOUND'],
    [409, undefined, 'STATE_CONFLICT'],
    [412, undefined, 'STATE_CONFLICT'],
    [422, undefined, 'INVALID_ARGUMENT'],
    [422, 'idempotency_key_reused', 'TOOL_FAULT'],
    [429, undefined, 'RATE_LIMITED'],
    [500, undefined, 'UNAVAILABLE'],
    [503, undefined, 'UNAVAILABLE'],
    [418, undefined, 'TOOL_FAULT'],
  ] as const)('status %s with code %s is %s', async (status, code, expected) => {
    const fault = { kind: 'status', status, ...(code === undefined ? {} : { code }) } as const;
    await desk.control.addFault({ match: { route: 'any' }, times: 'always', fault });

    const read = await errorOf(execute(tool('get_ticket'), { ticket: 'T100' }));
    const written = await errorOf(execute(tool('reassign_ticket'), REASSIGN));

    expect([read.code, written.code]).toEqual([expected, expected]);
  });

  test.each([
    ['7', 7_000, 7_000],
    [new Date(Date.now() + 60_000).toUTCString(), 50_000, 60_000],
    ['-3', undefined, undefined],
    ['soon', undefined, undefined],
  ])('Retry-After %s is waited for as it says', async (retryAfter, atLeast, atMost) => {
    await desk.control.addFault({ match: { route: 'any' }, fault: { kind: 'status', status: 429, retryAfter } });

    const { details } = await errorOf(execute(tool('reassign_ticket'), REASSIGN));

    if (atLeast === undefined) expect(details.retryAfterMs).toBeUndefined();
    else {
      expect(details.retryAfterMs).toBeGreaterThanOrEqual(atLeast);
      expect(details.retryAfterMs).toBeLessThanOrEqual(atMost);
    }
  });

  test('a 5xx and a lost answer leave a write unknown; a refusal settles it; 429 was not executed', async () => {
    const outcomes: string[] = [];
    for (const fault of [
      { kind: 'status', status: 503 },
      { kind: 'apply-then-drop' },
      { kind: 'status', status: 403 },
      { kind: 'status', status: 429 },
    ] as const) {
      await desk.control.addFault({ match: { route: 'reassign' }, fault });
      outcomes.push(classifyWriteError(await errorOf(execute(tool('reassign_ticket'), REASSIGN))).kind);
    }

    expect(outcomes).toEqual(['unknown', 'unknown', 'failed', 'notExecuted']);
  });

  test('a desk that is not there proves that nothing was sent', async () => {
    const gone = await serveDesk();
    await gone.close();

    const error = await errorOf(execute(toolOf({ deskUrl: gone.url }, 'reassign_ticket'), REASSIGN));

    expect(classifyWriteError(error)).toEqual({ kind: 'notExecuted', code: 'UNAVAILABLE' });
    expect(classifyReadError(error)).toEqual({ code: 'UNAVAILABLE', canRetry: true });
  });

  test('an abort ends a request that the desk never answers', async () => {
    await desk.control.addFault({ match: { route: 'reassign' }, fault: { kind: 'hang' } });

    const error = await errorOf(execute(tool('reassign_ticket'), REASSIGN, { signal: AbortSignal.timeout(100) }));

    expect(classifyWriteError(error)).toEqual({ kind: 'unknown', code: 'OUTCOME_UNKNOWN' });
  });

  test.each([
    ['no JSON', { text: '<html>' }],
    ['another shape', { text: '{"ticket":{}}' }],
    ['a body beyond all measure', { fillBytes: 9_000_000 }],
  ])('%s where an answer should be is a fault of the tool', async (_name, content) => {
    await desk.control.addFault({ match: { route: 'any' }, times: 'always', fault: { kind: 'body', content } });

    const read = await errorOf(execute(tool('get_ticket'), { ticket: 'T100' }));
    const written = await errorOf(execute(tool('reassign_ticket'), REASSIGN));

    expect(read.code).toBe('TOOL_FAULT');
    expect(classifyWriteError(written)).toMatchObject({ kind: 'unknown', code: 'TOOL_FAULT' });
  });
});
