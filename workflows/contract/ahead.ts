/**
 * Which context the machine asks for once a candidate's calls have all ended, said once for the activity that freezes it
 * ahead and for the workflow that takes it only where the machine asks for just that.
 */
import type { JudgedCall } from '../machine/events';
import type { FreezeInput, JudgeInput, ReadAhead } from './activities';

type Freeze = FreezeInput['freeze'];

/** Undefined where something else than the next step comes after these reads: another call's end, a question. */
export const freezeAfter = (
  { step, context, candidate }: JudgeInput,
  calls: readonly JudgedCall[],
  reads: readonly ReadAhead[],
): Freeze | undefined => {
  const ended = calls.flatMap(({ ordinal, phase, code: judged }) => {
    const read = reads.find((each) => each.ordinal === ordinal);
    if (read?.question !== undefined || (read === undefined && phase !== 'ENDED')) return [];
    const code = read === undefined ? judged : read.code;
    return [{ ordinal, ...(code === undefined ? {} : { code }) }];
  });
  if (ended.length < calls.length) return undefined;
  return { step: step + 1, parent: context, input: { waits: [], candidate, ended, shrinks: 0 } };
};

/** Field by field: what one of them does not say, the other must not say either. */
export const isSameFreeze = (one: Freeze, other: Freeze): boolean => textOf(one) === textOf(other);

const textOf = ({ step, parent, input }: Freeze): string => {
  const { finding, waits, candidate, ended, correction, shrinks, ...rest } = input;
  rest satisfies Record<string, never>;
  const calls = ended.map(({ ordinal, code }) => [ordinal, code]);
  return JSON.stringify([step, parent, finding, waits, candidate, calls, correction, shrinks]);
};
