/** What the agent may do to a ticket. */
import { z } from 'zod';
import { ref, type Tool } from '../../../index';
import { defineDeskWrite, type WriteOptions } from './desk-write';
import type { DeskEffect } from './desk-shapes';
import type { Written } from './facts';

export const createWriteTools = (options: WriteOptions): readonly Tool[] => [
  reassignTicket(options),
  addComment(options),
  closeTicket(options),
];

const ticketInput = { ticket: ref('ticket').describe("The ticket's id, for instance T100.") };
const writtenOutput = { ticket: z.string(), version: z.int().positive(), effect: z.string() };

const toWritten = ({ id, ticket, ticketVersion }: DeskEffect): Written & { readonly effect: string } => ({
  ticket,
  version: ticketVersion,
  effect: id,
});

const reassignTicket = (options: WriteOptions): Tool =>
  defineDeskWrite(options, {
    name: 'reassign_ticket',
    description:
      'Gives a ticket to another team. It is refused where the ticket has changed since it was read: read it first.',
    risk: 'medium',
    inputSchema: z.strictObject({
      ...ticketInput,
      team: ref('team').describe("The team's id, as a rule or list_teams names it."),
      reason: z.string().min(1).max(500).optional().describe('For the people of that team.'),
    }),
    outputSchema: z.object({ ...writtenOutput, team: z.string().min(1) }),
    route: 'reassign',
    toBody: ({ team, reason }) => ({ team, ...(reason === undefined ? {} : { reason }) }),
    toOutput: (effect) => ({ ...toWritten(effect), team: effect.args['team'] ?? '' }),
    toFields: ({ team }) => ({ team }),
    restsOnVersion: true,
  });

const addComment = (options: WriteOptions): Tool =>
  defineDeskWrite(options, {
    name: 'add_comment',
    description: 'Adds a comment to a ticket, for everyone who works on it.',
    risk: 'low',
    inputSchema: z.strictObject({ ...ticketInput, text: z.string().min(1).max(4_000) }),
    outputSchema: z.object(writtenOutput),
    route: 'comments',
    toBody: ({ text }) => ({ text }),
    toOutput: toWritten,
    toFields: () => ({}),
    restsOnVersion: false,
  });

const closeTicket = (options: WriteOptions): Tool =>
  defineDeskWrite(options, {
    name: 'close_ticket',
    description: 'Closes a ticket for good: nobody can change it afterwards.',
    risk: 'high',
    inputSchema: z.strictObject(ticketInput),
    outputSchema: z.object({ ...writtenOutput, status: z.literal('closed') }),
    route: 'close',
    toBody: () => ({}),
    toOutput: (effect) => ({ ...toWritten(effect), status: 'closed' as const }),
    toFields: () => ({ status: 'closed' }),
    restsOnVersion: true,
  });
