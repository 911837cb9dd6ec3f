/** The example's agents after somebody has forbidden reassignments: what a worker loads that was deployed since. */
import type { AgentDefinition } from '../../../index';
import { agents as before } from '../../../examples/tickets/agents';

const REVOKED = `
@id("revoked")
forbid (principal, action == Action::"execute", resource == Tool::"reassign_ticket");
`;

export const agents: readonly AgentDefinition[] = before.map((agent) => ({
  ...agent,
  policy: `${agent.policy}\n${REVOKED}`,
}));
