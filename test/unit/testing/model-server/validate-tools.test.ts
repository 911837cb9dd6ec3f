import { describe, expect, test } from '@jest/globals';
import { TOOL, judge, refused, request, withSchema, withTool } from './requests';

describe('tools', () => {
  const at = (fault: string) => `tools.0.custom.${fault}`;
  const invalid = (place: string) =>
    at(`input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 (at ${place})`);
  const combinator = at('input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level');
  const property = (schema: unknown) => withSchema({ type: 'object', properties: { a: schema } });

  test.each<[string, unknown, string]>([
    [
      'a dot in the name',
      withTool({ name: 'tickets.read' }),
      at("name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    ],
    ['an empty name', withTool({ name: '' }), at("name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'")],
    [
      'a name of 129 characters',
      withTool({ name: 'a'.repeat(129) }),
      at("name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    ],
    ['one name twice', request({ tools: [TOOL, TOOL] }), 'tools: Tool names must be unique.'],
    ['no schema', request({ tools: [{ name: 'a' }] }), at('input_schema: Field required')],
    ['a root without type', withSchema({ properties: {} }), at('input_schema.type: Field required')],
    ['a root that is a list', withSchema({ type: 'array' }), at("input_schema.type: Input should be 'object'")],
    ['anyOf at the root', withSchema({ type: 'object', anyOf: [] }), combinator],
    ['oneOf at the root', withSchema({ type: 'object', oneOf: [] }), combinator],
    ['allOf at the root', withSchema({ type: 'object', allOf: [] }), combinator],
    [
      'a property with a space',
      withSchema({ type: 'object', properties: { 'a b': {} } }),
      at("input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"),
    ],
    ['an unknown type', property({ type: 'date' }), invalid('/properties/a/type')],
    ['a tuple in the old form', property({ items: [{ type: 'string' }] }), invalid('/properties/a/items')],
    [
      'exclusiveMinimum in the old form',
      property({ exclusiveMinimum: true }),
      invalid('/properties/a/exclusiveMinimum'),
    ],
    ['a pattern that is none', property({ pattern: '(' }), invalid('/properties/a/pattern')],
    ['required on the property', property({ type: 'string', required: true }), invalid('/properties/a/required')],
    ['an empty anyOf inside', property({ anyOf: [] }), invalid('/properties/a/anyOf')],
    ['an extra field', withTool({ run: true }), at('run: Extra inputs are not permitted')],
    [
      'a choice of an absent tool',
      { ...withTool({}), tool_choice: { type: 'tool', name: 'b' } },
      "tool_choice: Tool 'b' not found in provided tools",
    ],
    [
      'a choice without tools',
      request({ tool_choice: { type: 'any' } }),
      'tool_choice: may only be specified while providing tools',
    ],
    [
      'a forced tool with thinking',
      { ...withTool({}), tool_choice: { type: 'any' }, thinking: { type: 'adaptive' } },
      'Thinking may not be enabled when tool_choice forces tool use.',
    ],
  ])('%s is refused', (_title, body, message) => {
    expect(judge(body)).toEqual(refused(message));
  });
});
