/** A release of the example in which a ticket is reassigned with another argument. */
import { z } from 'zod';
import { agents as current } from '../../../../examples/tickets/agents';
import type { AgentDefinition } from '../../../../index';

export const agents: readonly AgentDefinition[] = current.map((agent) => ({
  ...agent,
  tools: agent.tools.map((tool) =>
    tool.name === 'reassign_ticket'
      ? { ...tool, inputSchema: z.object({ ticket: z.string(), team: z.string(), urgency: z.int().optional() }) }
      : tool,
  ),
}));
