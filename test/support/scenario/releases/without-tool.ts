/** A release of the example that has given up the tool with which tickets are reassigned, in its policy too. */
import { agents as current } from '../../../../examples/tickets/agents';
import type { AgentDefinition } from '../../../../index';

export const agents: readonly AgentDefinition[] = current.map((agent) => ({
  ...agent,
  tools: agent.tools.filter(({ name }) => name !== 'reassign_ticket'),
  policy: agent.policy.replaceAll('Tool::"reassign_ticket"', 'Tool::"add_comment"'),
}));
