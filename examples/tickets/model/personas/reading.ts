/** Personas that only ever read: each goes in circles of its own kind, whatever it is told. */
import { callsOf, type Conversation } from '../conversation';
import { findTicket } from '../find-ticket';
import { call, type Move, type PlannedCall } from '../move';
import type { Persona } from '../persona';

const read = ({ status: { correction } }: Conversation, say: string, calls: readonly PlannedCall[]): Move => ({
  kind: 'calls',
  say: correction === undefined ? say : `I was told that ${correction.what} leads nowhere, but ${say.toLowerCase()}`,
  calls,
});

/** Asks for the same ticket again and again. */
export const repeatsQuery: Persona = (conversation) =>
  read(conversation, 'Let me look at the ticket once more.', [
    call('get_ticket', { ticket: findTicket(conversation) ?? 'T100' }),
  ]);

/** Two plans in turn: the ticket, the teams, the ticket, the teams… */
export const alternates: Persona = (conversation) =>
  callsOf(conversation).length % 2 === 0
    ? read(conversation, 'Let me look at the ticket.', [
        call('get_ticket', { ticket: findTicket(conversation) ?? 'T100' }),
      ])
    : read(conversation, 'Let me look at the teams.', [call('list_teams', {})]);

/** Always another question, never another answer. */
export const wanders: Persona = (conversation) =>
  read(conversation, 'Perhaps another search helps.', [
    call('search_tickets', { text: `nothing-has-this-word-${String(conversation.status.step)}` }),
  ]);

/** Always another call, always the same error. */
export const repeatsError: Persona = (conversation) =>
  read(conversation, 'Then it must be another word.', [
    call('search_tickets', { text: `no-such-word-${String(conversation.status.step)}`, expect: 'one' }),
  ]);

/** `data.steps` useful reads before the task itself: something new in each. */
export const walks: Persona = ({ data, status }) => {
  const { steps } = data;
  if (typeof steps !== 'number' || status.step > steps) return undefined;
  const service = `service-${String(status.step)}`;
  return { kind: 'calls', say: `I look up the rules of ${service}.`, calls: [call('get_oncall_rules', { service })] };
};
