/** The run's result from stored records: what was answered or, where nobody answered, what was done in the outside world. */
import type { RunId } from '../workflows/contract/ids';
import type { Answer, OperationSummary, Resolution, Result } from '../workflows/contract/records';
import type { Totals } from '../workflows/machine/ledger';
import { isUnproved, isUnsent, OPERATION_STATES } from '../workflows/machine/operation-transitions';
import type { Terminal } from '../workflows/machine/states';
import { toOperationSummary } from './operation-summary';
import type { OperationRow } from './rows';

type Ending = Pick<Result, 'reason' | 'diagnosis'>;

export interface ResultParts {
  readonly run: RunId;
  readonly ending: Ending;
  readonly answer?: Answer;
  readonly operations: readonly OperationRow[];
  readonly totals: Totals;
}

/** Of an intended end, or of one from outside. */
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

const UNPROVED: ReadonlySet<string> = new Set(OPERATION_STATES.filter(isUnproved));

/** The end calls off what was not executed, in the same transaction. */
const endStateOf = ({ state }: OperationRow): OperationRow['state'] => (isUnsent(state) ? 'CANCELLED' : state);

const summarise = (row: OperationRow): OperationSummary => ({ ...toOperationSummary(row), state: endStateOf(row) });

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
  ...operationWarnings(operations),
];

const operationWarnings = (
  operations: readonly Pick<OperationSummary, 'id' | 'tool' | 'effect' | 'state' | 'code' | 'generation'>[],
): readonly string[] => [
  ...operations
    .filter(({ state }) => UNPROVED.has(state))
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

export interface ResolvedParts {
  /** The newest version. */
  readonly previous: Result;
  /** Of version 1: what was said at the end stays as it was said. */
  readonly answer: string;
  /** The operation as it stands now. */
  readonly operation: OperationRow;
  readonly found: Resolution;
}

/** The next version: the same end, with what was found out since about one operation. */
export const resolveResult = ({ previous, answer, operation, found }: ResolvedParts): Omit<Result, 'version'> => {
  const operations = previous.operations.map((each) => (each.id === operation.id ? summarise(operation) : each));
  const resolutions = [...(previous.resolutions ?? []), found];
  return {
    ...previous,
    answer: [answer, '', 'Found out since:', ...resolutions.map((each) => toFound(each, operations))].join('\n'),
    operations,
    warnings: [
      ...previous.warnings.filter((warning) => !warning.startsWith(OPERATION_WARNING)),
      ...operationWarnings(operations),
    ],
    resolutions,
  };
};

const OPERATION_WARNING = 'operation.';

const toFound = ({ operation, from, to, by, why }: Resolution, operations: readonly OperationSummary[]): string => {
  const { tool = 'an operation', target } = operations.find(({ id }) => id === operation) ?? {};
  const about = target === undefined ? '' : ` on ${target}`;
  const who = by.subject === undefined ? SOURCES[by.kind] : `${SOURCES[by.kind]} (${by.subject})`;
  return `- ${tool}${about}: ${from} → ${to}, by ${who}${why === undefined ? '' : `: ${why}`} [${operation}]`;
};

const SOURCES: Readonly<Record<Resolution['by']['kind'], string>> = {
  lookUp: 'a look-up',
  poll: 'a poll',
  callback: 'a callback',
  reply: 'the late reply',
  person: 'a person',
};
