import { describe, expect, test } from '@jest/globals';
import { CallTimedOut, OutputMismatch } from '../../../../activities/operate/call-errors';
import {
  asToolError,
  classifyReadError,
  classifyWriteError,
  classOf,
  ERROR_CLASSES,
  ERROR_TABLE,
  type ErrorClass,
} from '../../../../activities/operate/classify-tool-error';
import { ToolError, type ToolErrorDetails } from '../../../../definition/tool-error';

const system = (code: string, syscall = 'read'): Error =>
  Object.assign(new Error(`${syscall} ${code}`), { code, syscall });
const fetchFailed = (cause: unknown): Error => new TypeError('fetch failed', { cause });
const named = (name: string): Error => Object.assign(new Error('aborted'), { name });
const told = (code: ToolError['code'], details: ToolErrorDetails = {}): ToolError =>
  new ToolError(code, 'said', details);

describe('the class of an error', () => {
  // prettier-ignore
  test.each<[string, unknown, ErrorClass]>([
    ['a refused connection',                     fetchFailed(system('ECONNREFUSED', 'connect')),              'refusedConnection'],
    ['a name that does not resolve',             fetchFailed(system('ENOTFOUND', 'getaddrinfo')),             'refusedConnection'],
    ['a resolver that is away',                  fetchFailed(system('EAI_AGAIN', 'getaddrinfo')),             'refusedConnection'],
    ['a connect time-out of the client',         fetchFailed(system('UND_ERR_CONNECT_TIMEOUT', '')),          'refusedConnection'],
    ['a certificate that nobody trusts',         fetchFailed(system('SELF_SIGNED_CERT_IN_CHAIN', '')),        'refusedConnection'],
    ['no route, while connecting',               fetchFailed(system('EHOSTUNREACH', 'connect')),              'refusedConnection'],
    ['no route, on an open connection',          fetchFailed(system('EHOSTUNREACH', 'write')),                'brokenConnection'],
    ['a time-out of TCP while connecting',       fetchFailed(system('ETIMEDOUT', 'connect')),                 'refusedConnection'],
    ['a time-out of TCP on an open connection',  fetchFailed(system('ETIMEDOUT', 'read')),                    'brokenConnection'],
    ['a reset',                                  fetchFailed(system('ECONNRESET')),                           'brokenConnection'],
    ['the other side closed',                    fetchFailed(system('UND_ERR_SOCKET', '')),                   'brokenConnection'],
    ['a broken pipe',                            system('EPIPE', 'write'),                                    'brokenConnection'],
    ['every address refused',                    fetchFailed(new AggregateError([system('ECONNREFUSED', 'connect'), system('ECONNREFUSED', 'connect')])), 'refusedConnection'],
    ['one of two addresses reached',             fetchFailed(new AggregateError([system('ECONNREFUSED', 'connect'), system('ECONNRESET')])), 'brokenConnection'],
    ['an aborted request',                       named('AbortError'),                                         'timedOut'],
    ["a client's own time-out",                  fetchFailed(named('TimeoutError')),                          'timedOut'],
    ['our deadline',                             new CallTimedOut('pay', 10),                                 'timedOut'],
    ['an output that is none',                   new OutputMismatch('pay', { field: 'id', expected: 'text' }), 'badOutput'],
    ["a tool's own TypeError",                   new TypeError('x is not a function'),                        'fault'],
    ['a TypeError with a code of Node',          system('ERR_INVALID_ARG_TYPE', ''),                          'fault'],
    ['a message that only mentions ECONNREFUSED', new Error('connect ECONNREFUSED 127.0.0.1:1'),               'fault'],
    ['something that is no error',               'ECONNREFUSED',                                              'fault'],
    ['nothing at all',                           undefined,                                                   'fault'],
    ['the word of the tool',                     told('STATE_CONFLICT'),                                      'STATE_CONFLICT'],
    ['the word of the tool over its cause',      told('STATE_CONFLICT', { cause: system('ECONNREFUSED', 'connect') }), 'STATE_CONFLICT'],
    ['unavailable, since nobody listens',        told('UNAVAILABLE', { cause: fetchFailed(system('ECONNREFUSED', 'connect')) }), 'refusedConnection'],
    ['unavailable, since it was reset',          told('UNAVAILABLE', { cause: fetchFailed(system('ECONNRESET')) }), 'UNAVAILABLE'],
  ])('%s', (_title, error, expected) => {
    expect(classOf(error)).toBe(expected);
  });

  test('a chain of causes without an end is followed a bounded way', () => {
    const error = new Error('round');
    error.cause = error;
    expect(classOf(error)).toBe('fault');
  });

  test('a ToolError of another copy of the package is one all the same', () => {
    const other = Object.assign(new Error('gone'), { name: 'ToolError', code: 'NOT_FOUND', details: {} });
    expect(asToolError(other)).toBe(other);
    expect(classOf(other)).toBe('NOT_FOUND');
    expect(
      asToolError(Object.assign(new Error('x'), { name: 'ToolError', code: 'NO_SUCH', details: {} })),
    ).toBeUndefined();
  });
});

