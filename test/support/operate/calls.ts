/** Calls that several files propose. */

/** Of the seeded T100, as it stands at first. */
export const REASSIGN = {
  tool: 'reassign_ticket',
  args: { ticket: 'T100', team: 'payments-oncall' },
  expectedVersion: '3',
} as const;
