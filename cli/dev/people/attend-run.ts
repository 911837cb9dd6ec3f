/**
 * Who answers what a scenario's run asks of people. A stack that ends with its run is answered by the scenario: nobody is
 * there. At a terminal the person who sits there is asked. Otherwise it is left to whoever uses the page or the command line.
 */
import { addToEnvironment } from '../../../config/environment';
import type { RunRow } from '../../../store/rows';
import { Waits, type WaitDetails } from '../../../client/waits';
import { loadRegistry } from '../../../workers/load-registry';
import { indent, visible } from '../../view/format';
import type { Patience } from '../../view/patience';
import { renderWait } from '../../view/wait-view';
import { commandFor } from '../command-hint';
import { DEVELOPER } from '../page-access';
import type { DevPlan } from '../run-dev';
import type { ScenarioRun } from '../run-scenario';
import { askPerson } from './ask-person';
import { createAttendance, type Attendant } from './attend-waits';
import { playAnswers, type PlayedAnswer, type ScenarioAnswer } from './play-answers';
import { processTerminal } from './process-terminal';

/** As the journal names who answered: nobody is to take it for a person. */
export const SCENARIO_SUBJECT = 'scenario';
const SCENARIO = { tenant: DEVELOPER.tenant, subject: SCENARIO_SUBJECT, roles: ['approver'] };

export const NOBODY_ASKED = 'answered by the scenario, nobody was asked';

export type Answerer = 'scenario' | 'terminal' | 'others';

export const answererOf = ({ isStaying, isAttended, options }: DevPlan): Answerer => {
  if (isAttended) return 'terminal';
  return isStaying && options.once !== true && options.json !== true ? 'others' : 'scenario';
};

export interface Attending {
  /** For every page of the run's journal. */
  readonly afterPage: (row: RunRow) => Promise<void>;
  /** Answers that the scenario was to give and nobody asked for; none where people answer. */
  readonly unasked: () => readonly ScenarioAnswer[];
}

export interface Following {
  readonly signal: AbortSignal;
  readonly patiently: Patience;
}

export const attendRun = (given: ScenarioRun, run: string, { signal, patiently }: Following): Attending => {
  const { scenario } = given.plan;
  const isPlayed = answererOf(given.plan) === 'scenario';
  let unasked = (): readonly ScenarioAnswer[] => (isPlayed ? scenario.answers : []);
  let attend: (() => Promise<void>) | undefined;
  return {
    unasked: () => unasked(),
    afterPage: async ({ state }) => {
      if (state !== 'WAITING_USER') return;
      if (attend === undefined) {
        const { runs } = given.services;
        const { waits, caller, attendant, left } = await createAttendant(given, patiently);
        if (isPlayed) unasked = left;
        attend = createAttendance({ runs, waits, caller, run, everyMs: EVERY_MS, signal, patiently }, attendant);
      }
      await attend();
    },
  };
};

const EVERY_MS = 100;

interface Created {
  readonly waits: Waits;
  readonly caller: typeof DEVELOPER;
  readonly attendant: Attendant;
  readonly left: () => readonly ScenarioAnswer[];
}

const createAttendant = async (given: ScenarioRun, patiently: Patience): Promise<Created> => {
  const { plan } = given;
  const { view, scenario } = plan;
  const waits = await openWaits(given);
  const judge: Pick<Waits, 'get' | 'respond'> = {
    get: (...asked) => patiently(() => waits.get(...asked)),
    respond: (...said) => waits.respond(...said),
  };
  const answerer = answererOf(plan);
  if (answerer === 'scenario') {
    const [onAsked, onAnswered] = [tellAsked(plan), tellAnswered(plan)];
    const player = playAnswers({ waits: judge, caller: SCENARIO, answers: scenario.answers, onAsked, onAnswered });
    return { waits, caller: SCENARIO, attendant: player, left: player.unasked };
  }
  const tellElsewhere = tellWhere(given);
  const attendant =
    answerer === 'others'
      ? leaveToOthers(tellElsewhere)
      : askPerson({
          waits: judge,
          caller: DEVELOPER,
          view,
          everyMs: EVERY_MS * 5,
          terminal: processTerminal(),
          tellElsewhere,
        });
  return { waits, caller: DEVELOPER, attendant, left: () => [] };
};

const leaveToOthers = (tell: (wait: WaitDetails) => void): Attendant => ({
  attend: (wait) => {
    tell(wait);
    return Promise.resolve();
  },
});

/** Only now: most scenarios ask nobody, and agents take a moment to load. */
const openWaits = async ({ services, stack }: ScenarioRun): Promise<Waits> => {
  const { path, environment } = stack.agentsModule;
  addToEnvironment(environment);
  const { store, temporal } = services;
  const tokenKey = Buffer.from(stack.tokenKey, 'base64');
  return new Waits({ store, temporal, agents: await loadRegistry(path), tokenKey });
};

const tellAsked =
  ({ view }: DevPlan) =>
  (wait: WaitDetails): void => {
    for (const line of ['', ...renderWait(wait, view.colors)]) view.print(indent(line, 2));
  };

const tellAnswered =
  ({ view }: DevPlan) =>
  ({ response, refused }: PlayedAnswer): void => {
    const { yellow, red, green } = view.colors;
    const verdict = refused === undefined ? green('accepted') : red(`${visible(refused.message)} (${refused.code})`);
    view.print(`  ${yellow(`${NOBODY_ASKED}:`)} ${visible(JSON.stringify(response))} → ${verdict}`);
  };

const tellWhere =
  ({ plan: { view }, stack, dataDir }: ScenarioRun) =>
  ({ wait, kind }: WaitDetails): void => {
    view.print(`  ${view.colors.yellow('It waits for a person:')} ${kind} ${wait}`);
    view.print(`    ${stack.serviceUrl}/waits/${wait}`);
    view.print(`    ${commandFor(dataDir)} waits get ${wait}`);
  };
