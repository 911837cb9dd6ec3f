/** The example's agents for a desk that forgets a key at once: a second send with it would be another deed. */
import { agents as tickets } from '../../../examples/tickets/agents';
import type { AgentDefinition } from '../../../index';

export const agents: readonly AgentDefinition[] = tickets.map((agent) => ({
  ...agent,
  tools: agent.tools.map((tool) => (tool.idempotency === 'key' ? { ...tool, keyRetentionMs: 1 } : tool)),
}));
