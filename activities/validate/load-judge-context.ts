/** What a judgement starts from: the candidate, its context, and the run as the store has it. */
import type { RunRow } from '../../store/rows';
import type { JudgeInput } from '../../workflows/contract/activities';
import { MANIFEST } from '../context/artifact-shapes';
import { loadRunView } from '../context/load-run-view';
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

/** Facts up to the step before: what this step has found out is not known while it is judged, however often that is done. */
export const loadJudgeContext = async (deps: JudgeDeps, input: JudgeInput): Promise<Loaded> => {
  const { store } = deps;
  const { ref, step, attempt, planVersion } = input;
  const at = (hash: JudgeInput['context']) => ({ tenant: ref.tenant, hash });
  const [view, manifest, candidate, messages] = await Promise.all([
    loadRunView(deps, ref, { step: step - 1, alsoOf: [] }),
    readArtifact(store, at(input.context), MANIFEST),
    readArtifact(store, at(input.candidate), CANDIDATE),
    planVersion > 1 ? store.runs.messages(ref, { after: 0, upTo: planVersion }) : [],
  ]);
  const { row, snapshot, agent, completion, operations } = view;
  const earlier = new Set(operations.filter((operation) => operation.step < step).map(({ id }) => id));
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
      agent,
      snapshot,
      manifest,
      completion: { ...completion, operations: completion.operations.filter(({ id }) => earlier.has(id)) },
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
