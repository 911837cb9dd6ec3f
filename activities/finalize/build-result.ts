/** The run's result from stored records: what was answered or, where nobody answered, what was done in the outside world. */
import type { OperationRow } from '../../store/rows';
import type { RunId } from '../../workflows/contract/ids';
import type { Answer, OperationSummary, Result } from '../../workflows/contract/records';
import type { Totals } from '../../workflows/machine/ledger';
import { isUnproved, isUnsent } from '../../workflows/machine/operation-transitions';
import type { Ending } from '../../workflows/machine/run';
import type { Terminal } from '../../workflows/machine/states';

export interface ResultParts {
  readonly run: RunId;
  readonly ending: Ending;
  readonly answer?: Answer;
  readonly operations: readonly OperationRow[];
  readonly totals: Totals;
}

export const buildResult = (parts: ResultParts, terminal: Terminal): Omit<Result, 'version'> => {
  const { run, ending, answer, totals } = parts;
  const operations = parts.operations.filter(isListed);
  return {
    schemaVersion: 1,
    run,
    terminal,
    reason: ending.reason,
    answer: answer?.answer ?? report(ending, operations, terminal),
    claims: answer?.claims ?? [],
    operations: operations.map(summarise),
    ledger: totals,
    warnings: warningsOf(operations, totals),
    ...(ending.diagnosis === undefined ? {} : { diagnosis: ending.diagnosis }),
  };
};

/** One that nobody judged fit to go on, or that was given up with its step, is no deed of the run. */
const isListed = ({ state }: OperationRow): boolean => state !== 'CREATED';

/** The end calls off what was not executed, in the same transaction. */
const endStateOf = ({ state }: OperationRow): OperationRow['state'] => (isUnsent(state) ? 'CANCELLED' : state);

const summarise = (row: OperationRow): OperationSummary => ({
  id: row.id,
  tool: row.tool,
  effect: row.effect,
  state: endStateOf(row),
  generation: row.generation,
  step: row.step,
  ordinal: row.ordinal,
  ...(row.target === undefined ? {} : { target: row.target }),
  ...(row.code === undefined ? {} : { code: row.code }),
  ...(row.evidence === undefined ? {} : { evidence: row.evidence }),
});

const HEADLINES: Readonly<Record<Terminal, string>> = {
  SUCCEEDED: 'The task is done.',
  FAILED: 'The run failed.',
  BUDGET_EXHAUSTED: 'The run stopped, since its budget is spent.',
  EXPIRED: 'The run stopped, since its time was over.',
  CANCELLED: 'The run was cancelled.',
  CANCEL_UNKNOWN: 'The run was cancelled, and what became of an operation is not proved.',
  HANDED_OFF: 'A person has taken the run over.',
};

/** Written by the runtime, from rows alone: no arguments, no results. */
const report = (ending: Ending, operations: readonly OperationRow[], terminal: Terminal): string => {
  const writes = operations.filter(({ effect }) => effect === 'write');
  const done = writes.filter(({ state }) => state === 'SUCCEEDED');
  const open = writes.filter(({ state }) => isUnproved(state));
  const rest = writes.filter(({ state }) => state !== 'SUCCEEDED' && !isUnproved(state));
  return [
    `${HEADLINES[terminal]} Reason: ${ending.reason}.`,
    ...(ending.diagnosis === undefined ? [] : [toDiagnosis(ending.diagnosis)]),
    ...(done.length === 0
      ? ['Nothing was changed in the outside world that is proved.']
      : ['Done:', ...done.map(toLine)]),
    ...(open.length === 0 ? [] : ['Not proved, and still being found out:', ...open.map(toLine)]),
    ...(rest.length === 0 ? [] : ['Not done:', ...rest.map(toLine)]),
  ].join('\n');
};

const toDiagnosis = ({ rule, steps, what }: NonNullable<Ending['diagnosis']>): string =>
  `It went in a circle (${rule}): ${what}, in steps ${steps.join(', ')}.`;

const toLine = (row: OperationRow): string => {
  const { id, tool, target, code } = row;
  const about = target === undefined ? '' : ` on ${target}`;
  return `- ${tool}${about}: ${endStateOf(row)}${code === undefined ? '' : ` (${code})`} [${id}]`;
};

const warningsOf = (operations: readonly OperationRow[], { estimatedTokens }: Totals): readonly string[] => [
  ...(estimatedTokens === 0
    ? []
    : [
        `usage.estimated: ${String(estimatedTokens)} tokens are an estimate, since the provider's figures never arrived`,
      ]),
  ...operations
    .filter(({ state }) => isUnproved(state))
    .map(({ id, tool }) => `operation.unproved: the outcome of ${tool} (${id}) is not proved`),
  ...operations
    .filter(({ state, code }) => state === 'SUCCEEDED' && code === 'TOOL_FAULT')
    .map(({ id, tool }) => `operation.unread: ${tool} (${id}) was executed, and its result could not be read`),
  ...operations
    .filter(({ effect, generation, state }) => effect === 'write' && generation > 1 && state === 'SUCCEEDED')
    .map(
      ({ id, tool, generation }) =>
        `operation.resent: ${tool} (${id}) was sent ${String(generation)} times with the same key`,
    ),
];
