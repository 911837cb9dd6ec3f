/** `runs get`: the run's steps, in each its attempts, their decisions and operations; its waits; its account against its limits. */
import type { Colors } from 'picocolors/types';
import type { AttemptRow, DecisionRow, WaitRow } from '../../store/rows';
import { tokensOf } from '../../workflows/machine/ledger';
import { timesOf } from '../../client/views/durations';
import { formatCost, formatCount, formatDuration, formatTime, oneLine } from './format';
import { modelLine } from './model-line';
import { renderOperation } from './result-view';
import type { RunRecord } from './run-record';

export const renderDetails = (record: RunRecord, colors: Colors): readonly string[] => [
  ...renderRun(record, colors),
  ...stepsOf(record).flatMap((step) => renderStep(record, step, colors)),
  ...renderWaits(record.details.waits, colors),
  ...renderLedger(record, colors),
];

const renderRun = ({ details: { row }, model }: RunRecord, colors: Colors): readonly string[] => {
  const { ref, agent, principal, task } = row;
  const roles = principal.roles.length === 0 ? '' : ` (${principal.roles.join(', ')})`;
  return [
    `${colors.bold(ref.run)}  agent ${agent}  for ${oneLine(principal.subject, 60)}${roles}, tenant ${ref.tenant}  ${colors.dim(modelLine(model))}`,
    `  goal      ${oneLine(task.goal, 200)}`,
    ...(Object.keys(task.data).length === 0 ? [] : [`  data      ${oneLine(JSON.stringify(task.data), 200)}`]),
    `  state     ${row.state}${row.reason === undefined ? '' : ` (${oneLine(row.reason)})`}, event ${row.seq}, step ${row.step}, plan version ${row.planVersion}`,
    `  created   ${formatTime(row.createdAt)}${row.endedAt === undefined ? '' : `, ended ${formatTime(row.endedAt)}`}`,
  ];
};

const stepsOf = ({ details }: RunRecord): readonly number[] => {
  const steps = new Set([...details.attempts, ...details.operations, ...details.decisions].map(({ step }) => step));
  return [...steps].sort((left, right) => left - right);
};

const renderStep = ({ details }: RunRecord, step: number, colors: Colors): readonly string[] => {
  const attempts = details.attempts.filter((each) => each.step === step);
  const [first] = attempts;
  const context = first === undefined ? '' : colors.dim(`  context ${first.context.slice(0, 12)}`);
  return [
    `${colors.bold(`  Step ${step}`)}${context}`,
    ...attempts.flatMap((attempt) => [
      renderAttempt(attempt, colors),
      ...renderDecisions(details.decisions, attempt, colors),
    ]),
    ...details.operations.filter((each) => each.step === step).map((each) => renderOperation(each, colors)),
  ];
};

const renderAttempt = ({ attempt, state, usage, outcome, candidate }: AttemptRow, colors: Colors): string => {
  const kind = outcome?.['code'] ?? outcome?.['kind'];
  const words = [
    `attempt ${attempt} ${state}`,
    typeof kind === 'string' ? kind : '',
    `${formatCount(usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens)} in, ${formatCount(usage.outputTokens)} out${usage.isEstimate ? ' (estimated)' : ''}`,
    formatCost(usage.costMicros),
    candidate === undefined ? '' : colors.dim(`candidate ${candidate.slice(0, 12)}`),
  ];
  return `    ${words.filter((word) => word !== '').join('  ')}`;
};

/** Passes are counted, not listed: what a reader looks for is what stopped something. */
const renderDecisions = (
  decisions: readonly DecisionRow[],
  { step, attempt }: AttemptRow,
  colors: Colors,
): readonly string[] => {
  const own = decisions.filter((each) => each.step === step && each.attempt === attempt);
  const passed = own.filter(({ verdict }) => verdict === 'pass').length;
  const others = own.filter(({ verdict }) => verdict !== 'pass');
  return [
    ...(own.length === 0 ? [] : [`      ${own.length} decisions, ${passed} passed`]),
    ...others.map(({ validator, validatorVersion, phase, ordinal, verdict, code }) => {
      const subject = ordinal === 0 ? 'the candidate' : `call ${ordinal}`;
      const words = `${validator}@${validatorVersion} at ${phase}: ${verdict} for ${subject}${code === undefined ? '' : `, ${code}`}`;
      return `      ${colors.yellow(oneLine(words, 200))}`;
    }),
  ];
};

const renderWaits = (waits: readonly WaitRow[], colors: Colors): readonly string[] =>
  waits.length === 0
    ? []
    : [
        colors.bold('  Waits'),
        ...waits.map(({ id, kind, state, operation, openedAt, expiresAt }) => {
          const about = operation === undefined ? '' : ` about ${operation}`;
          return `    ${id}  ${kind}${about}  ${state}  opened ${formatTime(openedAt)}, expires ${formatTime(expiresAt)}`;
        }),
      ];

const renderLedger = ({ details: { totals, row }, budgets, lines }: RunRecord, colors: Colors): readonly string[] => {
  const { systemMs, userMs } = timesOf(lines, row.endedAt === undefined ? Date.now() : undefined);
  const of = (limit: number | undefined, format: (value: number) => string): string =>
    limit === undefined ? '' : ` of ${format(limit)}`;
  const estimated = totals.estimatedTokens === 0 ? '' : `, ${formatCount(totals.estimatedTokens)} of them estimated`;
  return [
    colors.bold('  Ledger'),
    `    steps       ${totals.steps}${of(budgets?.maxSteps, formatCount)}`,
    `    attempts    ${totals.attempts}`,
    `    tokens      ${formatCount(tokensOf(totals))}${of(budgets?.maxTokens, formatCount)}${estimated}`,
    `    cost        ${formatCost(totals.costMicros)}${of(budgets?.maxCostMicros, formatCost)}`,
    `    tool calls  ${totals.toolCalls}${of(budgets?.maxToolCalls, formatCount)}`,
    `    time        ${formatDuration(systemMs + userMs)}${of(budgets?.deadlineMs, formatDuration)}: ${formatDuration(systemMs)} of systems, ${formatDuration(userMs)} of people`,
  ];
};
