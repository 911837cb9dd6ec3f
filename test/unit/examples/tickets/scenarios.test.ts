import { describe, expect, jest, test } from '@jest/globals';
import { narrowLimits } from '../../../../activities/context/limits';
import { compileAgents } from '../../../../definition/compile-agent';
import { faultRuleSchema as deskFaultSchema } from '../../../../examples/tickets/desk/core/faults';
import { settingsSchema } from '../../../../examples/tickets/desk/core/model';
import { createScript } from '../../../../examples/tickets/model-script';
import { findScenario, SCENARIOS } from '../../../../examples/tickets/scenarios';
import type { AgentDefinition } from '../../../../index';
import { faultRuleSchema as modelFaultSchema } from '../../../../testing/model-server/faults/fault';
import { callsIn, requestOf } from './conversation-fixture';

const NAME = 'HOLDFAST_EXAMPLE_DESK_URL';
const DESK_URL = 'http://127.0.0.1:9';

/** The module reads the environment when it is loaded. */
const loadAgents = (deskUrl: string | undefined): readonly AgentDefinition[] => {
  const before = process.env;
  process.env = { ...before, [NAME]: deskUrl };
  try {
    jest.resetModules();
    return jest.requireActual<{ readonly agents: readonly AgentDefinition[] }>('../../../../examples/tickets/agents')
      .agents;
  } finally {
    process.env = before;
  }
};

const { agents } = compileAgents(loadAgents(DESK_URL));

describe('the agents that a worker loads', () => {
  test('compile, with a fault in none of them', () => {
    expect([...agents.keys()]).toEqual(
      expect.arrayContaining(['tickets', 'tickets-approval', 'tickets-guarded', 'tickets-key-only']),
    );
  });

  test.each([undefined, 'not an address'])('are not there without the address of a desk: %s', (deskUrl) => {
    expect(() => loadAgents(deskUrl)).toThrow(/HOLDFAST_EXAMPLE_DESK_URL: got .*expected the address/);
  });
});

describe('the scenarios', () => {
  test('have names of their own, by which they are found', () => {
    expect(new Set(SCENARIOS.map(({ name }) => name)).size).toBe(SCENARIOS.length);
    expect(SCENARIOS.map(({ name }) => findScenario(name)?.name)).toEqual(SCENARIOS.map(({ name }) => name));
    expect(findScenario('constructor')).toBeUndefined();
  });

  test.each(['normal', 'lost-receipt', 'repeated-query', 'premature-finish', 'lost-text'])('include %s', (name) => {
    expect(findScenario(name)?.title).not.toContain('\n');
  });

  test('name agents that exist', () => {
    expect(SCENARIOS.map(({ agent }) => agent).filter((agent) => !agents.has(agent))).toEqual([]);
  });

  test.each(SCENARIOS.map((each) => [each.name, each] as const))(
    '%s is understood by desk, model server and runtime',
    async (_name, { goal, data, limits = {}, deskFaults, deskSettings, modelFaults }) => {
      const known = agents.get('tickets')?.snapshot.limits;

      for (const fault of deskFaults) deskFaultSchema.parse(fault);
      for (const fault of modelFaults) modelFaultSchema.parse(fault);
      settingsSchema.unwrap().partial().parse(deskSettings);
      if (known !== undefined) expect(narrowLimits(known, limits)).toMatchObject(limits);
      // Whoever is named plays: an unknown persona would throw.
      expect(callsIn(await createScript()(requestOf({ goal, data })))).toHaveLength(1);
    },
  );
});
