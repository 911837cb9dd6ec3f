/**
 * The one function that judges a response, wherever it arrives: at a service, from a library, as a raw signal. Pure; whatever
 * has to be read for it was read before (`prepare-response.ts`), and it runs inside the store's transaction on the locked
 * wait. The first check that does not hold names the refusal.
 *
 *   1. Only what is still asked is answered: run, plan, wait, expiry.
 *   2. Only what was seen is answered: versions and token.
 *   3. Then what is said, who says it, and what they changed.
 */
import { findResponseFault, responseSchemaSchema } from '../definition/response-schema';
import type { CompiledAgent } from '../definition/registry';
import { isJsonObject } from '../definition/storable-json';
import { createPolicy, type PolicyDecision } from '../policy/create-policy';
import type { Principal, ResponseCase, ResponseJudgement } from '../store/rows';
import { waitEvidenceIdOf } from '../workflows/contract/ids';
import type { Json, JsonObject } from '../workflows/contract/json';
import type { Fact } from '../workflows/contract/records';
import { judgeEdit } from './judge-edit';
import type { PreparedEdit } from './prepare-edit';
import { refuse, type Refused } from './refusals';
import { respondRequest } from './respond-request';
import { showJson } from './show-json';
import { isTokenOf, type TokenKey } from './token';

export const MAX_RESPONSE_BYTES = 100_000;

export interface PreparedResponse {
  readonly principal: Principal;
  readonly body: Json;
  readonly bytes: number;
  readonly stateVersion?: number;
  readonly planVersion?: number;
  readonly token?: string;
  /** Where one is configured, every response needs the token of its wait. */
  readonly tokenKey?: TokenKey;
  /** Undefined where this process has no such agent. */
  readonly agent: CompiledAgent | undefined;
  /** Where an approval brings other arguments. */
  readonly edit?: PreparedEdit;
}

export const judgeResponse = (response: PreparedResponse, about: ResponseCase): ResponseJudgement =>
  findClosed(about) ?? findUnseen(response, about) ?? judgeWords(response, about);

const findClosed = ({ wait, run, receivedAt }: ResponseCase): Refused | undefined => {
  if (run.terminal !== undefined) {
    return refuse('response.run_ended', `${run.ref.run} has ended as ${run.terminal}, expected a run that goes on`);
  }
  if (wait.state === 'VOID' || run.cancelRequestedAt !== undefined) {
    return run.planVersion !== wait.planVersion
      ? refuse(
          'response.plan_changed',
          `${wait.id} asked about plan ${wait.planVersion}, the plan is now ${run.planVersion}: nothing of it is asked any more`,
        )
      : refuse('response.wait_void', `${wait.id} is void: the run went on without an answer, or is being cancelled`);
  }
  if (wait.state === 'CONSUMED') return findDecided(wait);
  if (wait.state === 'EXPIRED' || receivedAt >= wait.expiresAt) {
    return refuse(
      'response.expired',
      `${wait.id} expired at ${toIso(wait.expiresAt)}, the response was received at ${toIso(receivedAt)}: it is not applied`,
      { expiresAt: wait.expiresAt },
    );
  }
  return undefined;
};

const findDecided = ({ id, response, responseId }: ResponseCase['wait']): Refused =>
  refuse(
    'response.already_decided',
    `${id} is decided already: ${showJson(response ?? null)}`,
    responseId === undefined ? {} : { decidedBy: responseId },
  );

const toIso = (ms: number): string => new Date(ms).toISOString();

const findUnseen = (response: PreparedResponse, { wait }: ResponseCase): Refused | undefined => {
  const { planVersion, stateVersion, token, tokenKey } = response;
  if (planVersion !== undefined && planVersion !== wait.planVersion) {
    return refuse('response.plan_changed', `planVersion: got ${planVersion}, expected ${wait.planVersion}`);
  }
  if (stateVersion !== undefined && stateVersion !== wait.seq) {
    return refuse('response.state_changed', `stateVersion: got ${stateVersion}, expected ${wait.seq}`);
  }
  if (tokenKey === undefined || (token !== undefined && isTokenOf(tokenKey, wait, token))) return undefined;
  const got = token === undefined ? 'nothing' : 'another one';
  return refuse('response.token_invalid', `token: got ${got}, expected the token that is shown with ${wait.id}`);
};

