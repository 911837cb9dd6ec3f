/** Who answers what the runs of a stage ask: as a service would, with the agents of the example and their policies. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Caller } from '../../../client/start-request';
import { Waits, type Receipt, type WaitDetails, type WaitResponse, type WaitSummary } from '../../../client/waits';
import type { RunRow, WaitRow } from '../../../store/rows';
import { loadRegistry } from '../../../workers/load-registry';
import type { Json } from '../../../workflows/contract/json';
import type { Stage } from './stage';

const ROOT = join(__dirname, '..', '..', '..');

export interface People {
  readonly waits: Waits;
  /** Started every run of the stage. */
  readonly alice: Caller;
  readonly bob: Caller;
  /** As another process of the service would answer, or the same after a restart. */
  readonly again: () => Waits;
  /** As a service that lacks it. */
  readonly without: (what: 'agents' | 'tokenKey') => Waits;
  /** Waits until the run asks; `but` leaves out those that were seen already. */
  readonly asked: (run: RunRow, kind: WaitRow['kind'], but?: readonly string[]) => Promise<WaitDetails>;
  /** With versions and token as they are shown, unless others are given. */
  readonly answer: (wait: WaitSummary, body: Json, changes?: Answering) => Promise<Receipt>;
}

export interface Answering extends Omit<WaitResponse, 'body'> {
  readonly by?: Caller;
}

export const createPeople = async (stage: Stage): Promise<People> => {
  // The example's agents look for the desk in the environment when they are loaded.
  process.env['HOLDFAST_EXAMPLE_DESK_URL'] = stage.deskProcess.url;
  const agents = await loadRegistry(join(ROOT, 'examples/tickets/agents.ts'));
  const tokenKey = randomBytes(32);
  const { store, temporal, tenant } = stage;
  const again = (): Waits => new Waits({ store, temporal, agents, tokenKey });
  const waits = again();
  const alice = { tenant, subject: 'alice', roles: ['agent-operator'] };
  const bob = { tenant, subject: 'bob', roles: ['approver'] };
  const listed = async (run: RunRow): Promise<readonly WaitSummary[]> =>
    (await waits.list(bob, { run: run.ref.run, state: 'OPEN', limit: 50 })).waits;
  return {
    waits,
    alice,
    bob,
    again,
    without: (what) => new Waits({ store, temporal, ...(what === 'agents' ? { tokenKey } : { agents }) }),
    asked: async (run, kind, but = []) => {
      const isMeant = (each: WaitSummary): boolean => each.kind === kind && !but.includes(each.wait);
      const open = await stage.until(
        async () => {
          const { terminal } = await stage.runs.get(tenant, run.ref.run);
          if (terminal !== undefined) throw new Error(`${run.ref.run} ended as ${terminal} instead of asking`);
          return listed(run);
        },
        (found) => found.some(isMeant),
        40_000,
      );
      const wait = open.find(isMeant);
      if (wait === undefined) throw new Error('it was there');
      return waits.get(bob, wait.wait);
    },
    answer: async ({ wait }, body, { by = bob, ...changes } = {}) => {
      const { token, stateVersion, planVersion } = await waits.get(by, wait);
      return waits.respond(by, wait, {
        body,
        stateVersion,
        planVersion,
        ...(token === undefined ? {} : { token }),
        ...changes,
      });
    },
  };
};
