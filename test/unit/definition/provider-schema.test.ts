import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import Ajv2020 from 'ajv/dist/2020';
import fc from 'fast-check';
import type { z } from 'zod';
import { convertSchema } from '../../../definition/provider-schema';
import { RUNTIME_TOOLS } from '../../../definition/runtime-tools';
import type { JsonObject } from '../../../workflows/contract/json';
import { findSchemaFault } from '../../../testing/model-server/validate-request/tool-schema';
import { CONVERTED, REFUSED } from './schema-set';

const GOLDEN = join(__dirname, 'provider-schemas.golden.json');

const convert = (schema: z.ZodType): JsonObject => {
  const conversion = convertSchema(schema);
  if (conversion.kind === 'refused') throw new Error(JSON.stringify(conversion.faults));
  return conversion.schema;
};

const schemaNamed = (name: string): z.ZodType => {
  const schema = CONVERTED[name];
  if (schema === undefined) throw new Error(`no schema is called ${name}`);
  return schema;
};

const compile = (schema: object) => new Ajv2020({ strict: false, validateFormats: false }).compile(schema);

test('converted schemas are those of the golden file', () => {
  const golden: unknown = JSON.parse(readFileSync(GOLDEN, 'utf8'));
  const converted = Object.fromEntries(Object.entries(CONVERTED).map(([name, schema]) => [name, convert(schema)]));

  expect(converted).toEqual(golden);
});

test.each(Object.entries(CONVERTED))('%s: the provider accepts its schema', (_name, schema) => {
  const converted = convert(schema);

  expect(findSchemaFault(converted)).toBeUndefined();
  expect(converted).not.toHaveProperty('$schema');
  expect(() => compile(converted)).not.toThrow();
});

test.each(RUNTIME_TOOLS)("$name: the provider accepts the runtime's own schema", ({ inputSchema }) => {
  expect(findSchemaFault(inputSchema)).toBeUndefined();
});

test.each(Object.entries(REFUSED))('%s: refused with the path', (_name, [schema, ...paths]) => {
  const conversion = convertSchema(schema);

  expect(conversion.kind === 'refused' ? conversion.faults.map(({ path }) => path) : conversion).toEqual(paths);
});

test('notes of our own and of the author do not reach the provider', () => {
  const text = JSON.stringify([convert(schemaNamed('reference')), convert(schemaNamed('id and title'))]);

  expect(text).not.toContain('holdfastRef');
  expect(text).not.toContain('$defs');
});

/**
 * Where schema and zod may differ, and in which direction. Everything else must agree, on values near the schema's own.
 * `wider`: the schema accepts what zod then refuses with a finding. `narrower`: the schema is stricter than zod, whose
 * trimming would have mended the value; a model that keeps to the schema is never refused. Lengths differ for characters
 * outside the basic plane, which zod counts as two and JSON Schema as one: the texts here are ASCII.
 */
const EXCEPTIONS: Readonly<Record<string, 'wider' | 'narrower' | 'either'>> = {
  refine: 'wider', // a check in code
  pipe: 'wider', // the second schema's checks
  'pattern with flags': 'wider', // JSON Schema's patterns have no flags
  'trim and case': 'either', // '  ' is trimmed to nothing; 'A' becomes 'a'
};

const leaf = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.constantFrom(
    'x',
    'y',
    'abc',
    'ABC',
    'xY',
    'xy',
    ' a ',
    '  ',
    'T1',
    'T',
    'card',
    'cash',
    'a',
    'value-3',
    'value-500',
    '2024-02-30',
    '2024-02-29',
  ),
  fc.integer({ min: -3, max: 12 }),
  fc.constantFrom(0.5, 1e21, 2 ** 31, 5, 10, 4294967296),
  fc.boolean(),
  fc.constant(null),
);
const { value: nearby } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'value' },
    { arbitrary: leaf, weight: 4 },
    { arbitrary: fc.array(tie('value'), { maxLength: 4, depthIdentifier: 'value' }), weight: 1 },
    {
      arbitrary: fc.dictionary(
        fc.constantFrom(
          'a',
          'b',
          'c',
          'd',
          'x',
          'y',
          'kind',
          'number',
          'amount',
          'label',
          'children',
          'name',
          'parts',
          'zz',
        ),
        tie('value'),
        { maxKeys: 4, depthIdentifier: 'value', noNullPrototype: true },
      ),
      weight: 2,
    },
  ),
}));

/** Values that fit, so that both sides are seen to accept: made by taking a random one and keeping what zod does not mind. */
const fitting: Readonly<Record<string, readonly unknown[]>> = {
  optional: [{ b: 1 }, { a: 'x', b: 1 }],
  record: [{ a: { k: 1 }, b: { x: true, y: false } }],
  'recursive object': [{ label: 'a', children: [{ label: 'b' }] }],
  'recursive lazy': [{ name: 'a', parts: [{ name: 'b', parts: [] }] }],
  tuple: [{ a: ['x', 1], b: ['x', true, false] }],
  'inner discriminated union': [{ a: { kind: 'card', number: '1234' } }, { a: { kind: 'cash', amount: 3 } }],
  'inner intersection': [{ a: { x: 'x', y: 1 } }],
  strings: [{ a: 'abc', b: 'abc', c: 'abc' }],
  formats: [{ a: '2024-02-29', b: '7d444840-9dc0-11d1-b245-5ffdce74fad2', c: 'a@b.cd', d: '127.0.0.1' }],
  'any JSON': [{ a: { b: [1, null, 'x'] } }],
};

const variants = (values: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc
    .tuple(fc.constantFrom(...values), fc.constantFrom('a', 'b', 'c', 'zz'), nearby, fc.boolean())
    .map(([value, key, other, isChanged]) => (isChanged ? { ...(value as object), [key]: other } : value));

test.each(Object.entries(CONVERTED))('%s: schema and zod accept the same values', (name, schema) => {
  const accepts = compile(convert(schema));
  const known = fitting[name];
  const exception = EXCEPTIONS[name];
  fc.assert(
    fc.property(known === undefined ? nearby : fc.oneof(nearby, variants(known)), (value) => {
      const bySchema = accepts(value);
      const byZod = schema.safeParse(value).success;
      if (bySchema === byZod || exception === 'either') return;
      if (bySchema && exception === 'wider') return;
      throw new Error(`schema ${String(bySchema)}, zod ${String(byZod)}: ${JSON.stringify(value)}`);
    }),
    { numRuns: 400 },
  );
});

test.each(Object.entries(fitting))('%s: both accept the values that fit', (name, values) => {
  const schema = schemaNamed(name);
  const accepts = compile(convert(schema));

  for (const value of values) {
    expect([accepts(value), schema.safeParse(value).success]).toEqual([true, true]);
  }
});
