/** A release of the example whose policy names a tool that it has given up. */
import { agents as current } from '../../../../examples/tickets/agents';
import type { AgentDefinition } from '../../../../index';

export const agents: readonly AgentDefinition[] = current.map((agent) => ({
  ...agent,
  tools: agent.tools.filter(({ name }) => name !== 'reassign_ticket'),
}));
