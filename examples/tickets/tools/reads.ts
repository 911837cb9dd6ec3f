/** What the agent may look at. All are short, so that they run without an activity of their own. */
import { z } from 'zod';
import { defineTool, ref, ToolError, type ExecuteResult, type Tool } from '../../../index';
import { parseReply, type DeskApi, type DeskReply } from './desk-api';
import { ruleListShape, ruleShape, teamListShape, ticketListShape, ticketShape, type DeskTicket } from './desk-shapes';
import { ruleFacts, serviceObject, teamFact, ticketFacts, ticketObject } from './facts';

const READ_TIMEOUT_MS = 1_000;
const MAX_LISTED = 20;

const READ = { effect: 'read', risk: 'low', timeoutMs: READ_TIMEOUT_MS } as const;

export const createReadTools = (desk: DeskApi): readonly Tool[] => [
  getTicket(desk),
  searchTickets(desk),
  getOncallRules(desk),
  listTeams(desk),
];

const done = <Output>(output: Output, { text }: DeskReply): ExecuteResult<Output> => ({
  kind: 'done',
  output,
  raw: text,
});

const getTicket = (desk: DeskApi): Tool =>
  defineTool({
    ...READ,
    name: 'get_ticket',
    description: 'Reads one ticket: what it says, its service, the team that has it, its status and its version.',
    inputSchema: z.strictObject({ ticket: ref('ticket').describe("The ticket's id, for instance T100.") }),
    outputSchema: ticketShape,
    execute: async ({ ticket }, { signal }) => {
      const reply = await desk.send(`/tickets/${encodeURIComponent(ticket)}`, { signal });
      return done(parseReply(ticketShape, reply), reply);
    },
    facts: ticketFacts,
  });

const searchTickets = (desk: DeskApi): Tool =>
  defineTool({
    ...READ,
    name: 'search_tickets',
    description:
      "Finds tickets by words in their title or text, or by service. With expect 'one' the words are meant to name a " +
      'single ticket: where several match, the person who asked is asked which one is meant.',
    inputSchema: z.strictObject({
      text: z.string().min(1).max(200).optional().describe('Each of these words has to occur.'),
      service: z.string().min(1).max(100).optional(),
      expect: z.enum(['one', 'list']).default('list'),
    }),
    outputSchema: z.object({ tickets: z.array(ticketShape.omit({ body: true, comments: true })), total: z.int() }),
    execute: async ({ text, service, expect }, { signal }) => {
      const query = new URLSearchParams({
        ...(text === undefined ? {} : { text }),
        ...(service === undefined ? {} : { service }),
      });
      const reply = await desk.send(`/tickets?${query.toString()}`, { signal });
      const { tickets } = parseReply(ticketListShape, reply);
      if (expect === 'one') requireOne(tickets);
      return done({ tickets: tickets.slice(0, MAX_LISTED), total: tickets.length }, reply);
    },
    facts: ({ tickets }) => tickets.flatMap(ticketFacts),
  });

const requireOne = (tickets: readonly DeskTicket[]): void => {
  if (tickets.length === 0) throw new ToolError('NOT_FOUND', 'no ticket has all of these words');
  if (tickets.length === 1) return;
  const matches = tickets.map(({ id, title, service, status }) => ({
    object: ticketObject(id),
    label: `${title} (${service}, ${status})`,
  }));
  throw new ToolError('OBJECT_AMBIGUOUS', `${String(tickets.length)} tickets have all of these words`, { matches });
};

const getOncallRules = (desk: DeskApi): Tool =>
  defineTool({
    ...READ,
    name: 'get_oncall_rules',
    description: 'Reads the on-call rules of a service: which team its tickets belong to, and when.',
    inputSchema: z.strictObject({
      service: z.string().min(1).max(100).describe('As the ticket names it, for instance payments-checkout.'),
    }),
    outputSchema: z.object({ rules: z.array(ruleShape) }),
    target: ({ service }) => ({ object: serviceObject(service) }),
    execute: async ({ service }, { signal }) => {
      const reply = await desk.send(`/rules/oncall?service=${encodeURIComponent(service)}`, { signal });
      return done(parseReply(ruleListShape, reply), reply);
    },
    facts: ({ rules }, { service }) => ruleFacts(service, rules),
  });

const listTeams = (desk: DeskApi): Tool =>
  defineTool({
    ...READ,
    name: 'list_teams',
    description: 'Lists the teams that a ticket can be given to.',
    inputSchema: z.strictObject({}),
    outputSchema: teamListShape,
    execute: async (_input, { signal }) => {
      const reply = await desk.send('/teams', { signal });
      return done(parseReply(teamListShape, reply), reply);
    },
    facts: ({ teams }) => teams.map(({ id }) => teamFact(id)),
  });
