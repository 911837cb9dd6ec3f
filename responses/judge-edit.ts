/**
 * Approval with other arguments: the approver proposes them, so they are checked as a proposal is, by the tool's schema and
 * by the policy; for the approver, and for the principal in whose name they will be sent.
 */
import type { CompiledAgent } from '../definition/registry';
import { isJsonObject } from '../definition/storable-json';
import { createPolicy } from '../policy/create-policy';
import { executeRequest } from '../policy/execute-request';
import type { Principal, ResponseCase } from '../store/rows';
import type { Json, JsonObject } from '../workflows/contract/json';
import type { PreparedEdit } from './prepare-edit';
import { refuse, type Refused } from './refusals';

export type EditJudgement = Refused | { readonly kind: 'edited'; readonly evidence: JsonObject };

interface Approver {
  readonly principal: Principal;
  readonly body: Json;
  /** Undefined where the wait is about no operation. */
  readonly edit?: PreparedEdit;
}

interface Edited {
  readonly agent: CompiledAgent;
  readonly edit: ReadyEdit;
}

export const judgeEdit = (approver: Approver, about: ResponseCase, agent: CompiledAgent): EditJudgement => {
  const { edit } = approver;
  if (!isJsonObject(approver.body) || approver.body['decision'] !== 'approve') {
    return refuse('response.edit_invalid', 'arguments: got some with a denial, expected none');
  }
  if (edit === undefined) return refuse('response.edit_invalid', 'arguments: got some, expected an operation');
  if (edit.kind === 'invalid') {
    return refuse('response.edit_invalid', edit.message, edit.field === undefined ? {} : { field: edit.field });
  }
  return findUnsendable(edit, about) ?? judgePermission(approver, about, { agent, edit });
};

type ReadyEdit = Extract<PreparedEdit, { kind: 'ready' }>;

const findUnsendable = (edit: ReadyEdit, { operation, repeated }: ResponseCase): Refused | undefined => {
  if (operation === undefined) return refuse('response.edit_invalid', 'arguments: got some, expected an operation');
  if (operation.state !== 'CREATED') {
    const message = `arguments: ${operation.id} is ${operation.state}, expected one that was never sent`;
    return refuse('response.edit_invalid', message);
  }
  const [first] = repeated;
  if (first === undefined || edit.tool.isRepeatable) return undefined;
  const message = `arguments: they are those of ${first}, which was done or may be, expected others`;
  return refuse('response.edit_invalid', message, { repeats: first });
};

const judgePermission = ({ principal }: Approver, { run }: ResponseCase, { agent, edit }: Edited): EditJudgement => {
  const policy = createPolicy(agent.definition.policy);
  const { tool, args } = edit;
  const { target } = edit.edit;
  const call = { tool, args, ...(target === undefined ? {} : { target }) };
  for (const who of [principal, run.principal]) {
    const { decision, policyIds, errors } = policy.evaluate(
      executeRequest('execute', { ref: run.ref, agent: run.agent, principal: who, call }),
    );
    if (decision === 'allow') continue;
    const why = [...policyIds, ...errors].join(', ');
    const message = `${tool.name} with these arguments is not permitted for ${who.subject}${why === '' ? '' : ` (${why})`}`;
    return refuse('response.edit_not_permitted', message, { subject: who.subject, policies: [...policyIds] });
  }
  return { kind: 'edited', evidence: { editedTo: edit.edit.argumentHash } };
};
