/** Guards of the run table: pure over the run as it is before the transition, and the event. */
import type { EventKind, EventOf, RunEvent } from './events';
import { tokensOf, type Budget, type Totals } from './ledger';
import { correctionOf, diagnose, traceStep } from './loops';
import { isRevocable, type Diagnosis, type Run } from './run';
import type { Terminal } from './states';

export type Guard<K extends EventKind = EventKind> = (run: Run, event: EventOf<K>) => boolean;

/** The first budget that leaves no room for another attempt. */
export const findSpentBudget = (run: Run, totals: Totals = run.totals): Budget | undefined => {
  if (run.step > run.limits.maxSteps) return 'steps';
  if (tokensOf(totals) >= run.limits.maxTokens) return 'tokens';
  if (totals.costMicros >= run.limits.maxCostMicros) return 'cost';
  return undefined;
};

/** The diagnosis that a context just frozen leads to, if any. */
export const findDiagnosis = (run: Run, event: EventOf<'contextFrozen'>): Diagnosis | undefined =>
  diagnose(traceStep(run, event.progress), run.limits.loops);

export const isDefinitionMissing: Guard<'contextFrozen'> = (_run, event) => event.definition === 'missing';
export const isDeadlinePassed = (run: Run, event: RunEvent): boolean => event.at >= run.deadlineAt;
export const isBudgetSpent: Guard<'contextFrozen'> = (run, event) => findSpentBudget(run, event.totals) !== undefined;

/** Told already, and no progress since: the model had its correction step. */
const isLooping: Guard<'contextFrozen'> = (run, event) =>
  findDiagnosis(run, event) !== undefined && traceStep(run, event.progress).corrected !== undefined;
const isCorrectionFrozen: Guard<'contextFrozen'> = (run) => correctionOf(run) !== undefined;

export const isLoopHandedOff: Guard<'contextFrozen'> = (run, event) =>
  !isCorrectionFrozen(run, event) && isLooping(run, event) && run.limits.loops.onLoop === 'handoff';
export const isLoopFailed: Guard<'contextFrozen'> = (run, event) =>
  !isCorrectionFrozen(run, event) && isLooping(run, event);
export const isLoopNew: Guard<'contextFrozen'> = (run, event) =>
  !isCorrectionFrozen(run, event) && findDiagnosis(run, event) !== undefined;

export const areLostAttemptsSpent: Guard<'attemptLost'> = (run) =>
  (run.attempt?.lost ?? 0) + 1 > run.limits.maxLostAttempts;
export const areProviderFailuresSpent: Guard<'attemptFailed'> = (run) =>
  (run.attempt?.providerFailures ?? 0) + 1 > run.limits.maxProviderFailures;
export const isRetryTooLate: Guard<'attemptFailed'> = (run, event) =>
  (event.retryAfterMs ?? 0) > run.limits.maxRetryAfterMs || event.at + backOffMs(run, event) >= run.deadlineAt;
export const areTruncationsSpent: Guard<'attemptTruncated'> = (run) =>
  (run.attempt?.truncations ?? 0) + 1 > run.limits.maxTruncations;
export const arePausesSpent: Guard<'attemptPaused'> = (run) => run.counters.pauses + 1 > run.limits.maxPauses;
export const isShrunkAlready: Guard<'contextTooLong'> = (run) => run.counters.shrinks > 0;
export const isRefusalHandedOff: Guard<'modelRefused'> = (run) => run.limits.onRefusal === 'handoff';
/** The ledger leaves no room for the next attempt of the same step. */
export const isAttemptUnaffordable = (run: Run, event: { readonly totals?: Totals }): boolean =>
  findSpentBudget(run, event.totals) !== undefined;

export const areToolCallsSpent: Guard<'callsJudged'> = (run, event) =>
  run.totals.toolCalls + event.calls.filter((call) => call.phase !== 'ENDED').length > run.limits.maxToolCalls;
export const areAnalysesSpent: Guard<'analyseAccepted'> = (run) => run.counters.analyses + 1 > run.limits.maxAnalyses;
export const areRepairsSpent = (run: Run): boolean => run.counters.repairs + 1 > run.limits.maxRepairs;

export const isExpiryTheEnd: Guard<'waitExpired'> = (run, event) => {
  const wait = run.waits.find((each) => each.id === event.wait);
  return wait !== undefined && run.limits.onExpiry[wait.kind] === 'end';
};

/** An intended success is no end yet. */
export const isEnding = (run: Run): boolean => run.ending !== undefined && run.ending.as !== 'SUCCEEDED';
/** An end that the model came to: what a person has changed since goes before it, until it is committed. */
export const isEndRevocable = (run: Run): boolean => isRevocable(run.ending) && !isCommitting(run);
export const isCommitting = (run: Run): boolean => run.isCommitting === true;

const findObstacle = (run: Run, event: EventOf<'endChecked'>): EventOf<'endChecked'>['obstacle'] =>
  run.ending?.as === 'SUCCEEDED' ? event.obstacle : undefined;
export const isOperationOpen: Guard<'endChecked'> = (run, event) => findObstacle(run, event) === 'operationOpen';
export const isReconciliationRequired: Guard<'endChecked'> = (run, event) =>
  findObstacle(run, event) === 'reconciliationRequired';
export const isAcceptanceRequired: Guard<'endChecked'> = (run, event) =>
  findObstacle(run, event) === 'acceptanceRequired';
export const isConditionUnmet: Guard<'endChecked'> = (run, event) => findObstacle(run, event) === 'conditionUnmet';
export const isConditionUnmetForGood: Guard<'endChecked'> = (run, event) =>
  isConditionUnmet(run, event) && areRepairsSpent(run);

/** The name is what the generated table shows. */
export const committedAs = (terminal: Terminal): Guard<'committed'> => {
  const guard: Guard<'committed'> = (_run, event) => event.terminal === terminal;
  return Object.defineProperty(guard, 'name', { value: `committedAs ${terminal}` });
};

/** Exponential with jitter between half and full, never below what the provider asked for. */
export const backOffMs = (run: Run, event: EventOf<'attemptFailed'>): number => {
  const failures = run.attempt?.providerFailures ?? 0;
  const full = Math.min(run.limits.backOffBaseMs * 2 ** failures, run.limits.backOffMaxMs);
  return Math.max(event.retryAfterMs ?? 0, 0) + Math.round(full * (0.5 + event.jitter / 2));
};
