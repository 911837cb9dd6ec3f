/**
 * A zod schema as a provider accepts it: an object at the root without anyOf, oneOf or allOf there, JSON Schema draft
 * 2020-12. What cannot be said in it is refused when the worker starts, never at the first model call.
 */
import { z } from 'zod';
import type { Json, JsonObject } from '../workflows/contract/json';
import { findSchemaFaults, type SchemaFault } from './find-schema-faults';

export type Conversion =
  | { readonly kind: 'converted'; readonly schema: JsonObject }
  | { readonly kind: 'refused'; readonly faults: readonly SchemaFault[] };

export const convertSchema = (schema: z.ZodType): Conversion => {
  const faults = findSchemaFaults(schema);
  if (faults.length > 0) return { kind: 'refused', faults };
  const converted = toJsonSchema(schema, 'input');
  const rootFaults = findRootFaults(converted);
  return rootFaults.length > 0 ? { kind: 'refused', faults: rootFaults } : { kind: 'converted', schema: converted };
};

/** For hashing what is not sent to a provider: whatever JSON Schema cannot say is left out instead of refused. */
export const describeSchema = (schema: z.ZodType): JsonObject => toJsonSchema(schema, 'output');

/** Shown to the model; anything else that was noted on a schema is our own or the author's business. */
const SHOWN_NOTES = ['title', 'description', 'examples'] as const;

/** Those of the draft; zod's further ones (`starts_with`, `cuid`…) say with their pattern what they mean. */
const FORMATS: readonly string[] = [
  'date-time',
  'date',
  'time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'uri',
  'uuid',
];

const toJsonSchema = (schema: z.ZodType, io: 'input' | 'output'): JsonObject => {
  const { $schema: _dialect, ...converted } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    // An empty registry: notes are copied below, and an `id` would move the root into $defs.
    metadata: z.registry<z.core.GlobalMeta>(),
    override: ({ zodSchema, jsonSchema }) => {
      delete jsonSchema.readOnly;
      if (jsonSchema.format !== undefined && !FORMATS.includes(jsonSchema.format)) delete jsonSchema.format;
      restrictPatterns(zodSchema, jsonSchema);
      const notes = z.globalRegistry.get(zodSchema);
      for (const note of SHOWN_NOTES)
        if (notes?.[note] !== undefined) Object.assign(jsonSchema, { [note]: notes[note] });
    },
  });
  return parseJsonObject(JSON.parse(JSON.stringify(converted)));
};

const parseJsonObject = (value: unknown): JsonObject => value as JsonObject;

/**
 * JSON Schema's patterns have no flags and are Unicode-aware. One that means something else without its flags, or is none
 * under `u`, is left to zod: the schema then accepts more than the tool does, never less.
 */
const restrictPatterns = (zodSchema: z.core.$ZodType, jsonSchema: z.core.JSONSchema.BaseSchema): void => {
  const patterns = patternsOf(zodSchema);
  if (patterns.every(isFaithful)) return;
  const kept = patterns.filter(isFaithful).map(({ source }) => ({ pattern: source }));
  delete jsonSchema.pattern;
  delete jsonSchema.allOf;
  if (kept.length > 0) jsonSchema.allOf = kept;
};

const patternsOf = (schema: z.core.$ZodType): readonly RegExp[] =>
  [schema, ...(schema._zod.def.checks ?? [])].flatMap(({ _zod: { def } }) =>
    'pattern' in def && def.pattern instanceof RegExp ? [def.pattern] : [],
  );

const MEANINGFUL_FLAGS = /[imsvy]/;

const isFaithful = ({ source, flags }: RegExp): boolean => {
  if (MEANINGFUL_FLAGS.test(flags)) return false;
  try {
    return new RegExp(source, 'u').source === source;
  } catch {
    return false;
  }
};

const ROOT_COMBINATORS = ['anyOf', 'oneOf', 'allOf', '$ref', 'enum', 'const', 'not'] as const;
const PROPERTY_KEY = /^[a-zA-Z0-9_.-]{1,64}$/;

const findRootFaults = (schema: JsonObject): readonly SchemaFault[] => {
  const combinator = ROOT_COMBINATORS.find((keyword) => Object.hasOwn(schema, keyword));
  const expected = 'z.object() at the root';
  if (combinator !== undefined) return [{ path: '$', got: `${combinator} at the root`, expected }];
  if (schema['type'] !== 'object') return [{ path: '$', got: `type ${JSON.stringify(schema['type'])}`, expected }];
  return Object.keys(parseProperties(schema['properties']))
    .filter((name) => !PROPERTY_KEY.test(name))
    .map((name) => ({
      path: `$.${name}`,
      got: `the property ${JSON.stringify(name)}`,
      expected: 'up to 64 letters, digits, dots, dashes or underscores',
    }));
};

const parseProperties = (properties: Json | undefined): object =>
  typeof properties === 'object' ? (properties ?? {}) : {};
