/**
 * How the development stack (`holdfast dev`) runs this example: the desk is a process of its own, with its own data. Paths
 * are relative to this folder and without extension.
 */
import { SCENARIOS, type ExpectedEffect, type Scenario } from './scenarios';

const DESK = 'desk';

/** What goes wrong in a scenario is told to the desk before its run starts; the desk is at its seed then. */
const prepare = ({ deskSettings, deskFaults }: Scenario) => [
  ...(Object.keys(deskSettings).length === 0
    ? []
    : [{ process: DESK, path: '/_control/settings', body: deskSettings }]),
  ...deskFaults.map((fault) => ({ process: DESK, path: '/_control/faults', body: fault })),
];

/** As the desk lists an effect. */
const effectOf = ({ team, ...effect }: ExpectedEffect) => (team === undefined ? effect : { ...effect, args: { team } });

export const devExample = {
  schemaVersion: 1,
  name: 'tickets',
  /** Exports `agents`. */
  agents: 'agents',
  /** Exports `createScript`, the model while nobody pays for a real one. */
  script: 'model-script',
  processes: [
    {
      name: DESK,
      script: 'desk/main',
      args: [
        '--exit-with-parent',
        ...['--port', '{port}'],
        ...['--data', '{data}'],
        ...['--callback-secret-file', '{callbackSecretFile}'],
      ],
      urlVariable: 'HOLDFAST_EXAMPLE_DESK_URL',
      resetPath: '/_control/reset',
      effectsPath: '/_control/effects',
    },
  ],
  scenarios: SCENARIOS.map((scenario) => {
    const { name, id, title, agent, goal, data, limits, modelFaults, answers, expected } = scenario;
    return {
      name,
      id,
      title,
      agent,
      goal,
      data,
      ...(limits === undefined ? {} : { limits }),
      prepare: prepare(scenario),
      modelFaults,
      answers,
      expected: { ...expected, effects: expected.effects.map(effectOf) },
    };
  }),
};
