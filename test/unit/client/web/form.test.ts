import { describe, expect, test } from '@jest/globals';
import { fieldsOfArguments, fieldsOfResponse } from '../../../../client/web/waits/form-fields';
import { readForm, valuesOf } from '../../../../client/web/waits/read-form';

const SCHEMA = {
  type: 'object',
  properties: {
    team: { type: 'string', enum: ['a', 'b'], title: 'Which team' },
    note: { type: 'string', minLength: 2, maxLength: 10, description: 'For the team' },
    count: { type: 'integer', minimum: 1, maximum: 9 },
    isUrgent: { type: 'boolean' },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 3 },
    picks: { type: 'array', items: { type: 'string', enum: ['x', 'y'] } },
  },
  required: ['team', 'isUrgent'],
};

const fields = fieldsOfResponse(SCHEMA) ?? [];

describe('a form made from a response schema', () => {
  test('has a field of the right kind for each property, with label, hint and whether it is required', () => {
    expect(
      fields.map(({ name, label, hint, isRequired, control }) => [name, label, hint, isRequired, control.kind]),
    ).toEqual([
      ['team', 'Which team', undefined, true, 'choice'],
      ['note', 'Note', 'For the team · 2 to 10 characters', false, 'text'],
      ['count', 'Count', '1 to 9 (a whole number)', false, 'number'],
      ['isUrgent', 'Is urgent', undefined, true, 'flag'],
      ['tags', 'Tags', 'At most 3 items, one on each line', false, 'lines'],
      ['picks', 'Picks', undefined, false, 'choices'],
    ]);
  });

  test('reads what was filled in as JSON, and leaves out what was left empty', () => {
    const values = {
      team: ['b'],
      note: [''],
      count: [' 7 '],
      isUrgent: ['false'],
      tags: ['one\r\n\r\n two '],
      picks: ['x', 'y'],
    };

    expect(readForm(fields, values)).toEqual({
      kind: 'read',
      value: { team: 'b', count: 7, isUrgent: false, tags: ['one', 'two'], picks: ['x', 'y'] },
    });
  });

  test('passes on what is of the wrong type, so that the judge of responses names it', () => {
    expect(readForm(fields, { count: ['many'], isUrgent: ['perhaps'] })).toEqual({
      kind: 'read',
      value: { count: 'many', isUrgent: 'perhaps' },
    });
  });

  test('is none for a schema that a page cannot show', () => {
    expect(fieldsOfResponse({ type: 'object', properties: { a: { $ref: '#/x' } } })).toBeUndefined();
  });
});

describe('a form made from the arguments of a tool', () => {
  const schema = {
    type: 'object',
    properties: {
      ticket: { type: 'string' },
      lines: { type: 'array' },
      size: { type: 'number' },
      mode: { enum: ['on', 'off'] },
    },
    required: ['ticket'],
  };
  const shown = { ticket: 'T1', lines: [{ a: 1 }], size: 2, mode: 'on', more: null };

  test('says the same again where nothing was changed, whatever the arguments are', () => {
    const own = fieldsOfArguments(schema, shown);

    expect(own.map(({ control }) => control.kind)).toEqual(['text', 'json', 'number', 'choice', 'json']);
    expect(readForm(own, valuesOf(own, shown))).toEqual({ kind: 'read', value: shown });
  });

  test('edits text with something unseen in it as JSON, where it is escaped and kept', () => {
    const hidden = { ticket: 'T1\u202e2' };
    const own = fieldsOfArguments(schema, hidden);
    const values = valuesOf(own, hidden);

    expect(values['ticket']).toEqual(['"T1\\u202e2"']);
    expect(readForm(own, values)).toEqual({ kind: 'read', value: hidden });
  });

  test('is one field for the whole where the schema names no properties', () => {
    const own = fieldsOfArguments({ anyOf: [] }, shown);

    expect(own.map(({ name }) => name)).toEqual(['']);
    expect(readForm(own, valuesOf(own, shown))).toEqual({ kind: 'read', value: shown });
  });

  test('names the field that is to hold JSON and does not', () => {
    const own = fieldsOfArguments(schema, shown);

    expect(readForm(own, { lines: ['[1,'] })).toMatchObject({ kind: 'faulty', fault: { field: 'lines' } });
  });
});
