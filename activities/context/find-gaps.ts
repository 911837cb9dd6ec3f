/** What the task still lacks, from conditions, facts and operations. Pure, and the same for every worker that asks. */
import type { CompletionView, Condition } from '../../definition/agent';
import type { CompiledAgent } from '../../definition/registry';
import type { Gap, OperationSummary } from '../../workflows/contract/records';
import { openOperationsOf } from './shown-facts';
import { takeStart, toWellFormed } from './well-formed';

/** First what the conditions lack, in their order; then every write whose outcome nobody has proved. */
export const findGaps = (agent: CompiledAgent, view: CompletionView): readonly Gap[] => [
  ...agent.definition.conditions.flatMap((condition) => gapOf(condition, view)),
  ...openOperationsOf(view.operations).map(unknownGapOf),
];

const gapOf = (condition: Condition, view: CompletionView): readonly Gap[] => {
  const { name } = condition;
  try {
    const verdict = condition.check(view);
    return verdict.kind === 'met' ? [] : [{ name, ...verdict.gap }];
  } catch (error) {
    // A condition that cannot be checked is not met: the run goes on without it and cannot succeed.
    return [{ name, kind: 'work', lacks: `the condition could not be checked (${describe(error)})` }];
  }
};

const MAX_FAULT_LENGTH = 200;

const describe = (error: unknown): string => {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return toWellFormed(takeStart(text, MAX_FAULT_LENGTH));
};

const unknownGapOf = ({ id, tool, target, state }: OperationSummary): Gap => ({
  name: `operation.${id}`,
  kind: 'unknown',
  lacks: `the outcome of ${tool}${target === undefined ? '' : ` on ${target}`} is not proved (${state})`,
});
