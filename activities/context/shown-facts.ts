/** Which facts and operations a step's status shows: what the open gaps are about first, then the newest. */
import type { Fact, Gap, OperationSummary, ShownFact } from '../../workflows/contract/records';
import { isUnproved, OPERATION_STATES } from '../../workflows/machine/operation-transitions';

const MAX_FACTS = 60;
const MAX_FACTS_BYTES = 8_192;
const MAX_VALUE_BYTES = 1_024;

/** `facts` in the order of confirmation. The answer is bounded, whatever the run has found out. */
export const chooseFacts = (facts: readonly Fact[], gaps: readonly Gap[]): readonly ShownFact[] => {
  const needed = new Set(gaps.flatMap(({ needs = [] }) => needs));
  const objects = new Set(gaps.flatMap(({ candidates = [] }) => candidates));
  const isNeeded = ({ object, field }: Fact): boolean => needed.has(`${object}.${field}`) || objects.has(object);
  const newestFirst = [...facts].reverse();
  const ordered = [...newestFirst.filter(isNeeded), ...newestFirst.filter((fact) => !isNeeded(fact))];
  let left = MAX_FACTS_BYTES;
  const shown: ShownFact[] = [];
  for (const fact of ordered.slice(0, MAX_FACTS).map(showFact)) {
    left -= Buffer.byteLength(JSON.stringify(fact));
    if (left < 0) break;
    shown.push(fact);
  }
  return shown;
};

const showFact = ({ object, field, value, version, evidence }: Fact): ShownFact => {
  const valueBytes = Buffer.byteLength(JSON.stringify(value));
  return {
    object,
    field,
    ...(valueBytes > MAX_VALUE_BYTES ? { valueBytes } : { value }),
    ...(version === undefined ? {} : { version }),
    evidence,
  };
};

const UNPROVED: ReadonlySet<string> = new Set(OPERATION_STATES.filter(isUnproved));

/** All of them: what may still happen is never left out. */
export const openOperationsOf = (operations: readonly OperationSummary[]): readonly OperationSummary[] =>
  operations.filter(({ effect, state }) => effect === 'write' && UNPROVED.has(state));
