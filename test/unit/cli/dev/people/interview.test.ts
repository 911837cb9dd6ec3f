import { describe, expect, test } from '@jest/globals';
import type { WaitDetails } from '../../../../../client/waits';
import { interview, type Ask } from '../../../../../cli/dev/people/interview';
import { aWait } from './wait-fixture';

/** Says these, then nothing more; keeps what was asked. */
const says = (...words: string[]): { readonly ask: Ask; readonly asked: string[] } => {
  const asked: string[] = [];
  return { asked, ask: (question) => Promise.resolve(asked.push(question) > 0 ? words.shift() : undefined) };
};

const question = (properties: object, required: readonly string[] = []): WaitDetails =>
  aWait({ kind: 'question', responseSchema: { type: 'object', properties: { ...properties }, required } });

describe('an approval', () => {
  test.each([
    [['y'], { decision: 'approve' }],
    [['perhaps', ' YES '], { decision: 'approve' }],
    [['n', ' not before the release '], { decision: 'deny', reason: 'not before the release' }],
    [['n', '', '  ', 'no'], { decision: 'deny', reason: 'no' }],
    [['what?'], undefined],
    [['n'], undefined],
    [[], undefined],
  ])('%j is %j', async (words, answer) => {
    expect(await interview(aWait({ kind: 'approval' }), says(...words).ask)).toEqual(answer);
  });
});

describe('anything else is asked for by its schema', () => {
  test('each field says what is expected of it, and what is typed becomes what the schema wants', async () => {
    const { ask, asked } = says('T100', ' 3', 'n', '2', '1, c', '');

    const answer = await interview(
      question(
        {
          ticket: { type: 'string', title: 'Ticket' },
          count: { type: 'integer', minimum: 1, maximum: 5 },
          urgent: { type: 'boolean' },
          team: { type: 'string', enum: ['a', 'b'] },
          tags: { type: 'array', items: { type: 'string', enum: ['x', 'y', 'c'] } },
          note: { type: 'string' },
        },
        ['ticket'],
      ),
      ask,
    );

    expect(answer).toEqual({ ticket: 'T100', count: 3, urgent: false, team: 'b', tags: ['x', 'c'] });
    expect(asked.slice(0, 4)).toEqual([
      'Ticket (a text): ',
      expect.stringMatching(/^Count \(a number; 1 to 5 .*; may be left empty\): $/),
      expect.stringMatching(/^Urgent \(y or n/),
      expect.stringMatching(/^Team \(one of 1 a, 2 b/),
    ]);
  });

  test('what is of the wrong type is passed on as it stands, for the judge to name', async () => {
    const wait = question({ count: { type: 'integer' }, urgent: { type: 'boolean' } });

    expect(await interview(wait, says('many', 'perhaps').ask)).toEqual({ count: 'many', urgent: 'perhaps' });
  });

  test('a schema that is no form is answered in JSON', async () => {
    const wait = aWait({ kind: 'question', responseSchema: { type: 'array' } });

    expect(await interview(wait, says('{"a":[1]}').ask)).toEqual({ a: [1] });
    expect(await interview(wait, says('{a').ask)).toBe('{a');
  });

  test('with the end of the input there is no answer', async () => {
    expect(await interview(question({ a: { type: 'string' }, b: { type: 'string' } }), says('x').ask)).toBeUndefined();
  });
});
