/**
 * What is wrong with a tool's `input_schema`, in the provider's words, or undefined. The structural part of JSON Schema
 * draft 2020-12 is checked by hand: a library would be a runtime dependency for one message.
 */
export function findSchemaFault(schema: Readonly<Record<string, unknown>>): string | undefined {
  const { type, properties } = schema;
  if (type === undefined) return 'input_schema.type: Field required';
  if (type !== 'object') return "input_schema.type: Input should be 'object'";
  if (['oneOf', 'anyOf', 'allOf'].some((combinator) => Object.hasOwn(schema, combinator))) {
    return 'input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level';
  }
  if (isRecord(properties) && Object.keys(properties).some((key) => !PROPERTY_KEY.test(key))) {
    return `input_schema.properties: Property keys should match pattern '${PROPERTY_KEY.source}'`;
  }
  const keyword = findBadKeyword(schema, '');
  if (keyword === undefined) return undefined;
  return `input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 (at ${keyword})`;
}

const PROPERTY_KEY = /^[a-zA-Z0-9_.-]{1,64}$/;
const TYPES: readonly unknown[] = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

type KeywordCheck = (value: unknown, path: string) => string | undefined;

function findBadKeyword(schema: unknown, path: string): string | undefined {
  if (typeof schema === 'boolean') return undefined;
  if (!isRecord(schema)) return path;
  for (const [keyword, value] of Object.entries(schema)) {
    const fault = KEYWORD_CHECKS.get(keyword)?.(value, `${path}/${keyword}`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const accepting =
  (accepts: (value: unknown) => boolean): KeywordCheck =>
  (value, path) =>
    accepts(value) ? undefined : path;

const schemaMap: KeywordCheck = (value, path) => {
  if (!isRecord(value)) return path;
  return firstFault(Object.entries(value), ([key, child]) => findBadKeyword(child, `${path}/${key}`));
};

const schemaList: KeywordCheck = (value, path) => {
  if (!Array.isArray(value) || value.length === 0) return path;
  return firstFault([...value.entries()], ([index, child]) => findBadKeyword(child, `${path}/${index}`));
};

function firstFault<Item>(items: readonly Item[], find: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const fault = find(item);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const number = accepting((value) => typeof value === 'number');
const count = accepting((value) => Number.isInteger(value) && Number(value) >= 0);
const text = accepting((value) => typeof value === 'string');
const pattern = accepting((value) => typeof value === 'string' && isPattern(value));
const textList = accepting(
  (value) =>
    Array.isArray(value) && value.every((item) => typeof item === 'string') && new Set(value).size === value.length,
);
const typeName = accepting((value) =>
  Array.isArray(value) ? value.length > 0 && value.every((item) => TYPES.includes(item)) : TYPES.includes(value),
);

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

const KEYWORD_CHECKS: ReadonlyMap<string, KeywordCheck> = new Map([
  ['type', typeName],
  ['enum', accepting(Array.isArray)],
  ['properties', schemaMap],
  ['patternProperties', schemaMap],
  ['$defs', schemaMap],
  ['definitions', schemaMap],
  ['dependentSchemas', schemaMap],
  ...(['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const).map((keyword) => [keyword, schemaList] as const),
  ...(['items', 'contains', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else'] as const).map(
    (keyword) => [keyword, findBadKeyword] as const,
  ),
  ...(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'] as const).map(
    (keyword) => [keyword, number] as const,
  ),
  ...(['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'] as const).map(
    (keyword) => [keyword, count] as const,
  ),
  ...(['$ref', '$id', '$schema', 'title', 'description', 'format'] as const).map((keyword) => [keyword, text] as const),
  ['pattern', pattern],
  ['required', textList],
]);
