/** `ask_user`: accepted only while a choice is open that is the person's. Where its candidates are known, they are the answers. */
import { type askUserSchema } from '../../definition/runtime-tools';
import { choiceSchema } from '../../definition/response-schema';
import type { Gap, Question } from '../../workflows/contract/records';
import type { z } from 'zod';
import { toStorableJson, isJsonObject } from '../operate/storable-json';
import { fail, pass, type Judgement, type PinnedContext, type Validator } from './judgement';

export interface QuestionInput {
  readonly context: PinnedContext;
  readonly request: z.output<typeof askUserSchema>;
}

const judge = ({ context: { manifest }, request }: QuestionInput): Judgement<Question> => {
  const choices = manifest.gaps.filter(({ kind }) => kind === 'choice');
  const [only] = choices;
  if (only === undefined) return failNoChoice(manifest.gaps);
  const evidence = { gaps: choices.map(({ name }) => name) };
  if (choices.length === 1 && (only.candidates ?? []).length > 1) {
    return pass({ ...toChoice(only), question: request.question, askedBy: 'model' }, evidence);
  }
  const schema = toStorableJson(request.responseSchema);
  const responseSchema = isJsonObject(schema) ? schema : {};
  return pass({ schemaVersion: 1, question: request.question, responseSchema, askedBy: 'model' }, evidence);
};

/** The runtime's own question about a choice. */
export const toChoice = ({ lacks, candidates = [] }: Gap): Question => ({
  schemaVersion: 1,
  question: lacks,
  responseSchema: choiceSchema(candidates),
  askedBy: 'runtime',
  candidates,
});

const failNoChoice = (gaps: readonly Gap[]): Judgement<never> =>
  fail({
    code: 'question.no_choice_open',
    error: 'INVALID_ARGUMENT',
    message: 'ask_user: no gap of kind choice is open; what is missing is found with tools',
    field: 'question',
    expected: 'an open gap of kind choice',
    gaps,
  });

export const QUESTION: Validator<QuestionInput, Question> = { name: 'question', version: '1', judge };
