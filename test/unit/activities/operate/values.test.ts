import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { toAmbiguousQuestion, toConfirmedMatches } from '../../../../activities/operate/ambiguous-question';
import { CallTimedOut, OutputMismatch } from '../../../../activities/operate/call-errors';
import { callWithin } from '../../../../activities/operate/call-within';
import { checkOutput } from '../../../../activities/operate/check-output';
import { makeFailure } from '../../../../activities/operate/failure';
import { canonicalText, sha256Of, toStorableJson } from '../../../../activities/operate/storable-json';
import { pageOf } from '../../../../activities/operate/text-page';
import { responseSchemaSchema } from '../../../../definition/response-schema';
import { defineTool, type Tool } from '../../../../definition/tool';
import { ERROR_CODES } from '../../../../workflows/contract/errors';
import { evidenceIdOf } from '../../../../workflows/contract/ids';

const LONE_SURROGATE = /\p{Surrogate}/u;

describe('JSON that every reader accepts', () => {
  test.each<[string, unknown, unknown]>([
    ['a date', { at: new Date(0) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['an absent member', { a: undefined, b: 1 }, { b: 1 }],
    ['nothing at all', undefined, null],
    ['a function', () => 1, null],
    ['half a pair and a NUL (R67)', { 'k\ud83d': 'a\ud83db\0' }, { 'k\ufffd': 'a\ufffdb\ufffd' }],
    ['what is falsy', [0, '', false, null], [0, '', false, null]],
  ])('%s', (_title, value, expected) => {
    expect(toStorableJson(value)).toEqual(expected);
  });

  test('what JSON has no form for is refused', () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    expect(() => toStorableJson(loop)).toThrow(TypeError);
    expect(() => toStorableJson({ n: 1n })).toThrow(TypeError);
  });

  test('the canonical form does not depend on the order of members', () => {
    expect(canonicalText({ b: 1, a: [{ d: 2, c: 3 }] })).toBe('{"a":[{"c":3,"d":2}],"b":1}');
    expect(sha256Of({ b: 1, a: 2 })).toBe(sha256Of({ a: 2, b: 1 }));
  });

  test('whatever was made storable is well-formed and stays as it is', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const stored = toStorableJson(value);
        expect(canonicalText(stored)).not.toMatch(/\\ud[89a-f]|\0/i);
        expect(toStorableJson(stored)).toEqual(stored);
      }),
    );
  });
});

describe('pages of a body', () => {
  const texts = fc.string({ unit: 'grapheme', maxLength: 400 });

  test('of any size make the whole, and none cuts a character', () => {
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 60 }), (text, maxBytes) => {
        const bytes = Buffer.from(text.replaceAll('\0', ''), 'utf8');
        let read = '';
        let at = 0;
        for (let pages = 0; at < bytes.length; pages += 1) {
          const page = pageOf(bytes, { fromByte: at, maxBytes });
          expect(page.fromByte).toBe(at);
          expect(page.toByte).toBeGreaterThan(at);
          expect(page.toByte - page.fromByte).toBeLessThanOrEqual(maxBytes + 3);
          read += page.text;
          at = page.toByte;
          expect(pages).toBeLessThanOrEqual(bytes.length);
        }
        expect(read).toBe(bytes.toString('utf8'));
      }),
    );
  });

  test('of any bytes end, and are well-formed', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 200 }),
        fc.nat(250),
        fc.integer({ min: 1, max: 20 }),
        (bytes, fromByte, maxBytes) => {
          const page = pageOf(bytes, { fromByte, maxBytes });
          expect(page.text).not.toMatch(LONE_SURROGATE);
          expect(page.toByte).toBeLessThanOrEqual(bytes.length);
          if (page.fromByte < bytes.length) expect(page.toByte).toBeGreaterThan(page.fromByte);
        },
      ),
    );
  });

  test('past the end there is nothing', () => {
    expect(pageOf(Buffer.from('abc'), { fromByte: 9, maxBytes: 5 })).toEqual({
      fromByte: 3,
      toByte: 3,
      totalBytes: 3,
      text: '',
    });
  });
});

