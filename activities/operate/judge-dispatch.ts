/**
 * Whether an operation may be sent now: asked again for every operation, approved or not, by the policy in force and the
 * facts as they are now. What was right when it was proposed may be wrong when somebody has approved it.
 */
import type { DecisionRow } from '../../store/rows';
import type { JsonObject } from '../../workflows/contract/json';
import type { ActivityDeps } from '../deps';
import { createPolicy, type PolicyDecision } from '../../policy/create-policy';
import { executeRequest } from '../../policy/execute-request';
import type { LoadedOperation } from './load-operation';
import { sha256Of } from './storable-json';

export type DispatchVerdict =
  | { readonly kind: 'permitted'; readonly decision: string }
  /** Only with the approval of a person, which nobody gave. */
  | { readonly kind: 'needsApproval' }
  | { readonly kind: 'denied'; readonly policies: readonly string[] }
  /** The object has changed since the operation was proposed. */
  | { readonly kind: 'stale'; readonly current: string };

export const judgeDispatch = async (
  deps: ActivityDeps,
  operation: LoadedOperation,
  isApproved: boolean,
): Promise<DispatchVerdict> => {
  const asked = askPolicy(deps, operation, isApproved);
  const [attempt, current] = await Promise.all([findAttempt(deps, operation), findNewerVersion(deps, operation)]);
  const decisions = [
    toDecision(operation, attempt, asked),
    ...(current === undefined ? [] : [toStaleDecision(operation, attempt, current)]),
  ];
  const [policyDecision] = await deps.store.decisions.record(operation.ref, decisions);
  if (asked.verdict === 'fail') return { kind: 'denied', policies: asked.policies };
  if (current !== undefined) return { kind: 'stale', current };
  if (asked.verdict === 'ask' || policyDecision === undefined) return { kind: 'needsApproval' };
  return { kind: 'permitted', decision: policyDecision.id };
};

interface Asked {
  readonly verdict: DecisionRow['verdict'];
  readonly version: string;
  readonly policies: readonly string[];
  readonly evidence: JsonObject;
  readonly isApproved: boolean;
}

const askPolicy = (
  { registry }: ActivityDeps,
  { ref, run, row, snapshot, input }: LoadedOperation,
  isApproved: boolean,
): Asked => {
  const agent = registry.find(run.agent);
  const pinned = snapshot.tools.find(({ name }) => name === row.tool);
  if (agent === undefined || pinned === undefined) {
    return { verdict: 'fail', version: 'none', policies: [], evidence: { reason: 'definition.missing' }, isApproved };
  }
  const policy = createPolicy(agent.definition.policy);
  const tool = { name: row.tool, effect: row.effect, risk: pinned.risk, argumentSchema: pinned.inputSchema };
  const subject = {
    ref,
    agent: run.agent,
    principal: run.principal,
    call: { tool, args: input, ...(row.target === undefined ? {} : { target: row.target }) },
  };
  const execute = policy.evaluate(executeRequest('execute', subject));
  const base = { version: policy.version, isApproved };
  if (execute.decision === 'deny') return { ...base, verdict: 'fail', ...evidenceOf(execute) };
  if (isApproved) return { ...base, verdict: 'pass', ...evidenceOf(execute) };
  const unattended = policy.evaluate(executeRequest('executeUnattended', subject));
  return { ...base, verdict: unattended.decision === 'allow' ? 'pass' : 'ask', ...evidenceOf(unattended) };
};

const evidenceOf = ({ policyIds, errors }: PolicyDecision): Pick<Asked, 'policies' | 'evidence'> => ({
  policies: policyIds,
  evidence: { policies: [...policyIds], ...(errors.length === 0 ? {} : { errors: [...errors] }) },
});

/** The attempt whose candidate was accepted: that of the newest judgement of this call. */
const findAttempt = async ({ store }: ActivityDeps, { ref, row }: LoadedOperation): Promise<number> => {
  const decisions = await store.decisions.list(ref, row.step);
  return Math.max(0, ...decisions.filter(({ ordinal }) => ordinal === row.ordinal).map(({ attempt }) => attempt));
};

/**
 * Undefined where the newest fact about the object has the version that the operation rests on, or none is known. What an
 * earlier write of the same candidate made of it was proposed together with this one: the far side judges that.
 */
const findNewerVersion = async (
  { store }: ActivityDeps,
  { ref, row }: LoadedOperation,
): Promise<string | undefined> => {
  const { target, expectedVersion, state, step } = row;
  // Once sent, a newer version may be its own work.
  if (target === undefined || expectedVersion === undefined || state !== 'CREATED') return undefined;
  const facts = await store.facts.list(ref, { step, alsoOf: [] });
  const newest = facts.findLast(({ object, version }) => object === target && version !== undefined);
  if (newest === undefined || newest.version === expectedVersion) return undefined;
  const source = newest.operation === undefined ? undefined : await store.operations.get(ref, newest.operation);
  return source?.effect === 'write' && source.step === step ? undefined : newest.version;
};

const toDecision = (operation: LoadedOperation, attempt: number, asked: Asked): DecisionRow => ({
  ...placeOf(operation, attempt),
  validator: 'policy',
  validatorVersion: asked.version,
  inputHash: sha256Of({
    operation: operation.row.id,
    arguments: operation.row.argumentHash,
    policy: asked.version,
    isApproved: asked.isApproved,
  }),
  verdict: asked.verdict,
  ...(asked.verdict === 'fail' ? { code: 'PERMISSION_DENIED' } : {}),
  evidence: { ...asked.evidence, isApproved: asked.isApproved },
});

const toStaleDecision = (operation: LoadedOperation, attempt: number, current: string): DecisionRow => {
  const { target = '', expectedVersion = '' } = operation.row;
  return {
    ...placeOf(operation, attempt),
    validator: 'freshness',
    validatorVersion: '1',
    inputHash: sha256Of({ operation: operation.row.id, expectedVersion, current }),
    verdict: 'fail',
    code: 'STATE_CONFLICT',
    evidence: { target, expected: expectedVersion, current },
  };
};

const placeOf = (
  { row }: LoadedOperation,
  attempt: number,
): Pick<DecisionRow, 'step' | 'attempt' | 'ordinal' | 'phase' | 'try'> => ({
  step: row.step,
  attempt,
  ordinal: row.ordinal,
  phase: 'dispatch',
  // The send that it would permit: judged again for each.
  try: row.generation + 1,
});
