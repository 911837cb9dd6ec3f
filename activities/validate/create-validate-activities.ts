/** VALIDATING: a stored candidate becomes one action. Short, without effect on the world, the same when asked again. */
import type { JudgeInput, LocalActivities, Verdict } from '../../workflows/contract/activities';
import { createPolicy } from '../../policy/create-policy';
import { complete, prepare } from './judge';
import { loadJudgeContext, type JudgeDeps } from './load-judge-context';
import { loadLookUps } from './load-look-ups';
import { storeJudgement } from './store-judgement';

export const createValidateActivities = (deps: JudgeDeps): Pick<LocalActivities, 'judgeCandidate'> => {
  // Parsed now, so that the first candidate does not wait for it inside a workflow task.
  for (const { definition } of deps.registry.agents.values()) createPolicy(definition.policy);
  return { judgeCandidate: (input) => judgeCandidate(deps, input) };
};

const judgeCandidate = async (deps: JudgeDeps, input: JudgeInput): Promise<Verdict> => {
  const { context, candidate, run } = await loadJudgeContext(deps, input);
  const prepared = prepare(context, candidate, { run });
  const lookUps = await loadLookUps(deps, prepared, run);
  const judged = complete(prepared, lookUps);
  const verdict = await storeJudgement(deps.store, { context, lookUps, judged });
  const { ref, step, attempt } = input;
  const failed = judged.decisions
    .filter(({ verdict: each }) => each === 'fail')
    .map(({ validator, code }) => `${validator}:${code ?? ''}`);
  deps.log.info({ run: ref.run, step, attempt, verdict: verdict.kind, failed }, 'a candidate was judged');
  return verdict;
};
