/**
 * The run's single account. The database's entries are the account itself; the machine holds the totals that the last
 * carrier returned and only compares them with the limits. Totals only ever grow.
 */

export const BUDGETS = ['steps', 'tokens', 'cost', 'toolCalls'] as const;
export type Budget = (typeof BUDGETS)[number];

export interface Totals {
  readonly steps: number;
  readonly attempts: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  /** Millionths of a US dollar, by the price table of the run's pinned model route. */
  readonly costMicros: number;
  readonly toolCalls: number;
  /** Tokens among the above that are our estimate, since the provider's figures never arrived. */
  readonly estimatedTokens: number;
}

export const NO_TOTALS: Totals = Object.freeze({
  steps: 0,
  attempts: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costMicros: 0,
  toolCalls: 0,
  estimatedTokens: 0,
});

/** Input, output and cache tokens together: what `maxTokens` limits. */
export const tokensOf = (totals: Totals): number =>
  totals.inputTokens + totals.outputTokens + totals.cacheReadTokens + totals.cacheWriteTokens;
