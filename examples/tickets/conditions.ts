/** When a ticket counts as handled. Computed from facts that the tools confirmed, never from what the model says it did. */
import type { CompletionView, Condition, ConditionVerdict, Fact, FactsView, Json } from '../../index';
import { findTaskTicket, personsWords } from './task-ticket';
import { REVISION_KIND, revisionPrefix, ruleObject, serviceObject, teamObject, ticketObject } from './tools/facts';

const MET: ConditionVerdict = { kind: 'met' };

/** What the rules say about a ticket, or which facts are still needed to know. */
export type Routing =
  | { readonly kind: 'unread'; readonly needs: readonly string[] }
  | {
      readonly kind: 'known';
      readonly ticket: string;
      readonly service: string;
      readonly team: string;
      readonly rules: readonly { readonly rule: string; readonly team: string }[];
    };

export const findRouting = (facts: FactsView, ticket: string): Routing => {
  const object = ticketObject(ticket);
  const service = facts.find(object, 'service')?.value;
  const team = facts.find(object, 'team')?.value;
  if (typeof service !== 'string' || typeof team !== 'string') {
    return { kind: 'unread', needs: [`${object}.service`, `${object}.team`, `${object}.version`] };
  }
  const ids = facts.find(serviceObject(service), 'rules')?.value;
  if (!isList(ids)) return { kind: 'unread', needs: [`${serviceObject(service)}.rules`] };
  const rules = ids.flatMap((rule) => {
    const named = typeof rule === 'string' ? facts.find(ruleObject(rule), 'team')?.value : undefined;
    return typeof rule === 'string' && typeof named === 'string' ? [{ rule, team: named }] : [];
  });
  return { kind: 'known', ticket, service, team, rules };
};

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

const ticketNamed: Condition = {
  name: 'ticket-named',
  check: (view) => {
    const found = findTaskTicket(view);
    if (found.kind === 'named') return MET;
    const candidates = found.candidates.map(ticketObject);
    return {
      kind: 'gap',
      gap: {
        kind: 'choice',
        lacks: 'which ticket the task is about',
        ...(candidates.length === 0 ? {} : { candidates }),
      },
    };
  },
};

const rightTeam: Condition = {
  name: 'right-team',
  check: (view) => {
    const found = findTaskTicket(view);
    if (found.kind === 'unnamed') return lacksFacts("the ticket's team, once the ticket is named", []);
    const routing = findRouting(view.facts, found.ticket);
    return routing.kind === 'unread'
      ? lacksFacts(`what ticket ${found.ticket} and the on-call rules say`, routing.needs)
      : judgeTeam(view.facts, routing);
  },
};

type KnownRouting = Extract<Routing, { kind: 'known' }>;

const judgeTeam = (facts: FactsView, { ticket, service, team, rules }: KnownRouting): ConditionVerdict => {
  if (rules.some((rule) => rule.team === team)) return MET;
  // Where no rule helps, a person says which team it is.
  if (rules.length === 0 && personsWords(facts).includes(team)) return MET;
  const needs = [`${ticketObject(ticket)}.team`];
  const [first, ...others] = rules;
  if (first === undefined) {
    return { kind: 'gap', gap: { kind: 'choice', lacks: `the team: no on-call rule is about ${service}` } };
  }
  if (others.length === 0) {
    return lacksFacts(`ticket ${ticket} is with ${team}, rule ${first.rule} names ${first.team}`, needs);
  }
  const named = rules.map(({ rule, team: each }) => `${rule} names ${each}`).join(', ');
  return {
    kind: 'gap',
    gap: {
      kind: 'work',
      lacks: `which rule fits ticket ${ticket}, which is with ${team}: ${named}`,
      needs,
      candidates: rules.map(({ team: each }) => teamObject(each)),
    },
  };
};

const lacksFacts = (lacks: string, needs: readonly string[]): ConditionVerdict => ({
  kind: 'gap',
  gap: { kind: 'fact', lacks, ...(needs.length === 0 ? {} : { needs }) },
});

const explained: Condition = {
  name: 'explained',
  check: (view) => {
    const found = findTaskTicket(view);
    const routing = found.kind === 'named' ? findRouting(view.facts, found.ticket) : undefined;
    if (routing?.kind !== 'known' || judgeTeam(view.facts, routing).kind === 'gap') {
      return lacksFacts('an explanation, which needs the ticket to be with the right team first', []);
    }
    const missing = wantedFacts(view, routing).filter((wanted) => !isAsserted(view, wanted));
    if (missing.length === 0) return MET;
    const lacks = `an explanation with evidence: finish with claims that assert ${missing.map(toWords).join(', ')}`;
    return { kind: 'gap', gap: { kind: 'work', lacks, needs: missing.flatMap(({ anyOf }) => anyOf.map(nameOf)) } };
  },
};

interface Wanted {
  readonly anyOf: readonly Pick<Fact, 'object' | 'field'>[];
}

const nameOf = ({ object, field }: Wanted['anyOf'][number]): string => `${object}.${field}`;
const toWords = ({ anyOf }: Wanted): string => anyOf.map(nameOf).join(' or ');

/** That what is asserted equals the fact is checked by the runtime, for every claim. */
const isAsserted = ({ answer }: CompletionView, { anyOf }: Wanted): boolean => {
  const asserts = answer?.claims.flatMap((claim) => claim.asserts ?? []) ?? [];
  return anyOf.some((fact) => asserts.some(({ object, field }) => object === fact.object && field === fact.field));
};

/** The rule, the team and version now, and the team before where this run moved the ticket. */
const wantedFacts = (view: CompletionView, { ticket, team, rules }: KnownRouting): readonly Wanted[] => {
  const object = ticketObject(ticket);
  const fitting = rules.filter((rule) => rule.team === team);
  const before = hasMoved(view, object) ? teamsBefore(view.facts, ticket, team) : [];
  return [
    { anyOf: fitting.map(({ rule }) => ({ object: ruleObject(rule), field: 'team' })) },
    { anyOf: [{ object, field: 'team' }] },
    { anyOf: [{ object, field: 'version' }] },
    { anyOf: before },
  ].filter(({ anyOf }) => anyOf.length > 0);
};

const hasMoved = ({ operations }: CompletionView, object: string): boolean =>
  operations.some(
    ({ tool, state, target }) => tool === 'reassign_ticket' && state === 'SUCCEEDED' && target === object,
  );

/** A revision's facts are never replaced, so where the ticket was before can still be cited. */
const teamsBefore = (facts: FactsView, ticket: string, team: string): readonly Fact[] =>
  facts
    .ofKind(REVISION_KIND, 'team')
    .filter(({ object, value }) => object.startsWith(revisionPrefix(ticket)) && value !== team);

/** The three that every agent of the example has. */
export const CONDITIONS: readonly Condition[] = [ticketNamed, rightTeam, explained];
