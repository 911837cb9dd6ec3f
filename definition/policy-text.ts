/**
 * Cedar text, taken apart once: its policies by their `@id`, its version, and what is wrong with it. A name that nothing
 * has (an action, a role's type, a tool) is a fault: such a policy would never match and never say so.
 */
import { createHash } from 'node:crypto';
import {
  policySetTextToParts,
  policyToJson,
  type DetailedError,
  type PolicyJson,
} from '@cedar-policy/cedar-wasm/nodejs';

/**
 * `execute` permits, `executeUnattended` permits without approval, `respond` may answer a wait, `extend` may give a reopened
 * run more than its agent's limits.
 */
export const POLICY_ACTIONS = ['execute', 'executeUnattended', 'respond', 'extend'] as const;
export type PolicyAction = (typeof POLICY_ACTIONS)[number];

export const POLICY_ENTITY_TYPES = ['User', 'Role', 'Action', 'Tool', 'Wait', 'Agent'] as const;

export interface PolicyText {
  /** `cedar:` and the first 16 hex digits of the SHA-256 of the text. */
  readonly version: string;
  /** Each policy by its `@id`, or by its place (`policy0`) where it has none. */
  readonly policies: Readonly<Record<string, string>>;
  /** In words; empty where the text may be used. */
  readonly faults: readonly string[];
  /** Every entity that the policies name. */
  readonly entities: readonly { readonly type: string; readonly id: string }[];
}

export const parsePolicyText = (text: string): PolicyText => {
  const version = `cedar:${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
  const parts = policySetTextToParts(text);
  if (parts.type === 'failure') return { version, policies: {}, faults: parts.errors.map(describe), entities: [] };
  const parsed = parts.policies.map((policy) => ({ policy, json: toJson(policy) }));
  const named = parsed.map(
    ({ policy, json }, index) => [json?.annotations?.['id'] ?? `policy${String(index)}`, policy] as const,
  );
  const entities = parsed.flatMap(({ json }) => findEntities(json));
  return {
    version,
    policies: Object.fromEntries(named),
    entities,
    faults: [
      ...parts.policy_templates.map((template) => `a template, which nothing here links: ${template.slice(0, 80)}`),
      ...findDuplicates(named.map(([id]) => id)).map((id) => `two policies with @id ${JSON.stringify(id)}`),
      ...entities.flatMap(findEntityFault),
    ],
  };
};

const describe = ({ message, sourceLocations = [] }: DetailedError): string => {
  const [at] = sourceLocations;
  return at === undefined
    ? message
    : `${message} (at character ${String(at.start)}${at.label === null ? '' : `: ${at.label}`})`;
};

const toJson = (policy: string): PolicyJson | undefined => {
  const answer = policyToJson(policy);
  return answer.type === 'success' ? answer.json : undefined;
};

const findDuplicates = (ids: readonly string[]): readonly string[] => [
  ...new Set(ids.filter((id, index) => ids.indexOf(id) !== index)),
];

/** The id of `is Type`, which names no single entity. */
const ANY = '*';

/** Everything shaped `{ type, id }` in Cedar's JSON form is an entity: in scopes, and as `__entity` in conditions. */
const findEntities = (value: unknown): readonly { readonly type: string; readonly id: string }[] => {
  if (typeof value !== 'object' || value === null) return [];
  if ('type' in value && 'id' in value && typeof value.type === 'string' && typeof value.id === 'string') {
    return [{ type: value.type, id: value.id }];
  }
  const ofType =
    'entity_type' in value && typeof value.entity_type === 'string' ? [{ type: value.entity_type, id: ANY }] : [];
  return [...ofType, ...Object.values(value).flatMap(findEntities)];
};

const findEntityFault = ({ type, id }: { readonly type: string; readonly id: string }): readonly string[] => {
  if (!POLICY_ENTITY_TYPES.some((each) => each === type)) {
    return [`the entity ${type}::${JSON.stringify(id)}, expected a type of ${POLICY_ENTITY_TYPES.join(', ')}`];
  }
  if (type === 'Action' && id !== ANY && !POLICY_ACTIONS.some((each) => each === id)) {
    return [`the action ${JSON.stringify(id)}, expected one of ${POLICY_ACTIONS.join(', ')}`];
  }
  return [];
};
