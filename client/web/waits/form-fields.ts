/** A form made from a schema: its fields, what stands in them, and the JSON that they say. */
import { z } from 'zod';
import { responseSchemaSchema, type ResponseSchema } from '../../../definition/response-schema';
import { showInvisible } from '../../../responses/show-invisible';
import type { Json, JsonObject } from '../../../workflows/contract/json';
import { humanize } from '../words';

export type Control =
  | { readonly kind: 'text'; readonly isShort: boolean }
  | { readonly kind: 'number' }
  | { readonly kind: 'flag' }
  | { readonly kind: 'choice'; readonly options: readonly string[] }
  | { readonly kind: 'choices'; readonly options: readonly string[] }
  | { readonly kind: 'lines'; readonly of: 'string' | 'number' | 'boolean' }
  | { readonly kind: 'json' };

export interface FormField {
  /** Of the member; empty where the field is the value as a whole. */
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly isRequired: boolean;
  readonly control: Control;
}

/** What stands in the fields, by name, as forms send it. */
export type FormValues = Readonly<Record<string, readonly string[]>>;

/** Undefined where the schema is none that can be shown as a form. */
export const fieldsOfResponse = (schema: unknown): readonly FormField[] | undefined => {
  const parsed = responseSchemaSchema.safeParse(schema);
  if (!parsed.success) return undefined;
  const { properties, required = [] } = parsed.data;
  return Object.entries(properties).map(([name, property]) => ({
    name,
    label: labelOf(name, property.title),
    isRequired: required.includes(name),
    control: controlOfResponse(property),
    ...hintOf(property.description, boundsOf(property)),
  }));
};

type Property = ResponseSchema['properties'][string];

const controlOfResponse = (property: Property): Control => {
  switch (property.type) {
    case 'string':
      if (property.enum !== undefined) return { kind: 'choice', options: property.enum };
      return { kind: 'text', isShort: (property.maxLength ?? Infinity) <= SHORT_LENGTH };
    case 'integer':
    case 'number':
      return { kind: 'number' };
    case 'boolean':
      return { kind: 'flag' };
    case 'array': {
      const { items } = property;
      if (items.type === 'string' && items.enum !== undefined) return { kind: 'choices', options: items.enum };
      return { kind: 'lines', of: items.type === 'integer' ? 'number' : items.type };
    }
  }
};

const SHORT_LENGTH = 120;

const labelOf = (name: string, title: string | undefined): string =>
  title === undefined || title === '' ? (USUAL_LABELS[name] ?? humanize(name)) : showInvisible(title);

/** Of responses whose schemas have no titles. */
const USUAL_LABELS: Readonly<Record<string, string>> = { accept: 'Do you accept it?', choice: 'Which one?' };

const isChosen = ({ items }: Extract<Property, { type: 'array' }>): boolean =>
  items.type === 'string' && items.enum !== undefined;

const boundsOf = (property: Property): string | undefined => {
  if (property.type === 'boolean' || (property.type === 'string' && property.enum !== undefined)) return undefined;
  const [least, most, what] =
    property.type === 'string'
      ? [property.minLength, property.maxLength, 'characters']
      : property.type === 'array'
        ? [property.minItems, property.maxItems, isChosen(property) ? 'of them' : 'items, one on each line']
        : [property.minimum, property.maximum, property.type === 'integer' ? '(a whole number)' : '(a number)'];
  if (least === undefined && most === undefined && property.type === 'array' && isChosen(property)) return undefined;
  if (least === undefined && most === undefined)
    return property.type === 'string' ? undefined : what.replace(/[()]/g, '');
  if (least === undefined) return `At most ${String(most)} ${what}`;
  return most === undefined ? `At least ${String(least)} ${what}` : `${String(least)} to ${String(most)} ${what}`;
};

const hintOf = (...texts: readonly (string | undefined)[]): Pick<FormField, 'hint'> => {
  const hint = texts.filter((text) => text !== undefined && text !== '').join(' · ');
  return hint === '' ? {} : { hint: showInvisible(hint) };
};

const ARGUMENT = z.object({
  type: z.string().optional(),
  enum: z.array(z.unknown()).optional(),
  title: z.string().optional(),
  description: z.string().optional(),
});
const ARGUMENTS = z.object({
  properties: z.record(z.string(), z.unknown()),
  required: z.array(z.string()).default([]),
});

const WHOLE: FormField = { name: '', label: 'Arguments', hint: 'As JSON', isRequired: true, control: { kind: 'json' } };

/** Of a tool's arguments: whatever is no plain value is edited as JSON, so that nothing is lost. */
export const fieldsOfArguments = (schema: unknown, shown: JsonObject): readonly FormField[] => {
  const parsed = ARGUMENTS.safeParse(schema);
  if (!parsed.success) return [WHOLE];
  const { properties, required } = parsed.data;
  const names = [...new Set([...Object.keys(properties), ...Object.keys(shown)])];
  return names.map((name) => {
    const { title, description, ...property } = ARGUMENT.catch({}).parse(properties[name] ?? {});
    return {
      name,
      label: title ?? name,
      isRequired: required.includes(name),
      control: controlOfArgument(property, shown[name]),
      ...hintOf(description),
    };
  });
};

const controlOfArgument = (property: z.output<typeof ARGUMENT>, shown: Json | undefined): Control => {
  if (property.enum !== undefined) {
    const options = property.enum.filter((option) => typeof option === 'string');
    return options.length === property.enum.length ? { kind: 'choice', options } : { kind: 'json' };
  }
  if (property.type === 'string' && isPlainText(shown)) return { kind: 'text', isShort: true };
  if (property.type === 'integer' || property.type === 'number') return { kind: 'number' };
  return property.type === 'boolean' ? { kind: 'flag' } : { kind: 'json' };
};

/** What has something unseen in it is edited as JSON, where it is escaped. */
const isPlainText = (value: Json | undefined): boolean =>
  value === undefined || (typeof value === 'string' && showInvisible(value) === value);
