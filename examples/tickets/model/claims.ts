/** The explanation: each sentence of it with the evidence that it rests on and the facts that it states. */
import { findFact, type Conversation, type Fact } from './conversation';
import type { Basis } from './find-rules';
import type { Claim, Move } from './move';

export const explain = (conversation: Conversation, ticket: string, basis: Basis): Move => {
  const before = findTeamBefore(conversation, ticket, basis.team);
  const version = findFact(conversation, `ticket:${ticket}`, 'version');
  const claims = [
    basisClaim(conversation, basis),
    ...(before === undefined ? [] : [beforeClaim(before, ticket)]),
    nowClaim(conversation, ticket, basis),
  ].flatMap((claim) => claim ?? []);
  const rejected = conversation.responses.filter(
    ({ wait, response }) => wait === 'acceptance' && response !== undefined,
  );
  return {
    kind: 'finish',
    say: 'Everything is in place; I sum up what was done.',
    outcome: 'done',
    answer: [
      ...(rejected.length === 0 ? [] : [`Revised after your remark (${String(rejected.length)}).`]),
      `${basis.words} names ${basis.team}.`,
      before === undefined
        ? `Ticket ${ticket} is with ${basis.team} already, so I changed nothing.`
        : `Ticket ${ticket} was with ${textOf(before)}; it is now with ${basis.team}, at version ${textOf(version)}.`,
    ].join(' '),
    claims,
  };
};

const textOf = (fact: Fact | undefined): string => {
  const { value } = fact ?? {};
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'unknown';
};

const stated = ({ object, field, value }: Fact): NonNullable<Claim['asserts']> =>
  value === undefined ? [] : [{ object, field, value }];

const claimOf = (text: string, facts: readonly (Fact | undefined)[]): Claim | undefined => {
  const known = facts.flatMap((fact) => fact ?? []);
  if (known.length === 0) return undefined;
  return {
    text,
    evidence: [...new Set(known.map(({ evidence }) => evidence))],
    asserts: known.flatMap(stated),
  };
};

const basisClaim = (conversation: Conversation, { words, team, rule }: Basis): Claim | undefined =>
  rule === undefined
    ? undefined
    : claimOf(`${words} names ${team}.`, [
        findFact(conversation, `rule:${rule}`, 'team'),
        findFact(conversation, `rule:${rule}`, 'service'),
      ]);

const beforeClaim = (before: Fact, ticket: string): Claim | undefined =>
  claimOf(`Ticket ${ticket} was with ${textOf(before)}.`, [before]);

const nowClaim = (conversation: Conversation, ticket: string, { team }: Basis): Claim | undefined =>
  claimOf(`Ticket ${ticket} is with ${team}.`, [
    findFact(conversation, `ticket:${ticket}`, 'team'),
    findFact(conversation, `ticket:${ticket}`, 'version'),
  ]);

/** Where the ticket was at its latest version with another team. */
const findTeamBefore = ({ status }: Conversation, ticket: string, team: string): Fact | undefined =>
  status.facts
    .filter(
      ({ object, field, value }) => object.startsWith(`revision:${ticket}@`) && field === 'team' && value !== team,
    )
    .sort((one, other) => Number(one.version) - Number(other.version))
    .at(-1);
