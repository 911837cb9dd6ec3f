/** Agents that wait: for a person before their one write, or for the end of the job that their one write began. */
import { z } from 'zod';
import { defineAgent, defineTool, type AgentDefinition, type Tool } from '../../index';
import { agents as coreAgents } from '../core/agents';
import { MODEL } from '../stack/model';

const HOUR_MS = 3_600_000;
const inputSchema = z.strictObject({ item: z.int().positive() });
const outputSchema = z.object({ item: z.int(), state: z.literal('stored') });
type Stored = z.output<typeof outputSchema>;

const shared = {
  effect: 'write',
  risk: 'low',
  timeoutMs: 1_000,
  inputSchema,
  outputSchema,
  target: ({ item }: { readonly item: number }) => ({ object: `item:${String(item)}` }),
  facts: ({ item, state }: Stored) => [{ object: `item:${String(item)}`, field: 'state', value: state }],
} as const;

const storeItem = defineTool({
  ...shared,
  name: 'store_item',
  description: 'Stores one item.',
  execute: ({ item }) => Promise.resolve({ kind: 'done', output: { item, state: 'stored' } }),
});

/** It is polled once an hour, so that only a callback ends the wait. */
const storeLater = defineTool({
  ...shared,
  name: 'store_later',
  description: 'Has one item stored: a job that reports when it is done.',
  execute: (_input, { operation }) => Promise.resolve({ kind: 'accepted', job: operation }),
  poll: {
    everyMs: HOUR_MS,
    limitMs: 24 * HOUR_MS,
    check: (_input, { operation }) => Promise.resolve({ kind: 'running', job: operation }),
  },
  readCallback: (_body, { item }, { operation }) => ({
    kind: 'found',
    job: operation,
    output: { item, state: 'stored' as const },
  }),
});

const waiting = (name: string, tool: Tool, policy: string): AgentDefinition =>
  defineAgent({
    name,
    version: '1',
    instructions: 'Store the item, then finish.',
    tools: [tool],
    policy,
    model: MODEL,
    conditions: [
      {
        name: 'stored',
        check: ({ facts }) =>
          facts.find('item:1', 'state') === undefined
            ? { kind: 'gap', gap: { kind: 'fact', lacks: 'the item is not stored' } }
            : { kind: 'met' },
      },
    ],
  });

const ANYTHING = 'permit (principal, action, resource);';
const BY_APPROVAL = `${ANYTHING}
forbid (principal, action == Action::"executeUnattended", resource is Tool) when { resource.effect == "write" };`;

export const agents = [
  ...coreAgents,
  waiting('approved', storeItem, BY_APPROVAL),
  waiting('accepted', storeLater, ANYTHING),
];
