/**
 * What a person may be asked for: an object of a few plain fields. A small part of JSON Schema, so that a page can show it
 * as a form, every answer can be checked field by field, and nothing in it (no pattern, no reference) can be made to hang.
 */
import { z } from 'zod';
import type { Json, JsonObject } from '../workflows/contract/json';

const MAX_FIELDS = 12;
const MAX_CHOICES = 100;
const MAX_LENGTH = 20_000;
const FIELD_NAME = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;

const about = { title: z.string().max(200).optional(), description: z.string().max(2_000).optional() };
const length = z.int().min(0).max(MAX_LENGTH);

const text = z.strictObject({
  type: z.literal('string'),
  enum: z.array(z.string().max(500)).min(1).max(MAX_CHOICES).optional(),
  minLength: length.optional(),
  maxLength: length.optional(),
  ...about,
});
const quantity = z.strictObject({
  type: z.enum(['integer', 'number']),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  ...about,
});
const flag = z.strictObject({ type: z.literal('boolean'), ...about });
const list = z.strictObject({
  type: z.literal('array'),
  items: z.discriminatedUnion('type', [text, quantity, flag]),
  minItems: z.int().min(0).max(MAX_CHOICES).optional(),
  maxItems: z.int().min(0).max(MAX_CHOICES).optional(),
  ...about,
});
const field = z.discriminatedUnion('type', [text, quantity, flag, list]);

export const responseSchemaSchema = z
  .strictObject({
    type: z.literal('object'),
    properties: z.record(z.string().regex(FIELD_NAME), field),
    required: z.array(z.string()).max(MAX_FIELDS).optional(),
    additionalProperties: z.literal(false).optional(),
    ...about,
  })
  .refine(({ properties }) => isBetween(Object.keys(properties).length, 1, MAX_FIELDS), {
    path: ['properties'],
    error: `expected 1 to ${String(MAX_FIELDS)} fields`,
  })
  .refine(({ properties, required = [] }) => required.every((name) => Object.hasOwn(properties, name)), {
    path: ['required'],
    error: 'expected names of properties only',
  });

export type ResponseSchema = z.output<typeof responseSchemaSchema>;
type Field = z.output<typeof field>;

const isBetween = (count: number, least: number, most: number): boolean => count >= least && count <= most;

/** The one field of a question whose answers are known beforehand. */
export const CHOICE_FIELD = 'choice';

/** Asks for exactly one of the candidates. */
export const choiceSchema = (candidates: readonly string[]): JsonObject => ({
  type: 'object',
  properties: { [CHOICE_FIELD]: { type: 'string', enum: [...candidates] } },
  required: [CHOICE_FIELD],
  additionalProperties: false,
});

export interface ResponseFault {
  /** Empty for the response as a whole. */
  readonly field: string;
  readonly value: Json;
  readonly expected: string;
}

/** The first field of a response that its schema does not allow. An absent optional field is no fault; a falsy value neither. */
export const findResponseFault = (schema: ResponseSchema, response: Json): ResponseFault | undefined => {
  if (!isJsonObject(response)) return { field: '', value: response, expected: 'an object' };
  const { properties, required = [] } = schema;
  const unknown = Object.keys(response).find((name) => !Object.hasOwn(properties, name));
  if (unknown !== undefined) {
    return {
      field: unknown,
      value: response[unknown] ?? null,
      expected: `one of ${Object.keys(properties).join(', ')}`,
    };
  }
  const missing = required.find((name) => !Object.hasOwn(response, name));
  if (missing !== undefined) return { field: missing, value: null, expected: `a value, since it is required` };
  for (const [name, each] of Object.entries(properties)) {
    if (!Object.hasOwn(response, name)) continue;
    const value = response[name] ?? null;
    const expected = findMismatch(each, value);
    if (expected !== undefined) return { field: name, value, expected };
  }
  return undefined;
};

const isJsonObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const findMismatch = (schema: Field, value: Json): string | undefined => {
  switch (schema.type) {
    case 'string':
      return findTextMismatch(schema, value);
    case 'integer':
    case 'number':
      return findQuantityMismatch(schema, value);
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'true or false';
    case 'array':
      return findListMismatch(schema, value);
  }
};

const findTextMismatch = (schema: z.output<typeof text>, value: Json): string | undefined => {
  if (typeof value !== 'string') return 'a text';
  if (schema.enum !== undefined && !schema.enum.includes(value)) return `one of ${schema.enum.join(', ')}`;
  const { minLength = 0, maxLength = MAX_LENGTH } = schema;
  return isBetween(value.length, minLength, maxLength)
    ? undefined
    : `${String(minLength)} to ${String(maxLength)} characters`;
};

const findQuantityMismatch = (schema: z.output<typeof quantity>, value: Json): string | undefined => {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'a number';
  if (schema.type === 'integer' && !Number.isSafeInteger(value)) return 'a whole number';
  if (schema.minimum !== undefined && value < schema.minimum) return `at least ${String(schema.minimum)}`;
  if (schema.maximum !== undefined && value > schema.maximum) return `at most ${String(schema.maximum)}`;
  return undefined;
};

const findListMismatch = (schema: z.output<typeof list>, value: Json): string | undefined => {
  if (!isList(value)) return 'a list';
  const { minItems = 0, maxItems = MAX_CHOICES } = schema;
  if (!isBetween(value.length, minItems, maxItems)) return `${String(minItems)} to ${String(maxItems)} items`;
  for (const [index, item] of value.entries()) {
    const expected = findMismatch(schema.items, item);
    if (expected !== undefined) return `item ${String(index)}: ${expected}`;
  }
  return undefined;
};

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
