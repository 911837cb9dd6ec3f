/**
 * What a tool's input schema may be made of, decided by one rule: arguments are JSON on the wire, in the approval, in the
 * database and at the far side, and the same JSON in all four. So a schema may check, trim and fill in defaults; it may
 * not turn a value into something else, accept just anything, or hide a wrong value. docs/tool-schemas.md has the list.
 */
import type { z } from 'zod';

export interface SchemaFault {
  /** JSON path, `$` for the root: `$.lines[*].due`. */
  readonly path: string;
  readonly got: string;
  readonly expected: string;
}

type Node = z.core.$ZodTypes;
type NodeType = Node['_zod']['def']['type'];

const parseNode = (schema: z.core.$ZodType): Node => schema as Node;

const NOT_JSON = 'a type that JSON has';
const NO_CHANGE = 'a schema that checks values without turning them into others';

/** `undefined` where the type itself is fine; what it holds is looked at in its turn. */
const REFUSED = {
  string: undefined,
  number: undefined,
  boolean: undefined,
  null: undefined,
  never: undefined,
  enum: undefined,
  literal: undefined,
  template_literal: undefined,
  object: undefined,
  array: undefined,
  tuple: undefined,
  record: undefined,
  union: undefined,
  intersection: undefined,
  optional: undefined,
  nullable: undefined,
  nonoptional: undefined,
  default: undefined,
  prefault: undefined,
  readonly: undefined,
  lazy: undefined,
  pipe: undefined,
  bigint: 'z.int(), or z.string() for whole numbers beyond 2^53',
  date: 'z.iso.datetime() or z.iso.date()',
  map: 'z.record()',
  set: 'z.array()',
  undefined: 'z.optional()',
  void: 'z.optional()',
  any: 'a schema that says what is accepted (z.json() for any JSON)',
  unknown: 'a schema that says what is accepted (z.json() for any JSON)',
  symbol: NOT_JSON,
  nan: NOT_JSON,
  file: NOT_JSON,
  function: NOT_JSON,
  promise: NOT_JSON,
  custom: 'a built-in type with .refine()',
  transform: NO_CHANGE,
  success: NO_CHANGE,
  catch: 'a schema that refuses a wrong value instead of replacing it',
} as const satisfies Record<NodeType, string | undefined>;

/** Every place of the schema that breaks the rule. A recursive schema is looked at once. */
export const findSchemaFaults = (root: z.core.$ZodType): readonly SchemaFault[] => {
  const seen = new Set<z.core.$ZodType>();
  const visit = (schema: z.core.$ZodType, path: string): readonly SchemaFault[] => {
    if (seen.has(schema)) return [];
    seen.add(schema);
    const node = parseNode(schema);
    const own = findOwnFault(node, path);
    if (own !== undefined) return [own];
    return [
      ...findNameFaults(node, path),
      ...childrenOf(node).flatMap(([child, step]) => visit(child, `${path}${step}`)),
    ];
  };
  return visit(root, '$');
};

const findOwnFault = (node: Node, path: string): SchemaFault | undefined => {
  const { def } = node._zod;
  const refusal = REFUSED[def.type];
  if (refusal !== undefined) return { path, got: `z.${def.type}()`, expected: refusal };
  if ('coerce' in def && def.coerce) return { path, got: `z.coerce.${def.type}()`, expected: NO_CHANGE };
  if (def.type === 'pipe' && isTransforming(def))
    return { path, got: 'a transform, codec or preprocess', expected: NO_CHANGE };
  if (def.type === 'literal' && def.values.some((value) => value === undefined || typeof value === 'bigint')) {
    return { path, got: 'a literal of undefined or a bigint', expected: NOT_JSON };
  }
  if ((def.type === 'default' || def.type === 'prefault') && !isFixed(() => def.defaultValue)) {
    return { path, got: 'a default that differs from call to call', expected: 'a fixed value that JSON has' };
  }
  return undefined;
};

const isTransforming = (def: z.core.$ZodPipeDef): boolean =>
  def.transform !== undefined ||
  def.reverseTransform !== undefined ||
  [def.in, def.out].some((side) => parseNode(side)._zod.def.type === 'transform');

/** Judging a candidate again has to give the same arguments. */
const isFixed = (read: () => unknown): boolean => {
  try {
    return JSON.stringify([read()]) === JSON.stringify([read()]) && read() !== undefined;
  } catch {
    return false;
  }
};

const IDEMPOTENCY_KEY = /^(x[_-]?)?idempotency[_-]?(key|token)$/i;

const findNameFaults = (node: Node, path: string): readonly SchemaFault[] => {
  const { def } = node._zod;
  if (def.type !== 'object') return [];
  return Object.keys(def.shape).flatMap((name) => {
    if (name in Object.prototype) {
      return [
        { path: `${path}.${name}`, got: `the property ${name}`, expected: 'a name that no object has by itself' },
      ];
    }
    if (!IDEMPOTENCY_KEY.test(name)) return [];
    const expected = "no such property: the runtime's own key is in the tool's context";
    return [{ path: `${path}.${name}`, got: `the property ${name}`, expected }];
  });
};

type Child = readonly [schema: z.core.$ZodType, step: string];

const childrenOf = (node: Node): readonly Child[] => {
  const { def } = node._zod;
  switch (def.type) {
    case 'object': {
      const fields = Object.entries(def.shape).map(([name, child]): Child => [child, `.${name}`]);
      // `.strict()` and `.loose()` are catch-alls of never and unknown; only a typed one needs a look.
      return def.catchall === undefined || isOpenEnd(def.catchall) ? fields : [...fields, [def.catchall, '.*']];
    }
    case 'array':
      return [[def.element, '[*]']];
    case 'tuple': {
      const items = def.items.map((item, index): Child => [item, `[${String(index)}]`]);
      return def.rest === null ? items : [...items, [def.rest, '[*]']];
    }
    case 'record':
      return [
        [def.keyType, '.<key>'],
        [def.valueType, '.*'],
      ];
    case 'union':
      return def.options.map((option, index): Child => [option, `|${String(index)}`]);
    case 'intersection':
      return [
        [def.left, '&0'],
        [def.right, '&1'],
      ];
    case 'pipe':
      return [
        [def.in, ''],
        [def.out, ''],
      ];
    case 'lazy':
      return [[def.getter(), '']];
    default:
      return 'innerType' in def ? [[def.innerType, '']] : [];
  }
};

const isOpenEnd = (schema: z.core.$ZodType): boolean => {
  const { type } = parseNode(schema)._zod.def;
  return type === 'never' || type === 'unknown';
};
