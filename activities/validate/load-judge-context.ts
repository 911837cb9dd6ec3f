/**
 * What a judgement starts from: the candidate, its context, and the run as the store has it. Of constant size however many
 * operations the run has had; they are looked up where an answer is judged.
 */
import type { RunRow } from '../../store/rows';
import type { JudgeInput } from '../../workflows/contract/activities';
import { MANIFEST } from '../context/artifact-shapes';
import { RunMissing, RunNotOpen } from '../context/errors';
import { createFactsView } from '../context/facts-view';
import { loadDefinition } from '../context/load-run-view';
import { readArtifact } from '../context/read-artifact';
import type { ActivityDeps } from '../deps';
import { CANDIDATE, type CandidateArtifact } from '../model/candidate';
import type { JudgeContext } from './judgement';
import type { RunStatus } from './look-ups';

export interface Loaded {
  readonly context: JudgeContext;
  readonly candidate: CandidateArtifact;
  readonly run: RunStatus;
}

export type JudgeDeps = Pick<ActivityDeps, 'store' | 'registry' | 'log'>;

/**
 * Facts up to the step before: what this step has found out is not known while it is judged, however often that is done.
 * Throws RunMissing, RunNotOpen, and what the store and `readArtifact` throw.
 */
export const loadJudgeContext = async (deps: JudgeDeps, input: JudgeInput): Promise<Loaded> => {
  const { store, registry } = deps;
  const { ref, step, attempt, planVersion } = input;
  const at = (hash: JudgeInput['context']) => ({ tenant: ref.tenant, hash });
  const [row, facts, manifest, candidate, messages] = await Promise.all([
    store.runs.get(ref),
    store.facts.list(ref, { step: step - 1, alsoOf: [] }),
    readArtifact(store, at(input.context), MANIFEST),
    readArtifact(store, at(input.candidate), CANDIDATE),
    planVersion > 1 ? store.runs.messages(ref, { after: 0, upTo: planVersion }) : [],
  ]);
  if (row === undefined) throw new RunMissing(ref);
  if (row.definition === undefined) throw new RunNotOpen(ref);
  return {
    context: {
      ref,
      step,
      attempt,
      planVersion,
      context: input.context,
      candidate: input.candidate,
      agentName: row.agent,
      principal: row.principal,
      agent: registry.find(row.agent),
      snapshot: await loadDefinition(deps, ref, row.definition),
      manifest,
      task: row.task,
      facts: createFactsView(facts),
      messages: messages.filter(({ kind }) => kind === 'amend').map(({ body }) => body),
    },
    candidate,
    run: statusOf(row),
  };
};

/** The run's own timer ends it at its deadline; this only keeps a late candidate from opening anything new. */
const statusOf = (row: RunRow): RunStatus => ({
  planVersion: row.planVersion,
  isCancelRequested: row.cancelRequestedAt !== undefined,
  isPastDeadline: row.deadlineAt !== undefined && row.deadlineAt <= Date.now(),
  ...(row.terminal === undefined ? {} : { terminal: row.terminal }),
});
