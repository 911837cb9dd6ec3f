/**
 * A planner in the model's place: it reads the conversation that it is sent and decides the next turn from it, so that other
 * results, errors, denials or answers lead elsewhere. It remembers nothing and is the same for every attempt of a step.
 */
import type { JsonObject } from '../../../index';
import { explain } from './claims';
import { callsOf, findFact, findText, lastCalls, type Call, type Conversation } from './conversation';
import { cannot, findBlock } from './find-block';
import { chooseRule, findAnsweredTeam, findRules, type Basis } from './find-rules';
import { findTicket } from './find-ticket';
import { call, type Move } from './move';

export const plan = (conversation: Conversation): Move => {
  const ticket = findTicket(conversation);
  return (
    findBlock(conversation) ?? (ticket === undefined ? nameTicket(conversation) : routeTicket(conversation, ticket))
  );
};

const QUOTED = /["“]([^"”]{3,100})["”]/;

/** The person's own words are looked for; without any there is nothing to look for, so they are asked. */
const nameTicket = (conversation: Conversation): Move => {
  const words = QUOTED.exec(conversation.goal)?.[1];
  const hasSearched = callsOf(conversation).some(({ tool }) => tool === 'search_tickets');
  if (words !== undefined && !hasSearched) {
    return {
      kind: 'calls',
      say: 'I look for the ticket by the words that you gave.',
      calls: [call('search_tickets', { text: words, expect: 'one' })],
    };
  }
  return {
    kind: 'ask',
    say: 'I cannot tell which ticket is meant.',
    question: 'Which ticket shall I handle? Please give its id, for instance T100.',
    responseSchema: {
      type: 'object',
      properties: { ticket: { type: 'string', minLength: 2, maxLength: 10, description: 'Id of the ticket' } },
      required: ['ticket'],
    },
  };
};

const routeTicket = (conversation: Conversation, ticket: string): Move => {
  const team = findText(conversation, `ticket:${ticket}`, 'team');
  const service = findText(conversation, `ticket:${ticket}`, 'service');
  if (team === undefined || service === undefined) return readTicket(ticket);
  if (hasConflict(conversation)) return readAgain(ticket);
  if (isDoneUnseen(conversation)) return readDone(ticket);
  const rules = findRules(conversation, service);
  if (rules === undefined) return readRules(service);
  const answered = rules.length === 0 ? findAnsweredTeam(conversation) : undefined;
  const fitting = [...rules, answered].find((basis) => basis?.team === team);
  if (fitting !== undefined) return finish(conversation, ticket, fitting);
  const basis = answered ?? chooseRule(conversation, ticket, rules);
  if (basis === undefined) return askForTeam(service);
  if (findText(conversation, `ticket:${ticket}`, 'status') === 'closed') {
    return cannot(`Ticket ${ticket} is closed, so it stays with ${team}; ${basis.words} names ${basis.team}.`, []);
  }
  if (rules.length > 1 && !hasAnalysed(conversation)) return analyse(rules, basis);
  return reassign(conversation, { ticket, from: team, basis });
};

const readTicket = (ticket: string): Move => ({
  kind: 'calls',
  think: `The task is about ${ticket}. Before I decide anything I have to know its service and its team.`,
  say: `I read ticket ${ticket} first.`,
  calls: [call('get_ticket', { ticket })],
});

/** The latest word about the ticket was that it had changed: what is known of it is old. */
const hasConflict = (conversation: Conversation): boolean =>
  lastCalls(conversation).some(({ code }) => code === 'STATE_CONFLICT');

const readAgain = (ticket: string): Move => ({
  kind: 'calls',
  think: `${ticket} was changed by somebody else after I read it. What I know of it may be wrong by now.`,
  say: `The ticket has changed in the meantime; I read ${ticket} again and decide anew.`,
  calls: [call('get_ticket', { ticket })],
});

/** A person said that it was done; what came of it nobody has seen yet. */
const isDoneUnseen = (conversation: Conversation): boolean =>
  lastCalls(conversation).some(
    ({ tool, code, result }) => tool === 'reassign_ticket' && code === undefined && result === null,
  );

const readDone = (ticket: string): Move => ({
  kind: 'calls',
  think: `It was done, but I have not seen what ${ticket} is like now.`,
  say: `The reassignment was carried out; I read ${ticket} to see it.`,
  calls: [call('get_ticket', { ticket })],
});

const readRules = (service: string): Move => ({
  kind: 'calls',
  say: `The ticket is about ${service}; I look up its on-call rules.`,
  calls: [call('get_oncall_rules', { service })],
});

const askForTeam = (service: string): Move => ({
  kind: 'ask',
  say: `No on-call rule is about ${service}.`,
  question: `No on-call rule is about ${service}. Which team shall have the ticket? Please give the team's id.`,
  responseSchema: {
    type: 'object',
    properties: { team: { type: 'string', minLength: 1, maxLength: 64, description: 'Id of the team' } },
    required: ['team'],
  },
});

const hasAnalysed = (conversation: Conversation): boolean =>
  callsOf(conversation).some(({ tool, code }) => tool === 'analyse' && code === undefined);

const analyse = (rules: readonly Basis[], likely: Basis): Move => ({
  kind: 'analyse',
  say: `${rules.map(({ words }) => words).join(' and ')} could both apply, so I compare them before I act.`,
  gap: 'right-team',
  notes: [
    ...rules.map(({ words, team, text = '' }) => `${words} (${team}): ${text}`),
    `What the ticket reports fits this one best: ${likely.words}.`,
  ].join('\n'),
});

interface Reassignment {
  readonly ticket: string;
  readonly from: string;
  readonly basis: Basis;
}

const reassign = ({ messages }: Conversation, { ticket, from, basis }: Reassignment): Move => {
  const { words, team } = basis;
  const added = messages.at(-1);
  const reason = `${words}${added === undefined ? '' : `; asked since: ${added.slice(0, 300)}`}`;
  return {
    kind: 'calls',
    think: `${ticket} is with ${from}; ${words} names ${team}. They differ, so the ticket has to move.`,
    say: `${words} names ${team}, the ticket is with ${from}: I reassign it.`,
    calls: [call('reassign_ticket', { ticket, team, reason })],
  };
};

/** After a refused explanation the ticket is read once more: some statement of it was no longer true. */
const finish = (conversation: Conversation, ticket: string, basis: Basis): Move => {
  const wasRefused = lastCalls(conversation).some(isRefusedFinish);
  return wasRefused && findFact(conversation, `ticket:${ticket}`, 'version') !== undefined
    ? { ...readAgain(ticket), say: 'My explanation was not accepted; I check what I stated.' }
    : explain(conversation, ticket, basis);
};

const isRefusedFinish = ({ tool, code, input }: Call): boolean =>
  tool === 'finish' && code !== undefined && input['outcome'] === 'done' && claimCount(input) > 0;

const claimCount = ({ claims }: JsonObject): number => (Array.isArray(claims) ? claims.length : 0);
