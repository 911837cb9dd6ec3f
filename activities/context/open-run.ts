/** The first activity of a run: binds it to a definition and to limits. Asked again it gives the first answer. */
import type { CompiledAgent } from '../../definition/registry';
import type { DefinitionSnapshot } from '../../definition/snapshot';
import type { RunRow } from '../../store/rows';
import type { AgentRunInput, OpenedRun } from '../../workflows/contract/activities';
import type { Limits } from '../../workflows/machine/limits';
import type { ActivityDeps } from '../deps';
import { RunMissing } from './errors';
import { LimitsInvalid, limitsOf } from './limits';
import { loadDefinition } from './load-run-view';

type Deps = Pick<ActivityDeps, 'store' | 'registry' | 'log'>;

/**
 * Throws RunMissing where there is no row: without one nobody has said what is to be done, or for whom. An agent that this
 * worker does not have, and limits that nobody understands, are an obstacle: the run ends as FAILED and says so.
 */
export const createOpenRun =
  (deps: Deps) =>
  async ({ ref }: AgentRunInput): Promise<OpenedRun> => {
    const row = await deps.store.runs.get(ref);
    if (row === undefined) throw new RunMissing(ref);
    if (row.definition !== undefined) {
      return {
        limits: limitsOf(row, await loadDefinition(deps, ref, row.definition)),
        ...(await carriedOf(deps, row)),
      };
    }
    const agent = deps.registry.find(row.agent);
    if (agent === undefined) {
      const known = [...deps.registry.agents.keys()];
      deps.log.error({ run: ref.run, agent: row.agent, known }, 'this worker has no such agent');
      return refuse('agent.unknown');
    }
    return bind(deps, row, agent);
  };

const bind = async (deps: Deps, row: RunRow, agent: CompiledAgent): Promise<OpenedRun> => {
  const { ref } = row;
  const limits = narrowOrRefuse(deps, row, agent.snapshot);
  if ('obstacle' in limits) return limits;
  const definition = await deps.store.artifacts.putJson(ref.tenant, agent.snapshot);
  const opened = await deps.store.runs.open(ref, { definition, deadlineMs: limits.limits.deadlineMs });
  // Another worker, of another release, may have been first.
  const carried = await carriedOf(deps, row);
  if (opened.definition === undefined || opened.definition === definition) return { ...limits, ...carried };
  return { limits: limitsOf(opened, await loadDefinition(deps, ref, opened.definition)), ...carried };
};

/** Where the run that it reopens has stopped. That one has ended, so the answer is always the same. */
const carriedOf = async ({ store }: Deps, row: RunRow): Promise<Pick<OpenedRun, 'firstStep' | 'totals'>> => {
  if (row.reopens === undefined) return {};
  const before = await store.runs.get({ tenant: row.ref.tenant, run: row.reopens });
  if (before === undefined) return {};
  return { firstStep: before.step + 1, totals: await store.ledger.totals(row.ref) };
};

const narrowOrRefuse = (deps: Deps, row: RunRow, snapshot: DefinitionSnapshot): OpenedRun => {
  const { ref } = row;
  try {
    return { limits: limitsOf(row, snapshot) };
  } catch (error) {
    if (!(error instanceof LimitsInvalid)) throw error;
    deps.log.error({ run: ref.run, field: error.field }, error.message);
    return refuse(error.code);
  }
};

const refuse = (obstacle: string): OpenedRun => ({ limits: OF_A_REFUSED_RUN, obstacle });

const MINUTE_MS = 60_000;

/** It takes no step; the deadline only bounds the time in which its end has to be written. */
const OF_A_REFUSED_RUN: Limits = {
  maxSteps: 0,
  maxTokens: 0,
  maxCostMicros: 0,
  maxToolCalls: 0,
  deadlineMs: 60 * MINUTE_MS,
  maxRepairs: 0,
  maxProviderFailures: 0,
  maxLostAttempts: 0,
  maxTruncations: 0,
  maxPauses: 0,
  maxAnalyses: 0,
  backOffBaseMs: 0,
  backOffMaxMs: 0,
  maxRetryAfterMs: 0,
  cancelGraceMs: 0,
  attemptTimeoutMs: MINUTE_MS,
  onRefusal: 'fail',
  onExpiry: { question: 'end', approval: 'end', acceptance: 'end', reconciliation: 'end', handoff: 'end' },
  loops: { repeatedCall: 1, repeatedError: 1, noProgress: 1, alternatingPlan: 1, onLoop: 'fail' },
};
