/** What entering a state brings with it, whichever way it was entered. */
import { change, withCheck, type Change } from './change';
import type { FreezeContext } from './effects';
import type { Diagnosis, Run } from './run';
import type { State } from './states';

export const enter = (before: Run, moved: Change, to: State): Change => {
  const run: Run = { ...moved.run, state: to };
  switch (to) {
    case 'READY':
      return before.state === 'READY' && before.step === run.step && !isPlanNew(before, run)
        ? { ...moved, run }
        : enterReady({ ...moved, run });
    case 'FINALIZING':
      return before.state === 'FINALIZING' ? { ...moved, run } : withCheck({ ...moved, run }, 0);
    default:
      return { ...moved, run };
  }
};

const isPlanNew = (before: Run, run: Run): boolean => before.planVersion !== run.planVersion;

/** A new step: its number is never used again, and its context is frozen first. */
const enterReady = ({ run, effects }: Change): Change => {
  const { attempt: _over, ...rest } = run;
  const next: Run = { ...rest, step: run.step + 1 };
  return change(next, ...effects, freezeContext(next));
};

export const freezeContext = (run: Run, correction?: Diagnosis): FreezeContext => ({
  kind: 'freezeContext',
  step: run.step,
  ...(run.context === undefined ? {} : { parent: run.context }),
  input: {
    ...run.input,
    ...(run.candidate === undefined ? {} : { candidate: run.candidate }),
    ended: run.calls.map(({ ordinal, code }) => ({ ordinal, ...(code === undefined ? {} : { code }) })),
    ...(correction === undefined ? {} : { correction }),
    shrinks: run.counters.shrinks,
  },
});