const judgeWords = (response: PreparedResponse, about: ResponseCase): ResponseJudgement => {
  const fault = findSize(response) ?? findFault(response, about);
  if (fault !== undefined) return fault;
  const { agent } = response;
  if (agent === undefined) {
    const { agent: name } = about.run;
    return refuse('response.agent_unknown', `agent: got ${name}, expected one whose policy is known here`);
  }
  const permission = createPolicy(agent.definition.policy).evaluate(
    respondRequest({ ...about, principal: response.principal }),
  );
  if (permission.decision === 'deny') return refuseUnpermitted(response, about, permission);
  const edited = hasArguments(response, about) ? judgeEdit(response, about, agent) : undefined;
  if (edited?.kind === 'refused') return edited;
  const effective = toEffective(response, about);
  return {
    kind: 'accepted',
    response: effective,
    facts: toFacts(effective, about.wait),
    evidence: { ...evidenceOf(permission), ...edited?.evidence },
  };
};

const findSize = ({ bytes }: PreparedResponse): Refused | undefined =>
  bytes <= MAX_RESPONSE_BYTES
    ? undefined
    : refuse('response.too_large', `response: got ${bytes} bytes, expected at most ${MAX_RESPONSE_BYTES}`, { bytes });

/** The arguments of an edit are none of the plain fields that a form shows: the tool's own schema is for them. */
const findFault = (response: PreparedResponse, about: ResponseCase): Refused | undefined => {
  const { body } = response;
  const { wait } = about;
  const schema = responseSchemaSchema.safeParse(wait.responseSchema);
  if (!schema.success) return refuse('response.invalid', `${wait.id} asks for what cannot be checked here`);
  const fault = findResponseFault(schema.data, hasArguments(response, about) ? withoutArguments(body) : body);
  if (fault === undefined) return undefined;
  const { field, value, expected } = fault;
  const message = `${field === '' ? 'response' : field}: got ${showJson(value)}, expected ${expected}`;
  return refuse('response.invalid', message, { field });
};

const hasArguments = ({ body }: PreparedResponse, { wait }: ResponseCase): boolean =>
  wait.kind === 'approval' && isJsonObject(body) && Object.hasOwn(body, 'arguments');

const withoutArguments = (body: Json): Json => {
  if (!isJsonObject(body)) return body;
  return Object.fromEntries(Object.entries(body).filter(([name]) => name !== 'arguments'));
};

const refuseUnpermitted = (
  { principal }: PreparedResponse,
  { wait }: ResponseCase,
  decision: PolicyDecision,
): Refused => {
  const why = decision.policyIds.length === 0 ? '' : ` (${decision.policyIds.join(', ')})`;
  const message = `${principal.subject} may not answer ${wait.id}: the agent's policy denies it${why}`;
  return refuse('response.not_permitted', message, evidenceOf(decision));
};

const evidenceOf = ({ policyIds, errors }: PolicyDecision): JsonObject => ({
  policies: [...policyIds],
  ...(errors.length === 0 ? {} : { errors: [...errors] }),
});

/** As the wait keeps it. What an approval approves is told by the hash of the arguments, so that nothing else is sent on it. */
const toEffective = ({ body, edit }: PreparedResponse, { wait, operation }: ResponseCase): JsonObject => {
  const said = isJsonObject(body) ? body : {};
  if (wait.kind !== 'approval' || said['decision'] !== 'approve' || operation === undefined) return said;
  if (edit?.kind !== 'ready') return { ...said, argumentHash: operation.argumentHash };
  return { ...said, arguments: edit.args, argumentHash: edit.edit.argumentHash };
};

/**
 * What the run may rest on from now on. A reconciliation's fact is what became of the operation, which is found out when it
 * is settled.
 */
const toFacts = (response: JsonObject, { id, kind, operation }: ResponseCase['wait']): readonly Fact[] => {
  const evidence = waitEvidenceIdOf(id);
  if (kind === 'reconciliation') return [];
  if (kind === 'approval') {
    const object = `operation:${operation ?? id}`;
    return [{ object, field: 'approval', value: response['decision'] ?? null, evidence }];
  }
  const object = `answer:${evidence}`;
  return Object.entries(response).map(([field, value]) => ({ object, field, value, evidence }));
};
