/** What the ticket tools make of the desk's callbacks. */
import { describe, expect, test } from '@jest/globals';
import { readDeskCallback } from '../../../../examples/tickets/tools/callback';
import { operationIdOf, parseRunId, parseTenantId } from '../../../../workflows/contract/ids';

const RUN = parseRunId('run_4f3c2a');
const OPERATION = operationIdOf(RUN, 3, 1);
const CONTEXT = { tenant: parseTenantId('acme'), run: RUN, operation: OPERATION, idempotencyKey: OPERATION };
const EFFECT = { id: 'F1', kind: 'reassign', ticket: 'T100', ticketVersion: 4, args: { team: 'network' } };
const BODY = { eventId: 'evt_J3_3', job: 'J3', key: OPERATION, sequence: 3, at: '2026-01-01T00:00:00.000Z' };

const read = (json: unknown) => {
  const text = json === undefined ? '' : JSON.stringify(json);
  return readDeskCallback({ bytes: Buffer.from(text), text, json }, CONTEXT, ({ id }) => id);
};

describe('readDeskCallback', () => {
  test.each(['job.accepted', 'job.running'])('%s is no completion, whatever else it holds', (type) => {
    expect(read({ ...BODY, type, effect: EFFECT, status: 'success' })).toEqual({ kind: 'running', job: 'J3' });
  });

  test('job.done brings the effect', () => {
    expect(read({ ...BODY, type: 'job.done', effect: EFFECT })).toEqual({ kind: 'found', job: 'J3', output: 'F1' });
  });

  test('job.failed names no category: the desk is asked', () => {
    expect(read({ ...BODY, type: 'job.failed' })).toMatchObject({ kind: 'cannotTell', job: 'J3' });
  });

  test('one under another key is about another request, one without a key is known by its job', () => {
    expect(read({ ...BODY, type: 'job.done', effect: EFFECT, key: 'op_other_1_1' })).toMatchObject({ kind: 'other' });
    expect(read({ ...BODY, type: 'job.done', effect: EFFECT, key: null })).toMatchObject({ kind: 'found', job: 'J3' });
  });

  test.each([
    ['no JSON', undefined],
    ['no object', []],
    ['done without effect', { ...BODY, type: 'job.done' }],
    ['an unknown type', { ...BODY, type: 'job.paused' }],
    ['no job', { ...BODY, job: '', type: 'job.running' }],
  ])('%s: it cannot tell', (_title, json) => {
    expect(read(json)).toMatchObject({ kind: 'cannotTell' });
  });
});
