import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readCallInput, type InputFlaw } from '../../../../activities/model/call-input';

const flawsOf = (text: string): readonly InputFlaw[] => {
  const input = readCallInput(text);
  if (input.kind !== 'json') throw new Error(`no JSON: ${text}`);
  return input.flaws;
};

describe('arguments of a call', () => {
  test.each([
    ['', {}],
    ['  ', {}],
    ['{}', {}],
    ['{"id":"T100","tags":["a",{"b":null}]}', { id: 'T100', tags: ['a', { b: null }] }],
    ['[1,2]', [1, 2]],
    ['null', null],
    ['"text"', 'text'],
  ])('%j is read as it stands', (text, value) => {
    expect(readCallInput(text)).toEqual({ kind: 'json', value, flaws: [] });
  });

  test.each([['{"id":'], ['{"id":"T1'], ['{"a":tru}'], ['{} {}'], ["{'a':1}"], ['{"a":01}'], ['NaN']])(
    '%j is no JSON',
    (text) => {
      expect(readCallInput(text)).toEqual({ kind: 'invalid' });
    },
  );

  test('a key named __proto__ is a key', () => {
    const input = readCallInput('{"__proto__":{"isAdmin":true}}');

    expect(JSON.stringify(input)).toContain('"value":{"__proto__":{"isAdmin":true}}');
  });

  test.each([
    ['9007199254740993'],
    ['12345678901234567890'],
    ['18446744073709551616'],
    ['-9007199254740993'],
    ['0.1000000000000000055511151231257827'],
    ['1e400'],
    ['90071992547409930e-1'],
  ])('the number %s does not survive, and is named', (number) => {
    expect(flawsOf(`{"amount":{"minor":[1,${number}]}}`)).toEqual([
      { kind: 'lossyNumber', path: '/amount/minor/1', text: number },
    ]);
  });

  test.each([
    ['9007199254740991'],
    ['9007199254740992'],
    ['0.1'],
    ['1.10'],
    ['1e21'],
    ['1E+2'],
    ['-0'],
    ['0.000'],
    ['1e-7'],
    ['100e-2'],
    ['5e-324'],
  ])('the number %s survives', (number) => {
    expect(flawsOf(`{"n":${number}}`)).toEqual([]);
  });

  test('a number inside a string is text', () => {
    expect(flawsOf('{"n":"9007199254740993","q":"a\\"9007199254740993"}')).toEqual([]);
  });

  test('whatever JSON writes is read without a loss', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const kinds = flawsOf(JSON.stringify(value)).map((flaw) => flaw.kind);

        expect(kinds.filter((kind) => kind !== 'illFormedText')).toEqual([]);
      }),
    );
  });

  test('a key that stands twice in one object is named, one that stands in two is not', () => {
    expect(flawsOf('{"amount":1,"amount":1000,"a":[{"x":1},{"x":2}]}')).toEqual([
      { kind: 'duplicateKey', path: '/amount', text: 'amount' },
    ]);
    expect(flawsOf('{"amount":1,"\\u0061mount":2}')).toHaveLength(1);
  });

  test('half a surrogate pair is replaced and named, in values and keys', () => {
    const input = readCallInput('{"a/b":"x\\ud83d","\\udc00":1}');

    expect(input).toEqual({
      kind: 'json',
      value: { 'a/b': 'x\ufffd', '\ufffd': 1 },
      flaws: [
        { kind: 'illFormedText', path: '/a~1b', text: '' },
        { kind: 'illFormedText', path: '/\ufffd', text: '' },
      ],
    });
  });

  test('nesting that would overflow whoever walks it is refused', () => {
    const deep = 200_000;

    expect(readCallInput('['.repeat(deep) + ']'.repeat(deep))).toEqual({ kind: 'invalid' });
    expect(readCallInput('['.repeat(100) + ']'.repeat(100)).kind).toBe('json');
  });

  test('a megabyte of text is read', () => {
    const text = 'ä"\\ud83d\\ude00'.repeat(100_000);

    expect(readCallInput(JSON.stringify({ text }))).toEqual({ kind: 'json', value: { text }, flaws: [] });
  });
});
