/** What a step achieved, from stored records alone. Length of the message is no progress. */
import type { OperationRow } from '../../store/rows';
import type { Gap } from '../../workflows/contract/records';
import type { StepProgress } from '../../workflows/machine/events';

export interface ProgressInput {
  /** The step that has ended. */
  readonly step: number;
  /** Ordinals of its calls, which have all ended. */
  readonly ended: readonly number[];
  /** All of the run. */
  readonly operations: readonly OperationRow[];
  /** As its context showed them. */
  readonly gapsBefore: readonly Gap[];
  readonly gapsAfter: readonly Gap[];
  /** Whether a person's response came in. */
  readonly hasResponse: boolean;
}

export const measureProgress = (input: ProgressInput): StepProgress => ({
  hasNewEvidence: input.hasResponse || hasNewResult(input),
  hasSettled: ownOperations(input).some(isSettledWrite),
  hasClosedGap: findClosed(input.gapsBefore, input.gapsAfter).length > 0,
  hasNarrowed: hasNarrowed(input),
});

/** What an earlier operation did is shown again by one that stands for it, and is no news. */
const ownOperations = ({ step, ended, operations }: ProgressInput): readonly OperationRow[] =>
  operations.filter((row) => row.step === step && row.equivalent === undefined && ended.includes(row.ordinal));

const hasNewResult = (input: ProgressInput): boolean => {
  const seen = new Set(input.operations.filter((row) => row.step < input.step).map((row) => row.resultHash));
  return ownOperations(input).some(({ resultHash }) => resultHash !== undefined && !seen.has(resultHash));
};

const isSettledWrite = ({ effect, state, generation }: OperationRow): boolean =>
  effect === 'write' && generation > 0 && (state === 'SUCCEEDED' || state === 'FAILED');

/** Names of the gaps that are no longer there. */
export const findClosed = (before: readonly Gap[], after: readonly Gap[]): readonly string[] => {
  const open = new Set(after.map(({ name }) => name));
  return before.map(({ name }) => name).filter((name) => !open.has(name));
};

const hasNarrowed = ({ gapsBefore, gapsAfter }: ProgressInput): boolean =>
  gapsAfter.some((after) => {
    const before = gapsBefore.find(({ name }) => name === after.name);
    return before?.kind === 'choice' && after.kind === 'choice' && countChoices(after) < countChoices(before);
  });

/** Without a list everything is still possible. */
const countChoices = ({ candidates }: Gap): number => candidates?.length ?? Infinity;
