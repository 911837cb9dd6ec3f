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

const EXTENSION = z.object({
  maxSteps: z.exactOptional(count),
  maxTokens: z.exactOptional(count),
  maxCostMicros: z.exactOptional(count),
  maxToolCalls: z.exactOptional(count),
  deadlineMs: z.exactOptional(count),
});

const DEFINITION = z.object({ limits: BUDGETS });

/** Undefined until the run has opened. */
export const runBudgets = async (store: Pick<Store, 'artifacts'>, row: RunRow): Promise<RunBudgets | undefined> => {
  if (row.definition === undefined) return undefined;
  const { limits } = DEFINITION.parse(await store.artifacts.getJson(row.ref.tenant, row.definition));
  const asked = BUDGETS.partial().parse(row.limits ?? {});
  const own = { ...limits, ...EXTENSION.parse(row.extension ?? {}) };
  return {
    maxSteps: narrower(own.maxSteps, asked.maxSteps),
    maxTokens: narrower(own.maxTokens, asked.maxTokens),
    maxCostMicros: narrower(own.maxCostMicros, asked.maxCostMicros),
    maxToolCalls: narrower(own.maxToolCalls, asked.maxToolCalls),
    deadlineMs: narrower(own.deadlineMs, asked.deadlineMs),
  };
};

const narrower = (limit: number, asked: number | undefined): number => Math.min(limit, asked ?? limit);
