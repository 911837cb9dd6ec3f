import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { findRefs } from '../../../definition/find-refs';
import { ref } from '../../../definition/ref';
import type { Json } from '../../../workflows/contract/json';

const node: z.ZodType = z.object({
  ticket: ref('ticket'),
  get next() {
    return node.optional();
  },
});

test.each<[string, z.ZodType, Json, readonly string[]]>([
  ['a field', z.object({ a: ref('ticket') }), { a: 'T1' }, ['a=ticket:T1']],
  ['an optional one', z.object({ a: ref('ticket').optional(), b: ref('team').nullable() }), { b: null }, []],
  [
    'behind wrappers',
    z.object({ a: ref('ticket').optional().nullable().default(null).readonly() }),
    { a: 'T1' },
    ['a=ticket:T1'],
  ],
  [
    'with further checks and words',
    z.object({ a: ref('ticket').describe('the ticket').max(9) }),
    { a: 'T1' },
    ['a=ticket:T1'],
  ],
  ['in a list', z.object({ a: z.array(ref('ticket')) }), { a: ['T1', 'T2'] }, ['a.0=ticket:T1', 'a.1=ticket:T2']],
  [
    'in a tuple',
    z.object({ a: z.tuple([z.string(), ref('team')], ref('ticket')) }),
    { a: ['x', 'ops', 'T1'] },
    ['a.1=team:ops', 'a.2=ticket:T1'],
  ],
  [
    'as a key and a value of a record',
    z.object({ a: z.record(ref('ticket'), ref('team')) }),
    { a: { T1: 'ops' } },
    ['a.T1=ticket:T1', 'a.T1=team:ops'],
  ],
  [
    'in an option of a union',
    z.object({ a: z.union([z.object({ t: ref('ticket') }), z.object({ n: z.int() })]) }),
    { a: { t: 'T1' } },
    ['a.t=ticket:T1'],
  ],
  [
    'where a plainer option takes it too',
    z.object({ a: z.union([z.string(), ref('ticket')]) }),
    { a: 'T1' },
    ['a=ticket:T1'],
  ],
  [
    'in an intersection',
    z.object({ a: z.intersection(z.object({ x: ref('ticket') }), z.object({ y: ref('team') })) }),
    { a: { x: 'T1', y: 'ops' } },
    ['a.x=ticket:T1', 'a.y=team:ops'],
  ],
  ['in a recursion', node, { ticket: 'T1', next: { ticket: 'T2' } }, ['ticket=ticket:T1', 'next.ticket=ticket:T2']],
  ['in a catch-all', z.object({}).catchall(ref('ticket')), { any: 'T1' }, ['any=ticket:T1']],
  ['nowhere', z.object({ a: z.string() }), { a: 'T1' }, []],
])('objects are found in %s', (_title, schema, value, expected) => {
  expect(findRefs(schema, value).map(({ kind, id, path }) => `${path.map(String).join('.')}=${kind}:${id}`)).toEqual(
    expected,
  );
});
