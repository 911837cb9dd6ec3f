/** Usage of one ledger entry, totals of a run, and how one moves the other. */
import type { Totals } from '../../workflows/machine/ledger';
import type { Usage } from '../rows';

/** The columns of a run row, in the names of the machine. */
export const TOTALS_COLUMNS = [
  'steps',
  'attempts',
  'input_tokens as inputTokens',
  'output_tokens as outputTokens',
  'cache_read_tokens as cacheReadTokens',
  'cache_write_tokens as cacheWriteTokens',
  'cost_micros as costMicros',
  'tool_calls as toolCalls',
  'estimated_tokens as estimatedTokens',
] as const;

export const USAGE_COLUMNS = [
  'input_tokens as inputTokens',
  'output_tokens as outputTokens',
  'cache_read_tokens as cacheReadTokens',
  'cache_write_tokens as cacheWriteTokens',
  'cost_micros as costMicros',
  'is_estimate as isEstimate',
] as const;

export const NO_USAGE: Usage = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costMicros: 0,
  isEstimate: false,
});

/** A fraction of a millionth is rounded up: the account holds whole numbers. */
export const wholeUsage = (usage: Usage): Usage => ({
  inputTokens: Math.ceil(usage.inputTokens),
  outputTokens: Math.ceil(usage.outputTokens),
  cacheReadTokens: Math.ceil(usage.cacheReadTokens),
  cacheWriteTokens: Math.ceil(usage.cacheWriteTokens),
  costMicros: Math.ceil(usage.costMicros),
  isEstimate: usage.isEstimate,
});

export const usageToColumns = (usage: Usage) => ({
  input_tokens: usage.inputTokens,
  output_tokens: usage.outputTokens,
  cache_read_tokens: usage.cacheReadTokens,
  cache_write_tokens: usage.cacheWriteTokens,
  cost_micros: usage.costMicros,
  is_estimate: usage.isEstimate,
});

export const totalsToColumns = (totals: Totals) => ({
  steps: totals.steps,
  attempts: totals.attempts,
  input_tokens: totals.inputTokens,
  output_tokens: totals.outputTokens,
  cache_read_tokens: totals.cacheReadTokens,
  cache_write_tokens: totals.cacheWriteTokens,
  cost_micros: totals.costMicros,
  tool_calls: totals.toolCalls,
  estimated_tokens: totals.estimatedTokens,
});

export const usageTokens = (usage: Usage): number =>
  usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;

/** The totals after an entry's usage has become `next`; a new entry's was NO_USAGE. */
export const replaceUsage = (totals: Totals, before: Usage, next: Usage): Totals => ({
  ...totals,
  inputTokens: totals.inputTokens - before.inputTokens + next.inputTokens,
  outputTokens: totals.outputTokens - before.outputTokens + next.outputTokens,
  cacheReadTokens: totals.cacheReadTokens - before.cacheReadTokens + next.cacheReadTokens,
  cacheWriteTokens: totals.cacheWriteTokens - before.cacheWriteTokens + next.cacheWriteTokens,
  costMicros: totals.costMicros - before.costMicros + next.costMicros,
  estimatedTokens: totals.estimatedTokens - estimated(before) + estimated(next),
});

const estimated = (usage: Usage): number => (usage.isEstimate ? usageTokens(usage) : 0);
