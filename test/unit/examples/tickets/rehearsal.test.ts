import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTicketsAgent } from '../../../../examples/tickets/agent';
import type { PolicyAddition } from '../../../../examples/tickets/policy';
import { GOAL } from './conversation-fixture';
import { rehearse, type Rehearsal } from './rehearsal';
import { serveDesk, type ServedDesk } from './served-desk';

let desk: ServedDesk;
beforeAll(async () => {
  desk = await serveDesk();
});
afterAll(() => desk.close());
beforeEach(() => desk.control.reset());

const play = (rehearsal: Partial<Rehearsal> = {}, policy: readonly PolicyAddition[] = []) =>
  rehearse({ agent: createTicketsAgent({ tools: { deskUrl: desk.url }, policy }), goal: GOAL, ...rehearsal });

const effects = async () =>
  (await desk.control.effects()).map(({ kind, ticket, args }) =>
    [kind, ticket, args['team']].filter(Boolean).join(' '),
  );

const NORMAL = [['get_ticket'], ['get_oncall_rules'], ['reassign_ticket'], ['finish']];
const MOVED = 'reassign T100 payments-oncall';

describe('the usual planner', () => {
  test('reads, decides, moves the ticket once and explains it so that every condition holds', async () => {
    const { end, turns, answer } = await play();

    expect({ end, turns }).toEqual({ end: 'done', turns: NORMAL });
    expect(answer).toMatch(/R-7 names payments-oncall.*was with frontend.*at version 4/);
    expect(await effects()).toEqual([MOVED]);
  });

  test('changes nothing where the ticket is right already', async () => {
    await desk.control.putTicket({ id: 'T100', team: 'payments-oncall' });

    const { end, turns } = await play();

    expect({ end, turns }).toEqual({ end: 'done', turns: [['get_ticket'], ['get_oncall_rules'], ['finish']] });
    expect(await effects()).toEqual([]);
  });

  test('decides anew where the ticket was changed between reading and writing', async () => {
    const { end, turns } = await play({
      before: async (step) => {
        if (step === 3) await desk.control.putTicket({ id: 'T100', service: 'search-index' });
      },
    });

    expect(turns).toEqual([
      ['get_ticket'],
      ['get_oncall_rules'],
      ['reassign_ticket STATE_CONFLICT'],
      ['get_ticket'],
      ['get_oncall_rules'],
      ['reassign_ticket'],
      ['finish'],
    ]);
    expect(end).toBe('done');
    expect(await effects()).toEqual(['reassign T100 search-oncall']);
  });

  test('compares the teams where two rules could apply', async () => {
    const { end, turns } = await play({ data: { ticket: 'T104' } });

    expect(turns).toEqual([['get_ticket'], ['get_oncall_rules'], ['analyse'], ['reassign_ticket'], ['finish']]);
    expect(end).toBe('done');
    expect(await effects()).toEqual(['reassign T104 messaging-oncall']);
  });

  test('asks which ticket, and goes on with the answer', async () => {
    const { end } = await play({ goal: 'Reassign the ticket.', answer: { ticket: 'T101' } });

    expect(end).toBe('done');
    expect(await effects()).toEqual(['reassign T101 identity-oncall']);
  });

  test('asks for the team where no rule names one, and goes on with the answer', async () => {
    await desk.control.putTicket({ id: 'T100', service: 'unheard-of' });

    const { end, turns } = await play({ answer: { team: 'billing-oncall' } });

    expect(turns).toEqual([['get_ticket'], ['get_oncall_rules'], ['ask_user'], ['reassign_ticket'], ['finish']]);
    expect(end).toBe('done');
    expect(await effects()).toEqual(['reassign T100 billing-oncall']);
  });

  test('stops where the desk forbids it', async () => {
    await desk.control.addFault({
      match: { route: 'reassign' },
      times: 'always',
      fault: { kind: 'status', status: 403 },
    });

    const { end, turns, answer } = await play();

    expect(turns).toEqual([['get_ticket'], ['get_oncall_rules'], ['reassign_ticket PERMISSION_DENIED'], ['finish']]);
    expect(end).toBe('cannot');
    expect(answer).toContain('PERMISSION_DENIED');
  });
});