describe('a write', () => {
  // prettier-ignore
  test.each<[ErrorClass, string, string]>([
    ['INVALID_ARGUMENT',  'failed',      'INVALID_ARGUMENT'],
    ['NOT_FOUND',         'failed',      'NOT_FOUND'],
    ['OBJECT_AMBIGUOUS',  'failed',      'OBJECT_AMBIGUOUS'],
    ['PERMISSION_DENIED', 'failed',      'PERMISSION_DENIED'],
    ['STATE_CONFLICT',    'failed',      'STATE_CONFLICT'],
    ['RATE_LIMITED',      'notExecuted', 'RATE_LIMITED'],
    ['UNAVAILABLE',       'unknown',     'OUTCOME_UNKNOWN'],
    ['OUTCOME_UNKNOWN',   'unknown',     'OUTCOME_UNKNOWN'],
    ['TOOL_FAULT',        'unknown',     'TOOL_FAULT'],
    ['refusedConnection', 'notExecuted', 'UNAVAILABLE'],
    ['brokenConnection',  'unknown',     'OUTCOME_UNKNOWN'],
    ['timedOut',          'unknown',     'OUTCOME_UNKNOWN'],
    ['badOutput',         'unknown',     'TOOL_FAULT'],
    ['fault',             'unknown',     'TOOL_FAULT'],
  ])('that ends in %s is %s, %s', (errorClass, end, code) => {
    expect(ERROR_TABLE[errorClass].write).toEqual([end, code]);
  });

  test('every class has its row here', () => {
    expect(Object.keys(ERROR_TABLE).sort()).toEqual([...ERROR_CLASSES].sort());
  });

  // prettier-ignore
  test.each<[string, ToolError, object]>([
    ['503, provably before anything was done', told('UNAVAILABLE', { isExecutedPossible: false, retryAfterMs: 7 }), { kind: 'notExecuted', code: 'UNAVAILABLE', retryAfterMs: 7 }],
    ['our fault, before anything was sent',    told('TOOL_FAULT', { isExecutedPossible: false }),                   { kind: 'failed', code: 'TOOL_FAULT' }],
    ['a conflict after part of it was done',   told('STATE_CONFLICT', { isExecutedPossible: true }),                { kind: 'unknown', code: 'OUTCOME_UNKNOWN' }],
    ['a refused second request of two',        told('UNAVAILABLE', { isExecutedPossible: true, cause: system('ECONNREFUSED', 'connect') }), { kind: 'unknown', code: 'OUTCOME_UNKNOWN' }],
    ['429 with retry-after',                   told('RATE_LIMITED', { retryAfterMs: 2_000 }),                       { kind: 'notExecuted', code: 'RATE_LIMITED', retryAfterMs: 2_000 }],
    ['429 with a retry-after that says nothing', told('RATE_LIMITED', { retryAfterMs: Number.NaN }),                { kind: 'notExecuted', code: 'RATE_LIMITED' }],
    ['503 with retry-after',                   told('UNAVAILABLE', { retryAfterMs: 9 }),                            { kind: 'unknown', code: 'OUTCOME_UNKNOWN', retryAfterMs: 9 }],
  ])('%s', (_title, error, expected) => {
    expect(classifyWriteError(error)).toEqual(expected);
  });
});

describe('a read', () => {
  // prettier-ignore
  test.each<[string, unknown, object]>([
    ['503',                        told('UNAVAILABLE'),                         { code: 'UNAVAILABLE', canRetry: true }],
    ['429 with retry-after',       told('RATE_LIMITED', { retryAfterMs: 500 }), { code: 'RATE_LIMITED', canRetry: true, retryAfterMs: 500 }],
    ['a refused connection',       system('ECONNREFUSED', 'connect'),           { code: 'UNAVAILABLE', canRetry: true }],
    ['a reset',                    system('ECONNRESET'),                        { code: 'UNAVAILABLE', canRetry: true }],
    ['our deadline',               new CallTimedOut('get', 10),                 { code: 'UNAVAILABLE', canRetry: true }],
    ['an object that is not there', told('NOT_FOUND'),                          { code: 'NOT_FOUND', canRetry: false }],
    ['a refusal',                  told('PERMISSION_DENIED'),                   { code: 'PERMISSION_DENIED', canRetry: false }],
    ['several matches',            told('OBJECT_AMBIGUOUS'),                    { code: 'OBJECT_AMBIGUOUS', canRetry: false }],
    ['an output that is none',     new OutputMismatch('get', { field: '', expected: 'x' }), { code: 'TOOL_FAULT', canRetry: false }],
    ["the tool's own TypeError",   new TypeError('undefined is no object'),     { code: 'TOOL_FAULT', canRetry: false }],
  ])('that ends in %s', (_title, error, expected) => {
    expect(classifyReadError(error)).toEqual(expected);
  });
});
