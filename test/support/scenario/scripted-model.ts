/** The scripted model of agents that tests define themselves. */
import type { AgentDefinition } from '../../../index';

export const MODEL: AgentDefinition['model'] = {
  provider: 'anthropic',
  model: 'claude-sonnet-5-5',
  maxOutputTokens: 1_024,
  maxContextBytes: 40_000,
  idleTimeoutMs: 60_000,
  prices: {
    version: 'test',
    inputPerMillion: 3,
    outputPerMillion: 15,
    cacheReadPerMillion: 0.3,
    cacheWritePerMillion: 3.75,
  },
};
