/** The scripted model of all benchmarks. */
import type { AgentDefinition } from '../../index';

export const MODEL: AgentDefinition['model'] = {
  provider: 'anthropic',
  model: 'bench',
  maxOutputTokens: 1_024,
  maxContextBytes: 60_000,
  idleTimeoutMs: 60_000,
  prices: {
    version: 'bench',
    inputPerMillion: 3,
    outputPerMillion: 15,
    cacheReadPerMillion: 0.3,
    cacheWritePerMillion: 3.75,
  },
};
