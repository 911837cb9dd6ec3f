/** An agent that reads items one by one until it has as many as its task says. */
import { z } from 'zod';
import { defineAgent, defineTool, type AgentDefinition } from '../../index';
import { MODEL } from '../stack/model';
import { BODY } from './body';

const readItem = defineTool({
  name: 'read_item',
  description: 'Reads one item.',
  inputSchema: z.object({ item: z.int().positive() }),
  outputSchema: z.object({ item: z.int(), body: z.string() }),
  effect: 'read',
  risk: 'low',
  timeoutMs: 1_000,
  execute: ({ item }) => Promise.resolve({ kind: 'done', output: { item, body: `${String(item)} ${BODY}` } }),
  facts: ({ item, body }) => [{ object: `item:${String(item)}`, field: 'size', value: body.length }],
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
      name: 'all-read',
      check: ({ task, facts }) =>
        facts.ofKind('item', 'size').length >= Number(task.data['reads'])
          ? { kind: 'met' }
          : { kind: 'gap', gap: { kind: 'fact', lacks: 'items that were not read' } },
    },
  ],
});

export const agents = [reader];
