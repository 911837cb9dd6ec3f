/** The end of a run for people: terminal, answer, claims with their evidence, operations, account and times. */
import type { Colors } from 'picocolors/types';
import type { OperationRow } from '../../store/rows';
import { tokensOf } from '../../workflows/machine/ledger';
import { timesOf } from '../../client/views/durations';
import { formatCost, formatCount, formatDuration, formatNumberOf, indent, oneLine, visible } from './format';
import { paintState } from './journal-line';
import { modelLine } from './model-line';
import type { RunRecord } from './run-record';

export const renderResult = (record: RunRecord, colors: Colors): readonly string[] => [
  renderHeading(record, colors),
  ...renderAnswer(record, colors),
  ...renderOperations(record.details.operations, colors),
  renderAccount(record, colors),
];

const renderHeading = ({ details: { row }, model, result }: RunRecord, colors: Colors): string => {
  const state = row.terminal ?? row.state;
  const version = result !== undefined && result.version > 1 ? `, result version ${result.version}` : '';
  const reason = row.reason === undefined ? '' : ` (${oneLine(row.reason)})`;
  return `${colors.bold(paintState(state, colors)(state))}${reason}${version}  ${colors.dim(modelLine(model))}`;
};

const renderAnswer = ({ result }: RunRecord, colors: Colors): readonly string[] => {
  if (result === undefined) return [];
  const claims = result.claims.map(
    ({ text, evidence }) => `    • ${oneLine(text, 300)}  ${colors.dim(`[${evidence.join(', ')}]`)}`,
  );
  const warnings = result.warnings.map((warning) => `    ! ${colors.yellow(oneLine(warning, 300))}`);
  return [
    ...(result.answer === '' ? [] : [colors.bold('  Answer'), indent(visible(result.answer.trimEnd()), 4)]),
    ...(claims.length === 0 ? [] : [colors.bold('  Claims and their evidence'), ...claims]),
    ...(warnings.length === 0 ? [] : [colors.bold('  Warnings'), ...warnings]),
    ...(result.diagnosis === undefined ? [] : [renderDiagnosis(result.diagnosis)]),
  ];
};

const renderDiagnosis = ({ rule, steps, what }: NonNullable<NonNullable<RunRecord['result']>['diagnosis']>): string =>
  `  Diagnosis: ${rule} in steps ${steps.join(', ')}: ${oneLine(what)}`;

const renderOperations = (operations: readonly OperationRow[], colors: Colors): readonly string[] =>
  operations.length === 0
    ? []
    : [colors.bold('  Operations'), ...operations.map((each) => renderOperation(each, colors))];

export const renderOperation = (operation: OperationRow, colors: Colors): string => {
  const { id, tool, effect, state, generation, target, evidence, code, job, equivalent } = operation;
  const words = [
    id,
    effect === 'write' ? colors.bold(tool) : tool,
    target === undefined ? '' : oneLine(target, 60),
    paintState(state, colors)(state),
    generation > 1 ? `sent ${generation} times` : '',
    code === undefined ? '' : colors.yellow(code),
    job === undefined ? '' : `job ${oneLine(job, 60)}`,
    equivalent === undefined ? '' : `same as ${equivalent}`,
    evidence === undefined ? '' : colors.dim(`[${evidence}]`),
  ];
  return `    ${words.filter((word) => word !== '').join('  ')}`;
};

const renderAccount = ({ details: { totals }, lines }: RunRecord, colors: Colors): string => {
  const { systemMs, userMs } = timesOf(lines);
  const words = [
    formatNumberOf(totals.steps, 'step'),
    formatNumberOf(totals.attempts, 'attempt'),
    formatNumberOf(totals.toolCalls, 'tool call'),
    `${formatCount(tokensOf(totals))} tokens`,
    formatCost(totals.costMicros),
    `${formatDuration(systemMs)} of systems`,
    `${formatDuration(userMs)} of people`,
  ];
  return `  ${colors.bold('Spent')} ${words.join(' · ')}`;
};
