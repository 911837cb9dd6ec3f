/** The end of a run: the result is made from what is stored and committed with the terminal, once, by whoever comes first. */
import { RowMissing } from '../../store/errors';
import { buildResult } from '../../store/build-result';
import type { CommitInput, CommitOutcome, PlanOvertook } from '../../workflows/contract/activities';
import { isRevocable } from '../../workflows/machine/run';
import { ANSWER } from '../context/artifact-shapes';
import { readArtifact } from '../context/read-artifact';
import type { ActivityDeps } from '../deps';
import { readPlan, type PlanQuestion } from '../waits/read-plan';

/**
 * Repeated without a limit until the store answers; the terminal that is returned is the one that the row holds. A message
 * that was accepted in the last moment goes before an end that the model came to.
 */
export const commit = async (
  { store, log }: ActivityDeps,
  { ending, planVersion, step, ...carried }: CommitInput,
): Promise<CommitOutcome | PlanOvertook> => {
  const { ref } = carried;
  // The events first: they bring what the totals still lack.
  const totals = await store.journal.carry(carried);
  const [operations, answer] = await Promise.all([
    store.operations.list(ref),
    ending.answer === undefined ? undefined : readArtifact(store, { tenant: ref.tenant, hash: ending.answer }, ANSWER),
  ]);
  const parts = { run: ref.run, ending, operations, totals, ...(answer === undefined ? {} : { answer }) };
  const outcome = await store.runs.commit(carried, {
    terminal: ending.as,
    reason: ending.reason,
    ...(isRevocable(ending) ? { planVersion } : {}),
    buildResult: (terminal) => buildResult(parts, terminal),
  });
  if (outcome === undefined) return overtaken(store, { ref, planVersion, step });
  log.info({ run: ref.run, intended: ending.as, ...outcome }, 'a run has ended');
  return outcome;
};

const overtaken = async (store: ActivityDeps['store'], question: PlanQuestion): Promise<PlanOvertook> => {
  const overtakenBy = await readPlan(store, question);
  // The transaction has just seen it; a plan only moves on.
  if (overtakenBy === undefined) throw new RowMissing(`the newest plan of ${question.ref.run}`);
  await store.runs.planSeen(question.ref, overtakenBy.planVersion);
  return { overtakenBy };
};
