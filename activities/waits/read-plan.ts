/** The plan that accepted messages have led to, where it is newer than what the run knows. */
import type { AdoptedPlan } from '../../workflows/contract/activities';
import type { RunRef } from '../../workflows/contract/records';
import type { ActivityDeps } from '../deps';
import { ordinalsOf } from './stop-operations';

export interface PlanQuestion {
  readonly ref: RunRef;
  /** That the run has. */
  readonly planVersion: number;
  /** Of the open candidate, whose calls may have been called off. */
  readonly step: number;
}

export const readPlan = async (
  store: ActivityDeps['store'],
  { ref, planVersion, step }: PlanQuestion,
): Promise<AdoptedPlan | undefined> => {
  const plan = await store.runs.readPlan(ref, { planVersion, step });
  if (plan.change === 'none' || plan.planVersion <= planVersion) return undefined;
  return { planVersion: plan.planVersion, change: plan.change, cancelled: ordinalsOf(step, plan.cancelled) };
};
