/** A tool and an agent with nothing wrong, to be spoilt one field at a time. */
import { z } from 'zod';
import { defineAgent, type AgentDefinition } from '../../../definition/agent';
import { ref } from '../../../definition/ref';
import { defineTool, type Tool } from '../../../definition/tool';

export const readTicket = defineTool({
  name: 'read_ticket',
  description: 'Reads a ticket.',
  inputSchema: z.object({ ticket: ref('ticket') }),
  outputSchema: z.object({ team: z.string(), version: z.string(), readAt: z.string() }),
  effect: 'read',
  risk: 'low',
  volatileFields: ['readAt'],
  target: ({ ticket }) => ({ object: `ticket:${ticket}` }),
  execute: () => Promise.resolve({ kind: 'done', output: { team: 'network', version: 'v1', readAt: 'now' } }),
  facts: ({ team, version }, { ticket }) => [{ object: `ticket:${ticket}`, field: 'team', value: team, version }],
});

export const reassignTicket = defineTool({
  name: 'reassign_ticket',
  description: 'Gives a ticket to a team.',
  inputSchema: z.object({ ticket: ref('ticket'), team: ref('team'), note: z.string().trim().optional() }),
  outputSchema: z.object({ team: z.string(), version: z.string() }),
  effect: 'write',
  risk: 'medium',
  idempotency: 'key',
  target: ({ ticket }) => ({ object: `ticket:${ticket}` }),
  execute: () => Promise.resolve({ kind: 'done', output: { team: 'network', version: 'v2' } }),
  reconcile: () => Promise.resolve({ kind: 'notFound' }),
  lookupIsAuthoritative: true,
  settleWindowMs: 1_000,
  keyRetentionMs: 60_000,
  facts: ({ team, version }, { ticket }) => [{ object: `ticket:${ticket}`, field: 'team', value: team, version }],
});

export const POLICY = `
@id("reads")
permit(principal, action in [Action::"execute", Action::"executeUnattended"], resource) when { resource.effect == "read" };
@id("writes")
permit(principal in Role::"agent", action == Action::"execute", resource == Tool::"reassign_ticket");
@id("writes-unattended")
permit(principal, action == Action::"executeUnattended", resource == Tool::"reassign_ticket")
  unless { context.args.team == "security" };
@id("never-legal")
forbid(principal, action == Action::"execute", resource == Tool::"reassign_ticket") when { context.args.team == "legal" };
`;

export const agentWith = (changes: Partial<AgentDefinition> = {}): AgentDefinition =>
  defineAgent({
    name: 'tickets',
    version: '1',
    instructions: 'Reassign tickets by the on-call rules.',
    tools: [readTicket, reassignTicket],
    policy: POLICY,
    model: {
      provider: 'anthropic',
      model: 'model-1',
      maxOutputTokens: 4_096,
      maxContextBytes: 200_000,
      idleTimeoutMs: 30_000,
      prices: {
        version: '2025-01',
        inputPerMillion: 3,
        outputPerMillion: 15,
        cacheReadPerMillion: 0.3,
        cacheWritePerMillion: 3.75,
      },
    },
    conditions: [{ name: 'reassigned', check: () => ({ kind: 'met' }) }],
    ...changes,
  });

export const toolWith = (changes: Partial<Tool>, base: Tool = reassignTicket): Tool => ({ ...base, ...changes });
