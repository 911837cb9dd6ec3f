/** Every scenario that `--scenario NAME` offers ends as it says, with the effects that it says and no others. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { createAttendance } from '../../../cli/dev/people/attend-waits';
import { playAnswers } from '../../../cli/dev/people/play-answers';
import { SCENARIOS } from '../../../examples/tickets/scenarios';
import type { RunRow } from '../../../store/rows';
import { sendsOf } from '../../support/scenario/effects';
import { createPeople, type People } from '../../support/scenario/people';
import { setStage, type Stage } from '../../support/scenario/stage';

let stage: Stage;
let people: People;
beforeAll(async () => {
  stage = await setStage();
  people = await createPeople(stage);
});
afterEach(() => stage.checkAndReset());
afterAll(() => stage.close());

test.each(SCENARIOS.map((each) => [each.id, each.name, each] as const))(
  '%s %s',
  async (_id, _name, { agent, goal, data, limits, deskFaults, deskSettings, modelFaults, answers, expected }) => {
    await stage.desk.changeSettings(deskSettings);
    for (const fault of deskFaults) await stage.desk.addFault(fault);
    for (const fault of modelFaults) stage.model.addFault(fault);

    const run = await stage.start({ agent, goal, data, ...(limits === undefined ? {} : { limits }) });
    const { unasked, sentBefore } = await playUntilEnd(run, answers);
    const { terminal, reason } = await stage.end(run);

    const effects = (await stage.desk.effects()).map(({ kind, ticket, args }) =>
      args['team'] === undefined ? { kind, ticket } : { kind, ticket, team: args['team'] },
    );
    expect({ terminal, reason, effects }).toEqual(expected);
    // An answer that nobody asked for would prove as little as …
    expect(unasked).toEqual([]);
    expect(sentBefore).toBe(0);
    // … a fault that never struck.
    expect((await stage.desk.faults()).filter(({ fired }) => fired === 0)).toEqual([]);
    const struck = stage.model.requests.map(({ outcome }) => ('fault' in outcome ? outcome.fault.kind : undefined));
    expect(struck).toEqual(expect.arrayContaining(modelFaults.map(({ fault }) => fault.kind)));
  },
);

/** Answers as the scenario says, and counts what was sent to the desk before an approval of it. */
const playUntilEnd = async (run: RunRow, answers: (typeof SCENARIOS)[number]['answers']) => {
  const { waits, bob } = people;
  const over = new AbortController();
  let sentBefore = 0;
  const player = playAnswers({
    waits,
    caller: bob,
    answers,
    onAsked: async ({ kind, mayRespond }) => {
      expect(mayRespond).toBe(true);
      if (kind === 'approval') sentBefore += await sendsOf(stage, 'reassign');
    },
    onAnswered: () => undefined,
  });
  const { runs, tenant } = stage;
  const attend = createAttendance(
    { runs, waits, caller: bob, run: run.ref.run, everyMs: 20, signal: over.signal },
    player,
  );
  await stage.until(
    async () => {
      await attend();
      return runs.get(tenant, run.ref.run);
    },
    ({ terminal }) => terminal !== undefined,
    40_000,
  );
  over.abort();
  return { unasked: player.unasked(), sentBefore };
};
