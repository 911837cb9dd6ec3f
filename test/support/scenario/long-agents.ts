/** The example's agents, and one that reads item after item until it has come as far as its task says. */
import { z } from 'zod';
import { agents as tickets } from '../../../examples/tickets/agents';
import { defineAgent, defineTool, type AgentDefinition } from '../../../index';
import { MODEL } from './scripted-model';

const readItem = defineTool({
  name: 'read_item',
  description: 'Reads one item.',
  inputSchema: z.object({ item: z.int().positive() }),
  outputSchema: z.object({ item: z.int(), body: z.string() }),
  effect: 'read',
  risk: 'low',
  timeoutMs: 1_000,
  execute: ({ item }) => Promise.resolve({ kind: 'done', output: { item, body: `item ${String(item)} `.repeat(40) } }),
  facts: ({ item, body }) => [
    { object: `item:${String(item)}`, field: 'size', value: body.length },
    { object: 'item:last', field: 'number', value: item },
  ],
});

const reader: AgentDefinition = defineAgent({
  name: 'reader',
  version: '1',
  instructions: 'Read the items one after the other, then finish.',
  tools: [readItem],
  policy: 'permit (principal, action, resource);',
  model: MODEL,
  budgets: { maxSteps: 2_000, maxTokens: 1_000_000_000, maxCostMicros: 10_000_000_000, maxToolCalls: 2_000 },
  conditions: [
    {
      name: 'far-enough',
      check: ({ task, facts }) =>
        Number(facts.ofKind('item', 'number')[0]?.value ?? 0) >= Number(task.data['reads'])
          ? { kind: 'met' }
          : { kind: 'gap', gap: { kind: 'fact', lacks: 'the last items' } },
    },
  ],
});

export const agents: readonly AgentDefinition[] = [...tickets, reader];
