/** Cedar's word on the call, by the policy of this worker's definition: denied, unattended, or with a person's approval. */
import type { JsonObject } from '../../workflows/contract/json';
import { createPolicy, type PolicyDecision } from '../../policy/create-policy';
import { executeRequest } from '../../policy/execute-request';
import { pass, type Judgement, type PinnedContext, type Validator } from './judgement';
import type { ReadyCall } from './ready-call';
import { showText } from './show-value';

export interface PermissionInput {
  readonly context: PinnedContext;
  readonly call: ReadyCall;
}

const judge = ({ context, call }: PermissionInput): Judgement<undefined> => {
  const { face } = call;
  // What the run has stored itself is the run's to read.
  if (face.tool === undefined) return pass(undefined, { reason: 'runtime' });
  const policy = createPolicy(context.agent.definition.policy);
  const subject = {
    ref: context.ref,
    agent: context.agentName,
    principal: context.principal,
    call: { ...call, tool: face },
  };
  const { version } = policy;
  const execute = policy.evaluate(executeRequest('execute', subject));
  if (execute.decision === 'deny') return { ...deny(call, execute), version };
  const unattended = policy.evaluate(executeRequest('executeUnattended', subject));
  if (unattended.decision === 'allow') return { ...pass(undefined, evidenceOf(unattended)), version };
  return {
    kind: 'pass',
    value: undefined,
    asks: 'the policy permits it with the approval of a person only',
    evidence: evidenceOf(execute),
    version,
  };
};

const evidenceOf = ({ policyIds, errors }: PolicyDecision): JsonObject => ({
  policies: [...policyIds],
  ...(errors.length === 0 ? {} : { errors: errors.map(showText) }),
});

const deny = ({ face, argumentHash }: ReadyCall, decision: PolicyDecision): Judgement<never> => ({
  kind: 'refused',
  code: 'PERMISSION_DENIED',
  reason: decision.errors.length > 0 ? 'policy.error' : 'policy.denied',
  message: `${face.name} with these arguments is not permitted for the person who asked`,
  rests: [],
  facts: [
    {
      object: `policy:${face.name}`,
      field: 'denied',
      value: { arguments: argumentHash, policies: [...decision.policyIds] },
    },
  ],
  evidence: evidenceOf(decision),
});

export const PERMISSION: Validator<PermissionInput, undefined> = { name: 'policy', version: '1', judge };
