/** What a service that embeds the client gets from `holdfast/client` alone. */
import { expect, test } from '@jest/globals';
import { compileAgents, DefinitionError } from '../../../client';
import { createTicketsAgent } from '../../../examples/tickets/agent';

const agent = createTicketsAgent({ name: 'tickets', tools: { deskUrl: 'http://127.0.0.1:9' } });

test('agents for `createDirectParts` are made and found by name', () => {
  const agents = compileAgents([agent]);

  expect(agents.find('tickets')?.definition).toBe(agent);
  expect(agents.find('another')).toBeUndefined();
});

test('agents that are wrong are refused with all that is wrong', () => {
  expect(() => compileAgents([agent, agent])).toThrow(DefinitionError);
});
