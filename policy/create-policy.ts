/**
 * Cedar decides what a principal may have done: `execute` permits, `executeUnattended` permits without approval,
 * `respond` may answer a wait, `extend` may exceed an agent's limits. What no policy permits, and whatever cannot be evaluated, is denied.
 */
import {
  isAuthorizedPartial,
  preparsePolicySet,
  statefulIsAuthorized,
  type EntityJson,
  type TypeAndId,
} from '@cedar-policy/cedar-wasm/nodejs';
import { parsePolicyText, type PolicyAction, type PolicyText } from '../definition/policy-text';
import type { Risk } from '../definition/tool';
import type { Principal } from '../store/rows';
import type { Json, JsonObject } from '../workflows/contract/json';
import { NotForCedar, toCedarRecord } from './cedar-value';

/** What is acted upon: a tool for `execute` and `executeUnattended`, a wait for `respond`, an agent for `extend`. */
export type PolicyResource =
  | { readonly kind: 'tool'; readonly name: string; readonly effect: 'read' | 'write'; readonly risk: Risk }
  | { readonly kind: 'wait'; readonly id: string; readonly waitKind: string }
  | { readonly kind: 'agent'; readonly name: string };

export interface PolicyRequest {
  readonly action: PolicyAction;
  readonly principal: Principal;
  readonly tenant: string;
  readonly resource: PolicyResource;
  /** `args`, `target`, … as docs/policy.md lists them. `tenant` is added. */
  readonly context: JsonObject;
  /** JSON Schema of `context.args`: it says which numbers are decimals. */
  readonly argumentSchema?: Json;
}

export interface PolicyDecision {
  readonly decision: 'allow' | 'deny';
  /** The policies that decided; empty where nothing permitted it. */
  readonly policyIds: readonly string[];
  /** Why it could not be evaluated as written; any error denies. */
  readonly errors: readonly string[];
}

export interface Policy {
  /** Of the text; recorded with each decision. */
  readonly version: string;
  readonly evaluate: (request: PolicyRequest) => PolicyDecision;
  /** Whether any arguments at all could be permitted: false for a tool that this principal never gets. */
  readonly mayEverExecute: (request: Omit<PolicyRequest, 'action' | 'context' | 'argumentSchema'>) => boolean;
}

export class PolicyUnusable extends Error {
  readonly code = 'policy.unusable';
  readonly isRetryable = false;
  constructor(readonly faults: readonly string[]) {
    super(`policy: got text that Cedar cannot use (${faults.join('; ')}), expected a policy set`);
    this.name = 'PolicyUnusable';
  }
}

// Cedar keeps parsed policy sets by name for the life of the process; a set is the same for the same text.
const prepared = new Map<string, Policy>();

/** Parsed once for each text; throws PolicyUnusable. A definition that `compileAgents` let pass never does. */
export const createPolicy = (text: string): Policy => {
  const known = prepared.get(text);
  if (known !== undefined) return known;
  const parsed = parsePolicyText(text);
  if (parsed.faults.length > 0) throw new PolicyUnusable(parsed.faults);
  const answer = preparsePolicySet(parsed.version, { staticPolicies: parsed.policies });
  if (answer.type === 'failure') throw new PolicyUnusable(answer.errors.map(({ message }) => message));
  const policy: Policy = {
    version: parsed.version,
    evaluate: (request) => evaluate(parsed.version, request),
    mayEverExecute: rememberAnswers((request) => mayEverExecute(parsed, request)),
  };
  prepared.set(text, policy);
  return policy;
};

const evaluate = (policySet: string, request: PolicyRequest): PolicyDecision => {
  try {
    const answer = statefulIsAuthorized({
      preparsedPolicySetId: policySet,
      principal: principalOf(request),
      action: { type: 'Action', id: request.action },
      resource: resourceOf(request),
      context: contextOf(request),
      entities: entitiesOf(request),
      validateRequest: false,
    });
    if (answer.type === 'failure')
      return deny(
        [],
        answer.errors.map(({ message }) => message),
      );
    const { decision, diagnostics } = answer.response;
    const errors = diagnostics.errors.map(({ policyId, error }) => `${policyId}: ${error.message}`);
    return errors.length > 0 ? deny(diagnostics.reason, errors) : { decision, policyIds: diagnostics.reason, errors };
  } catch (error) {
    if (error instanceof NotForCedar) return deny([], [error.message]);
    throw error;
  }
};

const deny = (policyIds: readonly string[], errors: readonly string[]): PolicyDecision => ({
  decision: 'deny',
  policyIds,
  errors,
});

type Subject = Pick<PolicyRequest, 'principal' | 'tenant' | 'resource'>;

const principalOf = ({ principal }: Subject): TypeAndId => ({ type: 'User', id: principal.subject });

const resourceOf = ({ resource }: Subject): TypeAndId => {
  switch (resource.kind) {
    case 'tool':
      return { type: 'Tool', id: resource.name };
    case 'wait':
      return { type: 'Wait', id: resource.id };
    case 'agent':
      return { type: 'Agent', id: resource.name };
  }
};

const attributesOf = (resource: PolicyResource): EntityJson['attrs'] => {
  switch (resource.kind) {
    case 'tool':
      return { effect: resource.effect, risk: resource.risk };
    case 'wait':
      return { kind: resource.waitKind };
    case 'agent':
      return {};
  }
};

const contextOf = ({ context, tenant, argumentSchema }: PolicyRequest): ReturnType<typeof toCedarRecord> =>
  toCedarRecord(
    { ...context, tenant },
    argumentSchema === undefined ? undefined : { properties: { args: argumentSchema } },
  );

const entitiesOf = (request: Subject): EntityJson[] => {
  const { principal, tenant, resource } = request;
  const roles = principal.roles.map((id): TypeAndId => ({ type: 'Role', id }));
  return [
    { uid: principalOf(request), attrs: { tenant, subject: principal.subject }, parents: roles },
    { uid: resourceOf(request), attrs: attributesOf(resource), parents: [] },
  ];
};

const UNKNOWN_ARGS = { __extn: { fn: 'unknown', arg: 'args' } };
const UNKNOWN_TARGET = { __extn: { fn: 'unknown', arg: 'target' } };

/** Cedar's partial evaluation, with arguments that are not known yet; once without a target, once with one. */
const mayEverExecute = (policy: PolicyText, request: Subject): boolean =>
  [{}, { target: UNKNOWN_TARGET }].some((target) => {
    const answer = isAuthorizedPartial({
      principal: principalOf(request),
      action: { type: 'Action', id: 'execute' },
      resource: resourceOf(request),
      context: { tenant: request.tenant, args: UNKNOWN_ARGS, ...target },
      policies: { staticPolicies: policy.policies },
      entities: entitiesOf(request),
    });
    // What Cedar cannot tell beforehand is decided with the arguments.
    return answer.type === 'failure' || answer.response.decision !== 'deny';
  });

const MAX_REMEMBERED = 10_000;

const rememberAnswers = (ask: (request: Subject) => boolean): ((request: Subject) => boolean) => {
  const answers = new Map<string, boolean>();
  return (request) => {
    const { principal, tenant, resource } = request;
    const key = JSON.stringify([tenant, principal.subject, [...principal.roles].sort(), resource]);
    const known = answers.get(key);
    if (known !== undefined) return known;
    if (answers.size >= MAX_REMEMBERED) answers.clear();
    const answer = ask(request);
    answers.set(key, answer);
    return answer;
  };
};
