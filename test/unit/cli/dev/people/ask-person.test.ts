/** The verdicts are given here: what is tested is the talk, not the judgement. */
import { expect, test } from '@jest/globals';
import { askPerson, type Terminal } from '../../../../../cli/dev/people/ask-person';
import { playAnswers } from '../../../../../cli/dev/people/play-answers';
import type { Receipt, WaitDetails, WaitResponse } from '../../../../../client/waits';
import type { Caller } from '../../../../../client/start-request';
import { recordingOutput } from '../../recording-output';
import { aWait } from './wait-fixture';

const CALLER: Caller = { tenant: 'default', subject: 'developer', roles: ['approver'] };

type Verdict = Receipt['verdict'];
const ACCEPTED: Verdict = { kind: 'accepted' };
const REFUSED: Verdict = {
  kind: 'refused',
  code: 'response.invalid',
  message: 'ticket: got 7, expected a text',
};

/** Judges as it is told. */
const toldWaits = (wait: WaitDetails, verdicts: readonly Verdict[] = []) => {
  const left = [...verdicts];
  const said: WaitResponse[] = [];
  let now = wait;
  const change = (changes: Partial<WaitDetails>): void => {
    now = { ...now, ...changes };
  };
  const respond = (_caller: Caller, _wait: string, response: WaitResponse): Promise<Receipt> => {
    said.push(response);
    const verdict = left.shift() ?? ACCEPTED;
    if (verdict.kind === 'accepted') change({ state: 'CONSUMED' });
    return Promise.resolve({ id: 'r1', wait: now.wait, receivedAt: 0, verdict, isRepeated: false, isSignalled: true });
  };
  return { said, change, respond, get: () => Promise.resolve(now) };
};
type ToldWaits = ReturnType<typeof toldWaits>;

const typing = (...words: string[]): Terminal => ({ ask: () => Promise.resolve(words.shift()) });

const personWith = (waits: ToldWaits, terminal: Terminal) => {
  const view = recordingOutput();
  const elsewhere: string[] = [];
  const person = askPerson({
    waits,
    caller: CALLER,
    terminal,
    view,
    everyMs: 1,
    tellElsewhere: ({ wait }) => elsewhere.push(wait),
  });
  return { person, view, elsewhere };
};

test('the whole plan is shown first; the answer goes with what was seen', async () => {
  const waits = toldWaits(aWait(), [ACCEPTED]);
  const { person, view } = personWith(waits, typing('y'));

  await person.attend(aWait());

  const shown = view.printed.join('\n');
  for (const part of ['reassign_ticket on ticket:T100 at version 3, risk medium', '"team": "payments"', 'the policy']) {
    expect(shown).toContain(part);
  }
  expect(waits.said).toEqual([{ body: { decision: 'approve' }, stateVersion: 4, planVersion: 1, token: 'token' }]);
});

test('what is refused is named, and asked again', async () => {
  const wait = aWait({
    kind: 'question',
    responseSchema: { type: 'object', properties: { ticket: { type: 'string' } }, required: ['ticket'] },
  });
  const waits = toldWaits(wait, [REFUSED, ACCEPTED]);
  const { person, view } = personWith(waits, typing('7', 'T100'));

  await person.attend(wait);

  expect(waits.said.map(({ body }) => body)).toEqual([{ ticket: '7' }, { ticket: 'T100' }]);
  expect(view.printed).toContain('Refused: ticket: got 7, expected a text (response.invalid)');
});

test('decided elsewhere, the question ends, and who decided is told', async () => {
  const waits = toldWaits(aWait());
  const terminal: Terminal = {
    ask: (_question, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          resolve(undefined);
        });
        waits.change({
          state: 'CONSUMED',
          response: { decision: 'deny' },
          responses: [
            {
              id: 'r',
              wait: aWait().wait,
              principal: { subject: 'bob', roles: [] },
              verdict: 'accepted',
              receivedAt: 0,
            },
          ],
        });
      }),
  };
  const { person, view, elsewhere } = personWith(waits, terminal);

  await person.attend(aWait());

  expect(view.printed.at(-1)).toBe('Not asked any more: wait_4f3c2a_4_1 was answered by bob: {"decision":"deny"}');
  expect({ said: waits.said, elsewhere }).toEqual({ said: [], elsewhere: [] });
});

test('after the end of the input nobody is asked any more: it is told where to answer', async () => {
  const waits = toldWaits(aWait());
  const { person, elsewhere } = personWith(waits, typing());

  await person.attend(aWait());
  await person.attend(aWait());

  expect({ said: waits.said, elsewhere }).toEqual({ said: [], elsewhere: ['wait_4f3c2a_4_1', 'wait_4f3c2a_4_1'] });
});

const playing = (waits: ToldWaits, ...answers: Parameters<typeof playAnswers>[0]['answers']) =>
  playAnswers({ waits, caller: CALLER, answers, onAsked: () => undefined, onAnswered: () => undefined });

test('a scenario answers in its order; what it expects to be refused it follows with the next', async () => {
  const waits = toldWaits(aWait({ kind: 'question' }), [REFUSED, ACCEPTED]);
  const player = playing(
    waits,
    { kind: 'question', response: { ticket: 7 }, refusedAs: 'response.invalid' },
    { kind: 'approval', response: { decision: 'approve' } },
    { kind: 'question', response: { ticket: 'T100' } },
  );

  await player.attend(aWait({ kind: 'question' }));

  expect(waits.said.map(({ body }) => body)).toEqual([{ ticket: 7 }, { ticket: 'T100' }]);
  expect(player.unasked()).toEqual([{ kind: 'approval', response: { decision: 'approve' } }]);
});

test.each([
  ['refused although nothing was said of it', [REFUSED], undefined, /got response\.invalid .* expected accepted/],
  ['accepted although it should not be', [ACCEPTED], 'response.invalid', /got accepted, expected response\.invalid/],
] as const)('a scenario whose answer is %s ends, named', async (_name, verdicts, refusedAs, message) => {
  const player = playing(toldWaits(aWait(), verdicts), {
    kind: 'approval',
    response: { decision: 'approve' },
    ...(refusedAs === undefined ? {} : { refusedAs }),
  });

  await expect(player.attend(aWait())).rejects.toMatchObject({
    code: 'scenario.answer_refused',
    message: expect.stringMatching(message),
  });
});

test('a scenario without an answer to what is asked ends, named, instead of waiting', async () => {
  const player = playing(toldWaits(aWait()));

  await expect(player.attend(aWait())).rejects.toMatchObject({ code: 'scenario.answer_missing' });
});
