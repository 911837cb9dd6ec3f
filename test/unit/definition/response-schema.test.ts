import { describe, expect, test } from '@jest/globals';
import type { Json } from '../../../workflows/contract/json';
import { choiceSchema, findResponseFault, responseSchemaSchema } from '../../../definition/response-schema';

const schema = responseSchemaSchema.parse({
  type: 'object',
  properties: {
    ticket: { type: 'string', minLength: 2, maxLength: 8 },
    urgent: { type: 'boolean' },
    count: { type: 'integer', minimum: 0, maximum: 3 },
    share: { type: 'number' },
    teams: { type: 'array', items: { type: 'string', enum: ['network', 'database'] }, minItems: 1, maxItems: 2 },
  },
  required: ['ticket'],
});

describe('a response', () => {
  test.each<[string, Json]>([
    ['with what is required', { ticket: 'T100' }],
    ['with falsy values', { ticket: 'T100', urgent: false, count: 0, share: 0 }],
    ['with a list', { ticket: 'T100', teams: ['network', 'database'] }],
  ])('%s is accepted', (_title, response) => {
    expect(findResponseFault(schema, response)).toBeUndefined();
  });

  test.each<[string, Json, string, string]>([
    ['that is no object', 'T100', '', 'an object'],
    ['that is a list', ['T100'], '', 'an object'],
    ['without what is required', { urgent: true }, 'ticket', 'a value, since it is required'],
    ['of another type', { ticket: 100 }, 'ticket', 'a text'],
    ['that is too short', { ticket: 'T' }, 'ticket', '2 to 8 characters'],
    ['with a text for a flag', { ticket: 'T100', urgent: 'no' }, 'urgent', 'true or false'],
    ['in fractions', { ticket: 'T100', count: 1.5 }, 'count', 'a whole number'],
    ['that is too large', { ticket: 'T100', count: 4 }, 'count', 'at most 3'],
    ['that is too small', { ticket: 'T100', count: -1 }, 'count', 'at least 0'],
    ['with null', { ticket: 'T100', share: null }, 'share', 'a number'],
    ['with an empty list', { ticket: 'T100', teams: [] }, 'teams', '1 to 2 items'],
    ['with a wrong item', { ticket: 'T100', teams: ['network', 'legal'] }, 'teams', 'item 1: one of network, database'],
    [
      'with an unknown field',
      { ticket: 'T100', approve: true },
      'approve',
      'one of ticket, urgent, count, share, teams',
    ],
    [
      'with a field that every object has',
      JSON.parse('{"ticket":"T100","__proto__":{}}') as Json,
      '__proto__',
      'one of ticket, urgent, count, share, teams',
    ],
  ])('%s is refused by field', (_title, response, field, expected) => {
    expect(findResponseFault(schema, response)).toMatchObject({ field, expected });
  });
});

describe("the model's response schema", () => {
  test('for a choice is one that may be asked', () => {
    const choice = responseSchemaSchema.parse(choiceSchema(['ticket:T1', 'ticket:T2']));

    expect(findResponseFault(choice, { choice: 'ticket:T2' })).toBeUndefined();
    expect(findResponseFault(choice, { choice: 'ticket:T3' })).toMatchObject({ field: 'choice' });
  });

  test.each<[string, object]>([
    ['no object', { type: 'string' }],
    ['without fields', { type: 'object', properties: {} }],
    ['with a pattern', { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' } } }],
    ['with a reference', { type: 'object', properties: { a: { $ref: '#' } } }],
    ['nested', { type: 'object', properties: { a: { type: 'object', properties: {} } } }],
    ['with a union', { type: 'object', anyOf: [] }],
    ['open to anything', { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: true }],
    ['requiring what it does not have', { type: 'object', properties: { a: { type: 'string' } }, required: ['b'] }],
    ['with a name of another kind', { type: 'object', properties: { 'a b': { type: 'string' } } }],
    [
      'with 13 fields',
      {
        type: 'object',
        properties: Object.fromEntries(
          Array.from({ length: 13 }, (_, index) => [`f${String(index)}`, { type: 'boolean' }]),
        ),
      },
    ],
  ])('%s is refused', (_title, given) => {
    expect(responseSchemaSchema.safeParse(given).success).toBe(false);
  });
});
