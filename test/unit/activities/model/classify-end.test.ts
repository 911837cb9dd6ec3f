import { describe, expect, test } from '@jest/globals';
import {
  classifyEnd,
  isBilled,
  isWholeTurn,
  type AttemptEnd,
  type EndVerdict,
  type ProviderError,
} from '../../../../activities/model/classify-end';

const failed = (code: string): EndVerdict => ({ kind: 'attemptFailed', code });
const rejected = (code: string): EndVerdict => ({ kind: 'providerRejected', code });
const TOO_LONG: EndVerdict = { kind: 'contextTooLong' };

const errorEnd = (error: ProviderError, isMidStream = false): AttemptEnd => ({ kind: 'error', isMidStream, ...error });

describe('stop reasons', () => {
  test.each<[string, EndVerdict]>([
    ['tool_use', { kind: 'candidateStored' }],
    ['end_turn', { kind: 'candidateStored' }],
    ['stop_sequence', { kind: 'candidateStored' }],
    ['max_tokens', { kind: 'attemptTruncated' }],
    ['pause_turn', { kind: 'attemptPaused' }],
    ['refusal', { kind: 'modelRefused', code: 'model.refused' }],
    ['model_context_window_exceeded', TOO_LONG],
    ['compaction', rejected('model.unknown_stop_reason')],
    ['', rejected('model.unknown_stop_reason')],
    ['__proto__', rejected('model.unknown_stop_reason')],
    ['constructor', rejected('model.unknown_stop_reason')],
  ])('%j', (stopReason, verdict) => {
    expect(classifyEnd({ kind: 'message', stopReason })).toEqual(verdict);
  });
});

// prettier-ignore
const ERRORS: readonly [number | undefined, string | undefined, EndVerdict][] = [
  [400, 'invalid_request_error', rejected('model.invalid_request')],
  [401, 'authentication_error',  rejected('model.unauthenticated')],
  [402, 'billing_error',         rejected('model.billing')],
  [403, 'permission_error',      rejected('model.permission_denied')],
  [404, 'not_found_error',       rejected('model.not_found')],
  [408, 'timeout_error',         failed('model.provider_timeout')],
  [409, 'conflict_error',        failed('model.conflict')],
  [413, 'request_too_large',     TOO_LONG],
  [429, 'rate_limit_error',      failed('model.rate_limited')],
  [500, 'api_error',             failed('model.server_error')],
  [504, 'timeout_error',         failed('model.provider_timeout')],
  [529, 'overloaded_error',      failed('model.overloaded')],
  // The type is the provider's own word, the status may be a proxy's.
  [500, 'overloaded_error',      failed('model.overloaded')],
  [503, 'rate_limit_error',      failed('model.rate_limited')],
  [422, 'invalid_request_error', rejected('model.invalid_request')],
  // Without a type, or with one that is unknown, the status decides.
  [400, undefined,               rejected('model.invalid_request')],
  [401, undefined,               rejected('model.unauthenticated')],
  [403, 'new_error',             rejected('model.permission_denied')],
  [404, undefined,               rejected('model.not_found')],
  [413, undefined,               TOO_LONG],
  [418, undefined,               rejected('model.unexpected_status')],
  [302, undefined,               rejected('model.unexpected_status')],
  [429, 'new_error',             failed('model.rate_limited')],
  [500, undefined,               failed('model.server_error')],
  [502, undefined,               failed('model.server_error')],
  [503, 'new_error',             failed('model.server_error')],
  [529, undefined,               failed('model.overloaded')],
  // In a stream there is no status.
  [undefined, 'overloaded_error', failed('model.overloaded')],
  [undefined, 'api_error',        failed('model.server_error')],
  [undefined, 'rate_limit_error', failed('model.rate_limited')],
  [undefined, 'new_error',        failed('model.server_error')],
  [undefined, undefined,          failed('model.server_error')],
];

describe('errors of the provider', () => {
  test.each(ERRORS)('%s %s', (status, type, verdict) => {
    expect(classifyEnd(errorEnd({ status, type }))).toEqual(verdict);
  });

  test.each([
    ['prompt is too long: 209353 tokens > 200000 maximum'],
    ['input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length'],
  ])('400 %j is a context that is too long', (message) => {
    expect(classifyEnd(errorEnd({ status: 400, type: 'invalid_request_error', message }))).toEqual(TOO_LONG);
  });

  test('the same words in another error mean nothing', () => {
    const message = 'prompt is too long';

    expect(classifyEnd(errorEnd({ status: 429, type: 'rate_limit_error', message }))).toEqual(
      failed('model.rate_limited'),
    );
    expect(classifyEnd(errorEnd({ status: 400, message }))).toEqual(rejected('model.invalid_request'));
  });

  test.each([
    ['enforced_spend_limit_reached', rejected('model.spend_limit')],
    ['contract_spend_limit_reached', rejected('model.spend_limit')],
    ['ramp_limit_exceeded', failed('model.rate_limited')],
  ])('429 with the code %s', (errorCode, verdict) => {
    expect(classifyEnd(errorEnd({ status: 429, type: 'rate_limit_error', errorCode }))).toEqual(verdict);
  });

  test('the time to wait stays with what may be tried again, and with nothing else', () => {
    const retryAfterMs = 777_600_000;

    expect(classifyEnd(errorEnd({ status: 429, type: 'rate_limit_error', retryAfterMs }))).toEqual({
      kind: 'attemptFailed',
      code: 'model.rate_limited',
      retryAfterMs,
    });
    expect(classifyEnd(errorEnd({ status: 401, type: 'authentication_error', retryAfterMs }))).toEqual(
      rejected('model.unauthenticated'),
    );
  });
});

describe('ends without the provider’s word', () => {
  test.each<[AttemptEnd, string]>([
    [{ kind: 'unreachable', isSent: false }, 'model.unreachable'],
    [{ kind: 'unreachable', isSent: true }, 'model.unreachable'],
    [{ kind: 'cut' }, 'model.stream_cut'],
    [{ kind: 'malformed' }, 'model.malformed_stream'],
    [{ kind: 'stalled' }, 'model.stalled'],
    [{ kind: 'timedOut' }, 'model.timed_out'],
  ])('%j', (end, code) => {
    expect(classifyEnd(end)).toEqual(failed(code));
  });
});

test('only a whole turn may be judged or said again', () => {
  const whole = ['tool_use', 'end_turn', 'stop_sequence', 'max_tokens', 'pause_turn', 'refusal', 'new'].filter(
    (stopReason) => isWholeTurn(classifyEnd({ kind: 'message', stopReason })),
  );

  expect(whole).toEqual(['tool_use', 'end_turn', 'stop_sequence', 'pause_turn']);
});

test.each<[AttemptEnd, boolean]>([
  [{ kind: 'message', stopReason: 'refusal' }, true],
  [{ kind: 'error', isMidStream: false, status: 529 }, false],
  [{ kind: 'error', isMidStream: true, type: 'overloaded_error' }, true],
  [{ kind: 'unreachable', isSent: false }, false],
  [{ kind: 'unreachable', isSent: true }, true],
  [{ kind: 'cut' }, true],
  [{ kind: 'stalled' }, true],
  [{ kind: 'timedOut' }, true],
])('%j is billed: %s', (end, billed) => {
  expect(isBilled(end)).toBe(billed);
});
