/** A line of the journal as people read it: when, from where to where, by which rule, and what it was about. */
import type { RunDetails } from '../../client/runs';
import { parseMachineLine, type MachineLine } from '../../client/views/machine-line';
import type { Output } from '../output';
import type { JournalEntry, OperationRow } from '../../store/rows';
import { formatCost, formatCount, formatDuration, oneLine } from './format';

type Colors = Output['colors'];

export interface LineContext {
  /** Of the run's start: lines tell the time since. */
  readonly startedAt: number;
  readonly details: Pick<RunDetails, 'attempts' | 'operations' | 'waits'>;
  readonly colors: Colors;
}

export const renderEntry = (entry: JournalEntry, context: LineContext): string => {
  const machine = parseMachineLine(entry);
  return machine === undefined ? renderOutside(entry, context) : renderMachine(machine, context);
};

const FROM_WIDTH = 'MODEL_RUNNING'.length;
const TO_WIDTH = 'BUDGET_EXHAUSTED'.length;
const RULE_WIDTH = 22;

const renderMachine = (line: MachineLine, context: LineContext): string => {
  const { colors, startedAt } = context;
  const isStaying = line.from === line.to;
  const arrow = isStaying ? '·' : '→';
  const to = (isStaying ? '' : line.to).padEnd(TO_WIDTH);
  const parts = [
    colors.dim(formatSince(line.at, startedAt)),
    line.from.padEnd(FROM_WIDTH),
    arrow,
    paintState(line.to, colors)(to),
    colors.dim(line.rule.padEnd(RULE_WIDTH)),
    describeCause(line, context),
  ];
  return parts.join(' ').trimEnd();
};

const renderOutside = ({ body, eventId, recordedAt }: JournalEntry, { startedAt, colors }: LineContext): string => {
  const kind = typeof body['kind'] === 'string' ? body['kind'] : 'event';
  const time = colors.dim(formatSince(recordedAt, startedAt));
  return `${time} ${'outside'.padEnd(FROM_WIDTH)} ← ${oneLine(kind, 60)} ${colors.dim(oneLine(eventId ?? '', 60))}`.trimEnd();
};

const formatSince = (atMs: number, startedAt: number): string => formatDuration(atMs - startedAt).padStart(10);

export const paintState = (state: string, colors: Colors): ((text: string) => string) => {
  if (state === 'SUCCEEDED') return colors.green;
  if (state.startsWith('WAITING')) return colors.yellow;
  if (['FAILED', 'BUDGET_EXHAUSTED', 'EXPIRED', 'CANCEL_UNKNOWN'].includes(state)) return colors.red;
  return colors.cyan;
};

const describeCause = (line: MachineLine, { details, colors }: LineContext): string => {
  const { step, attempt, ordinal, wait, code, terminal, reason, ...rest } = line.cause;
  const words = [
    step === undefined ? undefined : `step ${step}`,
    attempt === undefined ? undefined : `attempt ${attempt}`,
    attempt === undefined ? undefined : describeSpending(details, Number(step), Number(attempt)),
    line.event === 'callsJudged' ? describeCalls(details.operations, Number(step), colors) : undefined,
    ordinal === undefined ? undefined : describeOperation(line, details.operations),
    typeof wait === 'string' ? describeWait(details.waits, wait) : undefined,
    code === undefined ? undefined : colors.yellow(oneLine(String(code), 60)),
    terminal === undefined ? undefined : oneLine(`${terminal}: ${reason ?? ''}`, 80),
    ...OTHERS.flatMap((name) => (rest[name] === undefined ? [] : [`${name} ${oneLine(String(rest[name]), 40)}`])),
  ];
  return words.filter((each) => each !== undefined && each !== '').join('  ');
};

/** What else of a cause says something to a reader; hashes do not. */
const OTHERS = ['budget', 'planVersion', 'source', 'retryAfterMs', 'obstacle'] as const;

/** What the attempt cost, and all attempts up to it. */
const describeSpending = ({ attempts }: LineContext['details'], step: number, attempt: number): string => {
  const own = attempts.find((each) => each.step === step && each.attempt === attempt);
  if (own === undefined || own.state === 'OPEN') return '';
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costMicros, isEstimate } = own.usage;
  const total = attempts
    .filter((each) => each.step < step || (each.step === step && each.attempt <= attempt))
    .reduce((sum, each) => sum + each.usage.costMicros, 0);
  const tokens = `${formatCount(inputTokens + cacheReadTokens + cacheWriteTokens)} in, ${formatCount(outputTokens)} out`;
  return `${tokens}${isEstimate ? ' (estimated)' : ''}  ${formatCost(costMicros)}, ${formatCost(total)} so far`;
};

const describeCalls = (operations: readonly OperationRow[], step: number, colors: Colors): string =>
  operations
    .filter((each) => each.step === step)
    .map(({ tool, effect }) => (effect === 'write' ? colors.bold(tool) : tool))
    .join(', ');

/** The id is the run's with step and ordinal: the line has both already. */
const describeOperation = (line: MachineLine, operations: readonly OperationRow[]): string => {
  const { step, ordinal } = line.cause;
  const operation = operations.find((each) => each.step === step && each.ordinal === ordinal);
  if (operation === undefined) return `call ${String(ordinal)}`;
  const { tool, evidence, job } = operation;
  const state = stateAfter(line);
  const words = [
    `call ${String(ordinal)}`,
    tool,
    state,
    job === undefined || state === 'SUCCEEDED' ? '' : `job ${oneLine(job, 40)}`,
    evidence === undefined || state !== 'SUCCEEDED' ? '' : evidence,
  ];
  return words.filter((word) => word !== '').join(' ');
};

/** As the event says it: the row may have moved on since. */
const stateAfter = ({ event, cause: { outcome, code } }: MachineLine): string => {
  if (typeof outcome === 'string') return outcome;
  return event === 'readEnded' && code === undefined ? 'SUCCEEDED' : '';
};

const describeWait = (waits: LineContext['details']['waits'], id: string): string => {
  const kind = waits.find((wait) => wait.id === id)?.kind;
  return kind === undefined ? id : `${kind} ${id}`;
};
