/** The end of a run: the result is made from what is stored and committed with the terminal, once, by whoever comes first. */
import { buildResult } from '../../store/build-result';
import type { CommitOutcome, RegularActivities } from '../../workflows/contract/activities';
import { ANSWER } from '../context/artifact-shapes';
import { readArtifact } from '../context/read-artifact';
import type { ActivityDeps } from '../deps';

type CommitInput = Parameters<RegularActivities['commit']>[0];

/** Repeated without a limit until the store answers; the terminal that is returned is the one that the row holds. */
export const commit = async (
  { store, log }: ActivityDeps,
  { ending, ...carried }: CommitInput,
): Promise<CommitOutcome> => {
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
    buildResult: (terminal) => buildResult(parts, terminal),
  });
  log.info({ run: ref.run, intended: ending.as, ...outcome }, 'a run has ended');
  return outcome;
};
