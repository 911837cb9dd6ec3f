/**
 * JSON as Cedar sees it. Cedar has no null and no floating point, and reads `__entity` and `__extn` in a record as
 * something else than data: arguments that a model wrote must never become an entity. docs/policy.md has the rules.
 */
import type { CedarValueJson } from '@cedar-policy/cedar-wasm/nodejs';
import type { Json, JsonObject } from '../workflows/contract/json';

/** A value that Cedar cannot be given as data: the evaluation denies. */
export class NotForCedar extends Error {
  readonly code = 'policy.value';
  readonly isRetryable = false;
  constructor(
    readonly field: string,
    readonly got: string,
  ) {
    super(`${field}: got ${got}, expected a name that Cedar takes for data`);
    this.name = 'NotForCedar';
  }
}

const ESCAPES: readonly string[] = ['__entity', '__extn', '__expr'];

/**
 * Whole numbers are longs and others decimals, unless the schema says `number`: then all of them are decimals, so that a
 * policy may compare 5 and 5.5 alike. What neither can hold is its text. Nulls are left out.
 */
export const toCedarRecord = (record: JsonObject, schema?: Json): Record<string, CedarValueJson> =>
  convertRecord(record, { schema, path: '' });

interface Place {
  /** The JSON Schema of the value, where one is known. */
  readonly schema: Json | undefined;
  readonly path: string;
}

const convertRecord = (record: JsonObject, { schema, path }: Place): Record<string, CedarValueJson> =>
  Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) => {
      const field = path === '' ? name : `${path}.${name}`;
      if (ESCAPES.includes(name)) throw new NotForCedar(field, name);
      const converted = convert(value, { schema: step(step(schema, 'properties'), name), path: field });
      return converted === undefined ? [] : [[name, converted]];
    }),
  );

const convert = (value: Json, place: Place): CedarValueJson | undefined => {
  if (value === null) return undefined;
  if (typeof value === 'number') return convertNumber(value, step(place.schema, 'type') === 'number');
  if (typeof value !== 'object') return value;
  if (!isList(value)) return convertRecord(value, place);
  const schema = step(place.schema, 'items');
  return value.flatMap((item, index) => {
    const converted = convert(item, { schema, path: `${place.path}[${String(index)}]` });
    return converted === undefined ? [] : [converted];
  });
};

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

/** Cedar's decimals: four places, within a 64-bit integer of ten-thousandths. */
const DECIMAL_PLACES = 4;
const DECIMAL_LIMIT = 922_337_203_685_477;
const PLAIN_DECIMAL = /^-?\d+(\.\d{1,4})?$/;

const convertNumber = (value: number, isAlwaysDecimal: boolean): CedarValueJson => {
  if (!isAlwaysDecimal && Number.isSafeInteger(value)) return value;
  const text = String(value);
  if (Math.abs(value) >= DECIMAL_LIMIT || !PLAIN_DECIMAL.test(text)) return text;
  return { __extn: { fn: 'decimal', arg: value.toFixed(DECIMAL_PLACES) } };
};

const step = (schema: Json | undefined, name: string): Json | undefined =>
  typeof schema === 'object' && schema !== null && !isList(schema) && Object.hasOwn(schema, name)
    ? schema[name]
    : undefined;
