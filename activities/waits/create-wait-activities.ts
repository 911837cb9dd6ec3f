/** WAITING_USER, and what a message or an end does to what is still open. */
import { RowMissing } from '../../store/errors';
import type { AdoptedPlan, LocalActivities, RegularActivities, Standing } from '../../workflows/contract/activities';
import type { ActivityDeps } from '../deps';
import { judgeSignalled } from './judge-signalled';
import { openWait } from './open-wait';
import { readEnd } from './read-end';
import { readPlan, type PlanQuestion } from './read-plan';
import { stopOperations } from './stop-operations';

export type WaitActivities = Pick<
  RegularActivities,
  'openWait' | 'readWait' | 'judgeSignalled' | 'adoptPlan' | 'stopOperations'
> &
  Pick<LocalActivities, 'readStanding'>;

export const createWaitActivities = (deps: ActivityDeps): WaitActivities => ({
  openWait: (input) => openWait(deps, input),
  readWait: async ({ wait, ...carried }) => {
    await deps.store.journal.carry(carried);
    const reading = await deps.store.waits.read(carried.ref, wait);
    if (reading === undefined) throw new RowMissing(wait);
    return readEnd(deps, reading);
  },
  judgeSignalled: (input) => judgeSignalled(deps, input),
  adoptPlan: (input) => adoptPlan(deps, input),
  readStanding: (input) => readStanding(deps, input),
  stopOperations: (input) => stopOperations(deps, input),
});

type AdoptInput = Parameters<RegularActivities['adoptPlan']>[0];

/** Undefined where the run has the newest plan already. */
const adoptPlan = async ({ store }: ActivityDeps, input: AdoptInput): Promise<AdoptedPlan | undefined> => {
  const { planVersion, step, ...carried } = input;
  await store.journal.carry(carried);
  const plan = await readPlan(store, { ref: carried.ref, planVersion, step });
  await store.runs.planSeen(carried.ref, plan?.planVersion ?? planVersion);
  return plan;
};

const readStanding = async ({ store }: ActivityDeps, input: PlanQuestion): Promise<Standing> => {
  const [row, plan] = await Promise.all([store.runs.get(input.ref), readPlan(store, input)]);
  if (row === undefined) throw new RowMissing(input.ref.run);
  return {
    isCancelRequested: row.cancelRequestedAt !== undefined,
    ...(plan === undefined ? {} : { plan }),
  };
};
