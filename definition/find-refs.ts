/** The objects that a call's arguments name, by the `ref(kind)` parts of the tool's schema. */
import type { z } from 'zod';
import type { Json } from '../workflows/contract/json';
import { refKindOf } from './ref';

export interface NamedObject {
  readonly kind: string;
  readonly id: string;
  readonly path: readonly PropertyKey[];
}

type Node = z.core.$ZodTypes;

const parseNode = (schema: z.core.$ZodType): Node => schema as Node;

/** `value` is what the schema gave out, so it fits; the walk is as deep as the value. */
export const findRefs = (
  schema: z.core.$ZodType,
  value: Json,
  path: readonly PropertyKey[] = [],
): readonly NamedObject[] => {
  const kind = refKindOf(schema);
  if (kind !== undefined && typeof value === 'string') return [{ kind, id: value, path }];
  return childrenOf(parseNode(schema), value).flatMap(([child, part, key]) =>
    findRefs(child, part, key === undefined ? path : [...path, key]),
  );
};

/** A schema inside, the part of the value that it is for, and where that stands; no key for the same place. */
type Child = readonly [schema: z.core.$ZodType, value: Json, key?: PropertyKey];

const childrenOf = ({ _zod: { def } }: Node, value: Json): readonly Child[] => {
  switch (def.type) {
    case 'object':
      return membersOf(value).flatMap(([key, member]): Child[] => {
        const child = Object.hasOwn(def.shape, key) ? def.shape[key] : def.catchall;
        return child === undefined ? [] : [[child, member, key]];
      });
    case 'record':
      return membersOf(value).flatMap(([key, member]): Child[] => [
        [def.keyType, key, key],
        [def.valueType, member, key],
      ]);
    case 'array':
      return itemsOf(value).map((item, index): Child => [def.element, item, index]);
    case 'tuple':
      return itemsOf(value).flatMap((item, index): Child[] => {
        const child = def.items[index] ?? def.rest;
        return child === null ? [] : [[child, item, index]];
      });
    case 'union':
      // Every option that takes the value: one that names an object must not be passed over for one that does not.
      return def.options.filter((option) => accepts(option, value)).map((option): Child => [option, value]);
    case 'intersection':
      return [
        [def.left, value],
        [def.right, value],
      ];
    case 'pipe':
      return [
        [def.in, value],
        [def.out, value],
      ];
    case 'lazy':
      return [[def.getter(), value]];
    default:
      return 'innerType' in def ? [[def.innerType, value]] : [];
  }
};

const accepts = (schema: z.core.$ZodType, value: Json): boolean => {
  const result = schema._zod.run({ value: structuredClone(value), issues: [] }, { async: false });
  return !(result instanceof Promise) && result.issues.length === 0;
};

const membersOf = (value: Json): readonly (readonly [string, Json])[] =>
  typeof value === 'object' && value !== null && !isList(value) ? Object.entries(value) : [];

const itemsOf = (value: Json): readonly Json[] => (isList(value) ? value : []);

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
