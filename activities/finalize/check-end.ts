/**
 * The invariants of an intended end. "Done" by the model's word is no evidence: a success needs every condition met from
 * facts, no operation without a proved end, and a person's acceptance where the agent asks for one.
 */
import type { CompletionView } from '../../definition/agent';
import type { CompiledAgent } from '../../definition/registry';
import type { OperationRow } from '../../store/rows';
import type { EndCheck, LocalActivities } from '../../workflows/contract/activities';
import type { Finding, Gap, RunRef } from '../../workflows/contract/records';
import { isUnproved } from '../../workflows/machine/operation-transitions';
import { ANSWER } from '../context/artifact-shapes';
import { hasPinnedDefinition } from '../context/check-definition';
import { RunMissing } from '../context/errors';
import { findGaps } from '../context/find-gaps';
import { loadRunView } from '../context/load-run-view';
import { readArtifact } from '../context/read-artifact';
import type { ActivityDeps } from '../deps';
import type { RunView } from '../run-view';
import { loadOperation } from '../operate/load-operation';
import { storeReconciliationPlan } from '../operate/reconciliation-plan';
import { checkAcceptance } from './check-acceptance';
import { confirmObject } from './confirm-object';
import { DefinitionMissing } from './errors';

type CheckEndInput = Parameters<LocalActivities['checkEnd']>[0];

export const checkEnd = async (deps: ActivityDeps, input: CheckEndInput): Promise<EndCheck> => {
  const { ref, ending } = input;
  if (ending.as === 'SUCCEEDED') return checkSuccess(deps, input);
  return { unproved: countUnproved(await deps.store.operations.list(ref)) };
};

const countUnproved = (operations: readonly OperationRow[]): number =>
  operations.filter(({ state }) => isUnproved(state)).length;

/** Everything that a check of a success looks at. */
export interface EndView extends RunView {
  readonly ref: RunRef;
  readonly agent: CompiledAgent;
  /** With the answer that is to be given. */
  readonly completion: CompletionView;
}

const checkSuccess = async (deps: ActivityDeps, { ref, ending, planVersion }: CheckEndInput): Promise<EndCheck> => {
  const row = await deps.store.runs.get(ref);
  if (row === undefined) throw new RunMissing(ref);
  const { operations, ...view } = await loadRunView(deps, ref, { step: row.step, alsoOf: [] });
  const { agent } = view;
  if (agent === undefined || !hasPinnedDefinition(view.snapshot, agent)) throw new DefinitionMissing(ref);
  const unproved = countUnproved(operations);
  if (operations.some(({ state }) => isUnproved(state) && state !== 'UNRESOLVED'))
    return { obstacle: 'operationOpen', unproved };
  const isPlanNew = row.planVersion > planVersion;
  const unresolved = operations.find(({ state }) => state === 'UNRESOLVED');
  if (unresolved !== undefined && !isPlanNew) return { ...(await askAgain(deps, unresolved)), unproved };

  const answer =
    ending.answer === undefined
      ? undefined
      : await readArtifact(deps.store, { tenant: ref.tenant, hash: ending.answer }, ANSWER);
  const completion = answer === undefined ? view.completion : { ...view.completion, answer };
  const end: EndView = { ...view, ref, agent, operations, completion };
  const finding = isPlanNew ? PLAN_CHANGED : (findUnmet(end) ?? (await confirmObject(deps, end)));
  if (finding !== undefined) {
    return { obstacle: 'conditionUnmet', unproved, artifact: await deps.store.artifacts.putJson(ref.tenant, finding) };
  }
  const plan = await checkAcceptance(deps, end);
  return plan === undefined ? { unproved } : { obstacle: 'acceptanceRequired', unproved, artifact: plan };
};

/** Nobody is asked about it any more: the plan changed, or nobody answered in time. Without its outcome there is no success. */
const askAgain = async (deps: ActivityDeps, row: OperationRow): Promise<Omit<EndCheck, 'unproved'>> => {
  const { ref, step, ordinal } = row;
  const operation = await loadOperation(deps, { ref, step, ordinal });
  return {
    obstacle: 'reconciliationRequired',
    about: { step, ordinal },
    artifact: await storeReconciliationPlan(deps, operation, { row, why: 'unknown.unresolved' }),
  };
};

const PLAN_CHANGED: Finding = {
  schemaVersion: 1,
  code: 'finish.plan_changed',
  message: 'the task was changed while this was being finished',
};

/** What the conditions lack, by what is recorded. */
const findUnmet = ({ agent, completion }: EndView): Finding | undefined => {
  const gaps = findGaps(agent, completion);
  if (gaps.length === 0) return undefined;
  return {
    schemaVersion: 1,
    code: 'finish.condition_unmet',
    message: `not done yet: ${gaps.map(toWords).join('; ')}`,
    gaps,
  };
};

const toWords = ({ name, lacks }: Gap): string => `${name} lacks ${lacks}`;
