/** Personas that write more, or more at once, than the task needs. */
import { callsOf, type Call, type Conversation } from '../conversation';
import { findTicket } from '../find-ticket';
import { call, type Move, type PlannedCall } from '../move';
import type { Persona } from '../persona';
import { plan } from '../plan';

/** What the usual planner would do now, where that is to reassign the ticket. */
const plannedReassign = (conversation: Conversation): PlannedCall | undefined => {
  const move = plan(conversation);
  return move.kind === 'calls' ? move.calls.find(({ tool }) => tool === 'reassign_ticket') : undefined;
};

const ticketOf = (conversation: Conversation): string => findTicket(conversation) ?? 'T100';

const withReassign =
  (say: string, more: (ticket: string, reassign: PlannedCall) => readonly PlannedCall[]): Persona =>
  (conversation) => {
    const reassign = plannedReassign(conversation);
    return reassign && { kind: 'calls', say, calls: more(ticketOf(conversation), reassign) };
  };

/** Two reads and a write in one turn. */
export const twoReadsOneWrite = withReassign(
  'I reassign it and look at ticket and teams again.',
  (ticket, reassign) => [call('get_ticket', { ticket }), call('list_teams', {}), reassign],
);

/** Five at once, of which not all can end well. */
export const fiveParallel = withReassign('I do everything at once.', (ticket, reassign) => [
  reassign,
  call('list_teams', {}),
  call('search_tickets', { text: 'checkout' }),
  call('close_ticket', { ticket }),
  call('get_ticket', { ticket }),
]);

const comment = (ticket: string): PlannedCall => call('add_comment', { ticket, text: 'Moved by the on-call rules.' });

/** The same comment twice in one turn, each meant. */
export const sameCommentTwice = withReassign('I reassign it and leave two notes.', (ticket, reassign) => [
  reassign,
  comment(ticket),
  comment(ticket),
]);

/**
 * Reassigns and comments in one turn; then proposes the reassignment again, as if it had forgotten. A comment that did not
 * go through is tried once more.
 */
export const twoWrites: Persona = (conversation) => {
  const reassign = plannedReassign(conversation);
  if (reassign !== undefined) {
    return {
      kind: 'calls',
      say: 'I reassign the ticket and leave a note.',
      calls: [reassign, comment(ticketOf(conversation))],
    };
  }
  const calls = callsOf(conversation);
  return commentAgain(ticketOf(conversation), calls) ?? repeatOnce(conversation, calls);
};

const commentAgain = (ticket: string, calls: readonly Call[]): Move | undefined => {
  const comments = calls.filter(({ tool }) => tool === 'add_comment');
  if (comments.length !== 1 || comments[0]?.code === undefined) return undefined;
  return { kind: 'calls', say: 'The note did not go through; I leave it now.', calls: [comment(ticket)] };
};

const repeatOnce = (conversation: Conversation, calls: readonly Call[]): Move | undefined => {
  const done = calls.filter(({ tool, code }) => tool === 'reassign_ticket' && code === undefined);
  const [first] = done;
  if (first === undefined || done.length > 1 || plan(conversation).kind !== 'finish') return undefined;
  return {
    kind: 'calls',
    say: 'Now I reassign the ticket.',
    calls: [call(first.tool, first.input)],
  };
};

const MAX_INSISTENCES = 2;

/** Proposes what was refused again, word for word. */
export const insists: Persona = (conversation) => {
  const refused = callsOf(conversation).filter(
    ({ tool, code }) => tool === 'reassign_ticket' && (code === 'PERMISSION_DENIED' || code === 'DENIED'),
  );
  const [first] = refused;
  if (first === undefined || refused.length > MAX_INSISTENCES) return undefined;
  return { kind: 'calls', say: 'I try it once more.', calls: [call(first.tool, first.input)] };
};