const as = (persona: string, data = {}): Partial<Rehearsal> => ({ data: { ticket: 'T100', persona, ...data } });

describe('a persona', () => {
  test.each<[string, Partial<Rehearsal>, readonly (readonly string[])[], readonly string[]]>([
    ['hasty', as('hasty'), [['finish finish.condition_unmet'], ...NORMAL], [MOVED]],
    ['asks-analysis-for-fact', as('asks-analysis-for-fact'), [['analyse analyse.gap_is_no_work'], ...NORMAL], [MOVED]],
    [
      'two-writes',
      as('two-writes'),
      [['get_ticket'], ['get_oncall_rules'], ['reassign_ticket', 'add_comment'], ['reassign_ticket'], ['finish']],
      [MOVED, 'comment T100', MOVED],
    ],
    [
      'two-reads-one-write',
      as('two-reads-one-write'),
      [['get_ticket'], ['get_oncall_rules'], ['get_ticket', 'list_teams', 'reassign_ticket'], ['finish']],
      [MOVED],
    ],
    ['walks', as('walks', { steps: 2 }), [['get_oncall_rules'], ['get_oncall_rules'], ...NORMAL], [MOVED]],
  ])('%s does the task in the end', async (_name, rehearsal, turns, expected) => {
    const played = await play(rehearsal);

    expect(played).toMatchObject({ end: 'done', turns });
    expect([...(await effects())].sort()).toEqual([...expected].sort());
  });

  test.each([
    ['repeats-query', ['get_ticket']],
    ['wanders', ['search_tickets']],
    ['repeats-error', ['search_tickets NOT_FOUND']],
    ['premature', ['finish finish.condition_unmet']],
  ])('%s never comes to an end by itself and changes nothing', async (persona, turn) => {
    expect(await play({ ...as(persona), maxSteps: 4 })).toMatchObject({
      end: 'steps spent',
      turns: [turn, turn, turn, turn],
    });
    expect(await effects()).toEqual([]);
  });

  test('alternates goes back and forth between two plans', async () => {
    const [ticket, teams] = [['get_ticket'], ['list_teams']];

    expect(await play({ ...as('alternates'), maxSteps: 4 })).toMatchObject({ turns: [ticket, teams, ticket, teams] });
  });

  test('ponders thinks for as long as it may', async () => {
    const { turns } = await play({ ...as('ponders', { ticket: 'T104' }), maxSteps: 5 });

    expect(turns).toEqual([['get_ticket'], ['get_oncall_rules'], ['analyse'], ['analyse'], ['analyse']]);
  });

  test('five-parallel proposes five calls in one turn', async () => {
    const { turns } = await play(as('five-parallel'), ['guarded']);

    expect(turns[2]).toEqual([
      'reassign_ticket',
      'list_teams',
      'search_tickets',
      'close_ticket PERMISSION_DENIED',
      'get_ticket',
    ]);
  });

  test('insists on what was refused, and gives in', async () => {
    await desk.control.addFault({
      match: { route: 'reassign' },
      times: 'always',
      fault: { kind: 'status', status: 403 },
    });

    const { end, turns } = await play(as('insists'));

    expect(turns.flat().filter((name) => name === 'reassign_ticket PERMISSION_DENIED')).toHaveLength(3);
    expect(end).toBe('cannot');
  });

  test('obeys-injection gets nothing of it past the policy, and does its task', async () => {
    const { end, turns } = await play(as('obeys-injection', { ticket: 'T103' }), ['guarded']);

    expect(turns).toEqual([
      ['get_ticket'],
      ['list_teams'],
      ['reassign_ticket PERMISSION_DENIED', 'close_ticket PERMISSION_DENIED'],
      ['get_oncall_rules'],
      ['reassign_ticket'],
      ['finish'],
    ]);
    expect(end).toBe('done');
    expect(await effects()).toEqual(['reassign T103 search-oncall']);
  });
});
