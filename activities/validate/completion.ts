/** `finish(done)`: every condition holds, by facts and operations; the model's word is no evidence. */
import { findGaps } from '../context/find-gaps';
import { viewOf, type AnswerValidator } from './answer-rules';
import { fail, pass } from './judgement';

export const COMPLETION: AnswerValidator = {
  name: 'completion',
  version: '1',
  judge: ({ context, answer, lookUps }) => {
    const gaps = findGaps(context.agent, viewOf(context, lookUps, answer));
    const conditions = context.agent.definition.conditions.map(({ name }) => name);
    if (gaps.length === 0) return pass(undefined, { conditions });
    return fail(
      {
        code: 'finish.condition_unmet',
        error: 'INVALID_ARGUMENT',
        message: `the task is not done: ${gaps.map(({ name, lacks }) => `${name}: ${lacks}`).join('; ')}`,
        gaps,
      },
      { gaps: gaps.map(({ name }) => name) },
    );
  },
};
