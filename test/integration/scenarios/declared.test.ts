/** Every scenario that `--scenario NAME` offers ends as it says, with the effects that it says and no others. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { SCENARIOS } from '../../../examples/tickets/scenarios';
import { setStage, type Stage } from '../../support/scenario/stage';

let stage: Stage;
beforeAll(async () => {
  stage = await setStage();
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

test.each(SCENARIOS.map((each) => [each.id, each.name, each] as const))(
  '%s %s',
  async (_id, _name, { agent, goal, data, limits, deskFaults, deskSettings, modelFaults, expected }) => {
    await stage.desk.changeSettings(deskSettings);
    for (const fault of deskFaults) await stage.desk.addFault(fault);
    for (const fault of modelFaults) stage.model.addFault(fault);

    const run = await stage.start({ agent, goal, data, ...(limits === undefined ? {} : { limits }) });
    const { terminal, reason } = await stage.end(run);

    const effects = (await stage.desk.effects()).map(({ kind, ticket, args }) =>
      args['team'] === undefined ? { kind, ticket } : { kind, ticket, team: args['team'] },
    );
    expect({ terminal, reason, effects }).toEqual(expected);
    // A fault that never struck would prove nothing.
    expect((await stage.desk.faults()).filter(({ fired }) => fired === 0)).toEqual([]);
    const struck = stage.model.requests.map(({ outcome }) => ('fault' in outcome ? outcome.fault.kind : undefined));
    expect(struck).toEqual(expect.arrayContaining(modelFaults.map(({ fault }) => fault.kind)));
  },
);