describe('an output', () => {
  const tool = (changes: Partial<Tool> = {}): Tool => ({
    ...defineTool({
      name: 'read_meter',
      description: 'Reads a meter.',
      inputSchema: z.object({ meter: z.string() }),
      outputSchema: z.object({ value: z.number(), at: z.coerce.date() }),
      effect: 'read',
      risk: 'low',
      volatileFields: ['at'],
      execute: () => Promise.resolve({ kind: 'done', output: { value: 1, at: 0 } }),
      facts: ({ value }, { meter }) => [{ object: `meter:${meter}`, field: 'value', value }],
    }),
    ...changes,
  });
  const check = (value: unknown, changes: Partial<Tool> = {}) =>
    checkOutput({ tool: tool(changes), input: { meter: 'M1' }, evidence: evidenceIdOf(2, 1) }, value);

  test('is parsed, with its facts on its evidence', async () => {
    expect(await check({ value: 7, at: 0, more: 1 })).toMatchObject({
      output: { value: 7, at: '1970-01-01T00:00:00.000Z' },
      facts: [{ object: 'meter:M1', field: 'value', value: 7, evidence: 'E2.1' }],
    });
  });

  test('compares by what it says, volatile fields left out', async () => {
    const [one, other, third] = await Promise.all([
      check({ value: 7, at: 0 }),
      check({ value: 7, at: 9 }),
      check({ value: 8, at: 0 }),
    ]);
    expect(one.resultHash).toBe(other.resultHash);
    expect(one.resultHash).not.toBe(third.resultHash);
  });

  test.each<[string, unknown, Partial<Tool>, string]>([
    ['another shape', { value: 'x', at: 0 }, {}, 'value'],
    [
      'a fact about nothing',
      { value: 1, at: 0 },
      { facts: () => [{ object: 'M1', field: 'value', value: 1 }] },
      'facts.object',
    ],
    [
      'facts without end',
      { value: 1, at: 0 },
      { facts: () => Array.from({ length: 501 }, () => ({ object: 'a:b', field: 'c', value: 1 })) },
      'facts',
    ],
    ['no JSON', { value: 1n }, { outputSchema: z.object({ value: z.bigint() }), facts: () => [] }, ''],
  ])('%s is a mismatch that names the field', async (_title, value, changes, field) => {
    await expect(check(value, changes)).rejects.toMatchObject({ name: OutputMismatch.name, fault: { field } });
  });
});

describe('a call within its time', () => {
  const within = <T>(call: (signal: AbortSignal) => Promise<T>, cancellation?: AbortSignal): Promise<T> =>
    callWithin({ tool: 'pay', timeoutMs: 30, ...(cancellation === undefined ? {} : { cancellation }) }, call);
  const never = (): Promise<never> => new Promise<never>(() => undefined);

  test('gives its result', async () => {
    expect(await within(() => Promise.resolve(0))).toBe(0);
  });

  test('ends at its time, also where the tool ignores its signal', async () => {
    await expect(within(never)).rejects.toBeInstanceOf(CallTimedOut);
  });

  test('aborts the signal with the reason', async () => {
    let reason: unknown;
    const call = (signal: AbortSignal): Promise<never> =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          reject(new Error('aborted'));
        });
      });
    await expect(within(call)).rejects.toBeInstanceOf(CallTimedOut);
    expect(reason).toBeInstanceOf(CallTimedOut);
  });

  test('is not begun where it is cancelled already, and cut where it is cancelled later', async () => {
    let calls = 0;
    const count = (): Promise<never> => {
      calls += 1;
      return never();
    };
    await expect(within(count, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    expect(calls).toBe(0);
    const controller = new AbortController();
    const cut = within(count, controller.signal);
    controller.abort(new Error('cut'));
    await expect(cut).rejects.toThrow('cut');
  });

  test('a function that throws before it returns a promise has failed', async () => {
    await expect(
      within(() => {
        throw new TypeError('no');
      }),
    ).rejects.toThrow('no');
  });
});

describe('failures and questions', () => {
  test.each(ERROR_CODES)('%s says what may be tried', (code) => {
    const failure = makeFailure(code, { message: 'x' });
    expect(failure).toMatchObject({ code, message: 'x', evidence: [] });
    expect(failure.recoveries.length).toBeGreaterThan(0);
  });

  test('a message from outside is cut and made well-formed', () => {
    const { message } = makeFailure('UNAVAILABLE', { message: `${'🚲'.repeat(1_500)}\0` });
    expect(message.length).toBeLessThanOrEqual(2_000);
    expect(message).not.toMatch(LONE_SURROGATE);
  });

  test('matches become a question whose schema a person can be shown, and the same one again', () => {
    const matches = Array.from({ length: 30 }, (_, index) => ({
      object: `ticket:T${String(index)}`,
      label: 'Login \ud83d',
    }));
    const confirmed = toConfirmedMatches(matches);
    const question = toAmbiguousQuestion(confirmed);
    expect(question?.candidates).toHaveLength(20);
    expect(question?.question).toContain('more matches');
    expect(question?.question).not.toMatch(LONE_SURROGATE);
    expect(responseSchemaSchema.safeParse(question?.responseSchema).success).toBe(true);
    expect(toAmbiguousQuestion(toStorableJson(confirmed))).toEqual(question);
  });

  test.each([[undefined], [null], [{ matches: 'x' }], [{ matches: [{ object: 1 }] }], ['text']])(
    '%j names no matches',
    (confirmed) => {
      expect(toAmbiguousQuestion(confirmed)).toBeUndefined();
    },
  );
});
