/** What a run may spend: the limits of its pinned definition, narrowed by what its caller asked for. */
import { z } from 'zod';
import type { RunRow } from '../store/rows';
import type { Store } from '../store/store';

const count = z.number().nonnegative();
const BUDGETS = z.object({
  maxSteps: count,
  maxTokens: count,
  maxCostMicros: count,
  maxToolCalls: count,
  deadlineMs: count,
});
export type RunBudgets = z.output<typeof BUDGETS>;

const DEFINITION = z.object({ limits: BUDGETS });

/** Undefined until the run has opened. */
export const runBudgets = async (store: Pick<Store, 'artifacts'>, row: RunRow): Promise<RunBudgets | undefined> => {
  if (row.definition === undefined) return undefined;
  const { limits } = DEFINITION.parse(await store.artifacts.getJson(row.ref.tenant, row.definition));
  const asked = BUDGETS.partial().parse(row.limits ?? {});
  return {
    maxSteps: narrower(limits.maxSteps, asked.maxSteps),
    maxTokens: narrower(limits.maxTokens, asked.maxTokens),
    maxCostMicros: narrower(limits.maxCostMicros, asked.maxCostMicros),
    maxToolCalls: narrower(limits.maxToolCalls, asked.maxToolCalls),
    deadlineMs: narrower(limits.deadlineMs, asked.deadlineMs),
  };
};

const narrower = (limit: number, asked: number | undefined): number => Math.min(limit, asked ?? limit);
