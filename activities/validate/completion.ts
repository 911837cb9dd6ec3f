/**
 * `finish(done)`: every condition holds, by facts and operations; the model's word is no evidence. Where an operation's outcome
 * could not be found out, the run is on its way to the end, which asks a person about it again: the model cannot close that gap.
 */
import { findGaps } from '../context/find-gaps';
import { viewOf, type AnswerValidator } from './answer-rules';
import { fail, pass } from './judgement';

export const COMPLETION: AnswerValidator = {
  name: 'completion',
  version: '2',
  judge: ({ context, answer, lookUps }) => {
    const view = viewOf(context, lookUps, answer);
    const unresolved = view.operations.filter(({ state }) => state === 'UNRESOLVED').map(({ id }) => id);
    if (unresolved.length > 0) return pass(undefined, { unresolved });
    const gaps = findGaps(context.agent, view);
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
