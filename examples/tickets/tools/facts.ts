/**
 * What the desk's answers confirm. A ticket's own facts are replaced when it changes; a revision's stay, so that an
 * explanation can still cite where a ticket was before.
 */
import type { DeclaredFact } from '../../../index';

export const ticketObject = (id: string): string => `ticket:${id}`;
export const ruleObject = (id: string): string => `rule:${id}`;
export const teamObject = (id: string): string => `team:${id}`;
export const serviceObject = (id: string): string => `service:${id}`;
export const revisionObject = (ticket: string, version: number): string =>
  `${revisionPrefix(ticket)}${String(version)}`;
export const REVISION_KIND = 'revision';
export const revisionPrefix = (ticket: string): string => `${REVISION_KIND}:${ticket}@`;

interface TicketState {
  readonly id: string;
  readonly service: string;
  readonly team: string;
  readonly status: string;
  readonly version: number;
}

export const ticketFacts = ({ id, service, team, status, version }: TicketState): readonly DeclaredFact[] => [
  ...versioned(ticketObject(id), version, { service, team, status, version }),
  { object: revisionObject(id, version), field: 'team', value: team, version: String(version) },
];

interface RuleState {
  readonly id: string;
  readonly service: string;
  readonly team: string;
  readonly version: number;
}

/** That a service has these rules and no others is a fact of the service, also where there are none. */
export const ruleFacts = (service: string, rules: readonly RuleState[]): readonly DeclaredFact[] => [
  { object: serviceObject(service), field: 'rules', value: rules.map(({ id }) => id) },
  ...rules.flatMap((rule) => [
    ...versioned(ruleObject(rule.id), rule.version, { service: rule.service, team: rule.team }),
    teamFact(rule.team),
  ]),
];

export const teamFact = (id: string): DeclaredFact => ({ object: teamObject(id), field: 'exists', value: true });

export interface Written {
  readonly ticket: string;
  readonly version: number;
}

/** What a write confirms: the fields that it set, and the ticket's new version. */
export const writeFacts = (
  { ticket, version }: Written,
  fields: Readonly<Record<string, string>>,
): readonly DeclaredFact[] => [
  ...versioned(ticketObject(ticket), version, { ...fields, version }),
  ...Object.entries(fields).map(([field, value]) => ({
    object: revisionObject(ticket, version),
    field,
    value,
    version: String(version),
  })),
];

const versioned = (
  object: string,
  version: number,
  fields: Readonly<Record<string, string | number>>,
): readonly DeclaredFact[] =>
  Object.entries(fields).map(([field, value]) => ({ object, field, value, version: String(version) }));
