/** Every kind of schema that a tool's author may come with, and what becomes of it. */
import { z } from 'zod';
import { ref } from '../../../definition/ref';

const tree: z.ZodType = z.object({
  label: z.string(),
  get children() {
    return z.array(tree).optional();
  },
});

const lazyTree: z.ZodType = z.lazy(() => z.object({ name: z.string(), parts: z.array(lazyTree).max(3) }));

/** Converted; the golden file holds what each becomes. */
export const CONVERTED: Readonly<Record<string, z.ZodType>> = {
  'empty object': z.object({}),
  optional: z.object({ a: z.string().optional(), b: z.int() }),
  default: z.object({ a: z.string().default('x'), b: z.int().default(3) }),
  prefault: z.object({ a: z.string().min(1).prefault('x') }),
  nullable: z.object({ a: z.string().nullable(), b: z.int().min(2).nullable(), c: z.boolean().nullish() }),
  refine: z.object({ a: z.int().refine((value) => value % 2 === 0, 'even') }),
  record: z.object({ a: z.record(z.string(), z.int()), b: z.record(z.enum(['x', 'y']), z.boolean()) }),
  'partial record': z.object({ a: z.partialRecord(z.enum(['x', 'y']), z.string()) }),
  'recursive object': tree,
  'recursive lazy': lazyTree,
  strict: z.strictObject({ a: z.string(), b: z.strictObject({ c: z.int() }) }),
  passthrough: z.looseObject({ a: z.string() }),
  catchall: z.object({ a: z.string() }).catchall(z.int()),
  tuple: z.object({ a: z.tuple([z.string(), z.int()]), b: z.tuple([z.string()], z.boolean()) }),
  'enum of 500': z.object({ a: z.enum(Array.from({ length: 500 }, (_, index) => `value-${String(index)}`)) }),
  'description with quotes': z.object({ a: z.string().describe('the "quoted" \\ name\nand a second line') }),
  'inner union': z.object({ a: z.union([z.string(), z.int(), z.array(z.string())]) }),
  'inner discriminated union': z.object({
    a: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('card'), number: z.string().min(4) }),
      z.object({ kind: z.literal('cash'), amount: z.int().positive() }),
    ]),
  }),
  'intersection of objects': z.intersection(z.object({ a: z.string() }), z.object({ b: z.int() })),
  'inner intersection': z.object({ a: z.intersection(z.strictObject({ x: z.string() }), z.object({ y: z.int() })) }),
  readonly: z.object({ a: z.array(z.string()).readonly() }),
  literal: z.object({ a: z.literal('x'), b: z.literal([1, 2]), c: z.null() }),
  numbers: z.object({ a: z.number().gt(0).lte(10), b: z.int32(), c: z.number().multipleOf(5) }),
  strings: z.object({ a: z.string().min(2).max(4), b: z.string().regex(/^[a-c]+$/), c: z.string().startsWith('a') }),
  formats: z.object({ a: z.iso.date(), b: z.uuid(), c: z.email(), d: z.ipv4() }),
  'template literal': z.object({ a: z.templateLiteral(['T', z.int()]) }),
  'any JSON': z.object({ a: z.json() }),
  reference: z.object({ a: ref('ticket'), b: ref('team').optional(), c: z.array(ref('label')).max(3) }),
  pipe: z.object({ a: z.string().pipe(z.string().max(5)) }),
  'pattern with flags': z.object({ a: z.string().regex(/^abc$/i), b: z.string().regex(/^x/).regex(/Y$/i) }),
  'trim and case': z.object({ a: z.string().trim().toLowerCase().min(1) }),
  'id and title': z.object({ a: z.string().meta({ id: 'inner', title: 'A' }) }).meta({ id: 'root', title: 'Root' }),
  'forbidden key': z.object({ a: z.string(), b: z.never().optional() }),
};

/** Refused, with the places that are named. */
export const REFUSED: Readonly<Record<string, readonly [schema: z.ZodType, ...paths: string[]]>> = {
  'top-level union': [z.union([z.object({ a: z.string() }), z.object({ b: z.string() })]), '$'],
  'top-level discriminated union': [
    z.discriminatedUnion('k', [z.object({ k: z.literal('a') }), z.object({ k: z.literal('b') })]),
    '$',
  ],
  'top-level intersection with a union': [
    z.intersection(z.object({ a: z.string() }), z.union([z.object({ b: z.string() }), z.object({ c: z.string() })])),
    '$',
  ],
  'top-level string': [z.string(), '$'],
  'top-level array': [z.array(z.string()), '$'],
  'top-level nullable': [z.object({}).nullable(), '$'],
  transform: [z.object({ a: z.string().transform((value) => value.length) }), '$.a'],
  preprocess: [z.object({ a: z.preprocess((value) => value, z.string()) }), '$.a'],
  codec: [z.object({ a: z.codec(z.string(), z.int(), { decode: Number, encode: String }) }), '$.a'],
  stringbool: [z.object({ a: z.stringbool() }), '$.a'],
  coerce: [z.object({ a: z.coerce.number(), b: z.coerce.string() }), '$.a', '$.b'],
  catch: [z.object({ a: z.string().catch('x') }), '$.a'],
  date: [z.object({ a: z.object({ due: z.date() }) }), '$.a.due'],
  bigint: [z.object({ a: z.array(z.object({ n: z.bigint() })) }), '$.a[*].n'],
  any: [z.object({ a: z.any() }), '$.a'],
  unknown: [z.object({ a: z.array(z.unknown()) }), '$.a[*]'],
  map: [z.object({ a: z.map(z.string(), z.string()) }), '$.a'],
  set: [z.object({ a: z.set(z.string()) }), '$.a'],
  undefined: [z.object({ a: z.union([z.string(), z.undefined()]) }), '$.a|1'],
  'bigint literal': [z.object({ a: z.literal(1n) }), '$.a'],
  custom: [z.object({ a: z.custom<string>() }), '$.a'],
  instanceof: [z.object({ a: z.instanceof(URL) }), '$.a'],
  symbol: [z.object({ a: z.symbol() }), '$.a'],
  nan: [z.object({ a: z.nan() }), '$.a'],
  'changing default': [z.object({ a: z.string().default(() => String(process.hrtime.bigint())) }), '$.a'],
  'several at once': [
    z.object({ a: z.date(), b: z.record(z.string(), z.bigint()), c: z.tuple([z.any()]) }),
    '$.a',
    '$.b.*',
    '$.c[0]',
  ],
  'in a recursion': [z.object({ a: z.lazy(() => z.object({ when: z.date() })) }), '$.a.when'],
  'inherited name': [z.object({ constructor: z.string() }), '$.constructor'],
  'idempotency key': [
    z.object({ a: z.object({ idempotency_key: z.string() }), idempotencyKey: z.string() }),
    '$.idempotencyKey',
    '$.a.idempotency_key',
  ],
  'property that the provider refuses': [z.object({ größe: z.int() }), '$.größe'],
};
