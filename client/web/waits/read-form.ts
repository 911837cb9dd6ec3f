/** From what a form sent to the JSON that it says, and back to what stands in it. */
import { toVisibleJson } from '../../../responses/show-invisible';
import type { Json, JsonObject } from '../../../workflows/contract/json';
import type { Control, FormField, FormValues } from './form-fields';

export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

export type ReadForm =
  { readonly kind: 'read'; readonly value: Json } | { readonly kind: 'faulty'; readonly fault: FieldFault };

/**
 * What is not what its field expects is passed on as it stands: the judge of responses names it, the same for every way in.
 * Only text that is no JSON where JSON is asked for ends here.
 */
export const readForm = (fields: readonly FormField[], values: FormValues): ReadForm => {
  const read: [string, Json][] = [];
  for (const field of fields) {
    const given = (values[field.name] ?? []).map(withPlainBreaks);
    const value = readValue(field, given);
    if (value.kind === 'faulty') return value;
    if (value.kind === 'absent') continue;
    if (field.name === '') return value;
    read.push([field.name, value.value]);
  }
  return { kind: 'read', value: Object.fromEntries(read) };
};

/** Forms send every line break as two characters. */
const withPlainBreaks = (text: string): string => text.replace(/\r\n/g, '\n');

type ReadValue = ReadForm | { readonly kind: 'absent' };

const ABSENT: ReadValue = { kind: 'absent' };
const read = (value: Json): ReadValue => ({ kind: 'read', value });

const readValue = ({ name, control }: FormField, given: readonly string[]): ReadValue => {
  const [first = ''] = given;
  switch (control.kind) {
    case 'choices':
      return given.length === 0 ? ABSENT : read([...given]);
    case 'lines':
      return first.trim() === '' ? ABSENT : read(linesOf(first).map((line) => toItem(line, control)));
    case 'json':
      return first.trim() === '' ? ABSENT : readJson(name, first);
    case 'number':
      return first.trim() === '' ? ABSENT : read(toNumber(first));
    case 'flag':
      return first === '' ? ABSENT : read(toFlag(first));
    case 'text':
    case 'choice':
      return first === '' ? ABSENT : read(first);
  }
};

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const toItem = (line: string, { of }: Extract<Control, { kind: 'lines' }>): Json => {
  if (of === 'string') return line;
  return of === 'number' ? toNumber(line) : toFlag(line);
};

const toNumber = (text: string): Json => {
  const number = Number(text.trim());
  return Number.isFinite(number) ? number : text;
};

const toFlag = (text: string): Json => (text === 'true' ? true : text === 'false' ? false : text);

const readJson = (field: string, text: string): ReadForm => {
  try {
    return { kind: 'read', value: parseJson(text) };
  } catch {
    return {
      kind: 'faulty',
      fault: { field, message: 'This is not JSON: a text stands in double quotes, for instance "T100".' },
    };
  }
};

const parseJson = (text: string): Json => JSON.parse(text) as Json;

/** What the fields hold before anybody changes it. */
export const valuesOf = (fields: readonly FormField[], value: JsonObject): FormValues =>
  Object.fromEntries(
    fields.flatMap(({ name, control }): [string, readonly string[]][] => {
      const member = name === '' ? value : value[name];
      return member === undefined ? [] : [[name, [toText(control, member)]]];
    }),
  );

const toText = (control: Control, value: Json): string =>
  control.kind !== 'json' && typeof value !== 'object' ? String(value) : toVisibleJson(value);
