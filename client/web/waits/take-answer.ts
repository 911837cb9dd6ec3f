/** What a form says becomes a response; what is refused comes back to the form that said it. */
import { z } from 'zod';
import { HoldfastError } from '../../errors';
import { PROBLEMS } from '../../http/problems/catalogue';
import type { HoldfastClient } from '../../holdfast-client';
import type { ResponseRequest, WaitView } from '../../schemas/wait';
import { given } from '../../views/time';
import { isJsonObject } from '../../../definition/storable-json';
import type { Json, JsonObject } from '../../../workflows/contract/json';
import { PageRefusal } from '../page-refusal';
import { APPROVE_FIELDS, DENY_FIELDS } from './answer-forms';
import { inputNameOf } from './field-view';
import { fieldsOfArguments, fieldsOfResponse, type FormField, type FormValues } from './form-fields';
import { readForm, type FieldFault, type ReadForm } from './read-form';
import { isRefusal } from './refusal-words';
import { argumentsOf } from './shown-arguments';
import type { Attempted } from './wait-page';

const FORM = z.object({
  form: z.enum(['approve', 'deny', 'edit', 'answer']),
  id: z.string(),
  stateVersion: z.coerce.number().int(),
  planVersion: z.coerce.number().int(),
  token: z.string().optional(),
});
type Form = z.output<typeof FORM>;

export type Sent = Readonly<Record<string, string | File | (string | File)[]>>;

export type Taken =
  { readonly kind: 'taken' } | { readonly kind: 'refused'; readonly status: number; readonly attempted: Attempted };

export const takeAnswer = async (client: HoldfastClient, wait: WaitView, sent: Sent): Promise<Taken> => {
  const parsed = FORM.safeParse(sent);
  if (!parsed.success) throw new PageRefusal(400, 'This form is not whole', 'Nothing was done. Open the page again.');
  const form = parsed.data;
  const fields = fieldsOf(wait, form);
  const values = valuesOf(fields, sent);
  const read = readResponse(wait, { form, fields, values });
  if (read.kind === 'faulty') return faulty({ form, values }, read.fault);
  const { id, stateVersion, planVersion, token } = form;
  const request = { wait: wait.wait, id, response: parseResponse(read.value), stateVersion, planVersion };
  try {
    await client.respond(wait.run, { ...request, ...given({ token }) });
    return { kind: 'taken' };
  } catch (error) {
    if (!(error instanceof HoldfastError) || !isRefusal(error.code)) throw error;
    const { code, message, details } = error;
    const field = toFieldName(form, details.field);
    return {
      kind: 'refused',
      status: PROBLEMS[code].status,
      attempted: { form: form.form, values, message, refusal: code, ...given({ field }) },
    };
  }
};

// Read-only here and writable to the schema's type; nobody writes it.
const parseResponse = (value: Json): ResponseRequest['response'] => value as ResponseRequest['response'];

const fieldsOf = (wait: WaitView, { form }: Form): readonly FormField[] => {
  switch (form) {
    case 'approve':
      return APPROVE_FIELDS;
    case 'deny':
      return DENY_FIELDS;
    case 'edit':
      return fieldsOfArguments(wait.argumentSchema, argumentsOf(wait) ?? {});
    case 'answer':
      return fieldsOfResponse(wait.responseSchema) ?? [];
  }
};

const valuesOf = (fields: readonly FormField[], sent: Sent): FormValues =>
  Object.fromEntries(
    fields.map((field) => {
      const value = sent[inputNameOf(field)] ?? [];
      return [field.name, [value].flat().filter((each) => typeof each === 'string')];
    }),
  );

interface Filled {
  readonly form: Form;
  readonly fields: readonly FormField[];
  readonly values: FormValues;
}

const readResponse = (wait: WaitView, { form, fields, values }: Filled): ReadForm => {
  const read = readForm(fields, values);
  if (read.kind === 'faulty') return read;
  switch (form.form) {
    case 'approve':
      return { kind: 'read', value: { decision: 'approve', ...toObject(read.value) } };
    case 'deny':
      return isSaid(values['reason'])
        ? { kind: 'read', value: { decision: 'deny', ...toObject(read.value) } }
        : { kind: 'faulty', fault: { field: 'reason', message: 'Say why: the agent is told it.' } };
    case 'edit':
      return { kind: 'read', value: { decision: 'approve', arguments: withEmptyTexts(wait, fields, read.value) } };
    case 'answer':
      return read;
  }
};

const isSaid = (values: readonly string[] | undefined): boolean => (values?.[0] ?? '').trim() !== '';

const toObject = (value: Json): JsonObject => (isJsonObject(value) ? value : {});

/** An empty text is none, unless it was one before, or has to be there. */
const withEmptyTexts = (wait: WaitView, fields: readonly FormField[], value: Json): Json => {
  if (fields.some(({ name }) => name === '')) return value;
  const shown = argumentsOf(wait) ?? {};
  const given = toObject(value);
  const empty = fields
    .filter(({ name, control, isRequired }) => control.kind === 'text' && (isRequired || shown[name] === ''))
    .map(({ name }): [string, Json] => [name, '']);
  return { ...Object.fromEntries(empty), ...given };
};

const faulty = ({ form, values }: Pick<Filled, 'form' | 'values'>, { field, message }: FieldFault): Taken => ({
  kind: 'refused',
  status: 422,
  attempted: { form: form.form, values, field, message },
});

/** The judge says `arguments.team`, or `arguments.lines.0.text`, where the form has a field for the first member. */
const toFieldName = ({ form }: Form, field: string | undefined): string | undefined => {
  if (form !== 'edit' || field === undefined) return field;
  const [, member = ''] = field.split('.');
  return member;
};
