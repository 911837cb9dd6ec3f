import { describe, expect, test } from '@jest/globals';
import { HTTPException } from 'hono/http-exception';
import { CLIENT_ERROR_CODES, HoldfastError, SERVICE_ERROR_CODES } from '../../../../client/errors';
import { PROBLEMS } from '../../../../client/http/problems/catalogue';
import {
  PROBLEM,
  ProblemError,
  toProblem,
  toProblemError,
  toProblemResponse,
} from '../../../../client/http/problems/problem';
import { RESPONSE_REFUSALS } from '../../../../responses/refusals';
import { CursorInvalid, KeyTooLong, RowMissing, StoreConflict, StoreUnavailable } from '../../../../store/errors';
import { InvalidId } from '../../../../workflows/contract/ids';

const answerTo = async (error: unknown): Promise<{ response: Response; body: Record<string, unknown> }> => {
  const refusal = toProblemError(error);
  const response = toProblemResponse(refusal, toProblem(refusal));
  return { response, body: PROBLEM.parse(await response.clone().json()) };
};

test.each<[string, unknown, number, string]>([
  ['of the client', new HoldfastError('run.ended', 'it has ended'), 409, 'run.ended'],
  ['a store that is away', new StoreUnavailable(new Error('gone')), 503, 'store.unavailable'],
  ['a cursor', new CursorInvalid('x'), 400, 'store.cursor_invalid'],
  ['a long key', new KeyTooLong('id', 'x', 3), 400, 'store.key_too_long'],
  ['a row that is gone', new RowMissing('run_abcdef'), 404, 'store.missing'],
  ['an id', new InvalidId('run', 'x', 'a run id'), 400, 'input.invalid'],
  ['a conflict, which is our bug', new StoreConflict('k', 1, 2), 500, 'internal'],
  ['anything else', new TypeError('secret of the inside'), 500, 'internal'],
  ['no error at all', 'a text', 500, 'internal'],
  ['a body that is no JSON', new HTTPException(400, { message: 'Malformed JSON' }), 400, 'request.malformed'],
  ['a media type', new HTTPException(415), 415, 'request.media_type'],
  ['a time-out', new HTTPException(504), 503, 'request.timeout'],
])('%s becomes a problem', async (_, error, status, code) => {
  const { response, body } = await answerTo(error);
  expect(response.status).toBe(status);
  expect(response.headers.get('Content-Type')).toBe('application/problem+json');
  expect(response.headers.has('Retry-After')).toBe(status === 503);
  expect(body).toMatchObject({ status, code, type: `urn:holdfast:problem:${code}`, title: expect.any(String) });
  expect(JSON.stringify(body)).not.toContain('secret');
});

test('the field at fault is named, wherever the error keeps it', async () => {
  expect((await answerTo(new HoldfastError('input.invalid', 'x', { field: 'goal' }))).body).toMatchObject({
    field: 'goal',
  });
  expect((await answerTo(new CursorInvalid('x'))).body).toMatchObject({ field: 'cursor' });
});

test('401 says how to authenticate', async () => {
  const { response } = await answerTo(new ProblemError('auth.missing', 'nothing'));
  expect(response.headers.get('WWW-Authenticate')).toBe('Bearer');
});

describe('the catalogue', () => {
  test('has every code that can be thrown, and no other', () => {
    const thrown = [...CLIENT_ERROR_CODES, ...SERVICE_ERROR_CODES, ...RESPONSE_REFUSALS];
    expect(Object.keys(PROBLEMS).sort()).toEqual(thrown.filter((code) => code !== 'service.unreachable').sort());
  });

  test('says what happened and what to do', () => {
    for (const { status, title, advice } of Object.values(PROBLEMS)) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(title).not.toBe('');
      expect(advice).toMatch(/\.$/);
    }
  });
});
