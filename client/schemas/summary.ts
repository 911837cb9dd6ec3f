/** What the runs of a period add up to. Each figure says what it counts. */
import { z } from 'zod';
import type { TERMINALS } from '../../workflows/machine/states';
import { AGENT_NAME, COUNT, TIME } from './common';

const RATE = z.number().min(0).max(1).nullable();

export const SUMMARY_QUERY = z.object({
  from: TIME.optional().meta({ description: '30 days before `to` when absent.' }),
  to: TIME.optional().meta({ description: 'Now when absent.' }),
  agent: AGENT_NAME.optional(),
});
export type SummaryQuery = z.input<typeof SUMMARY_QUERY>;

export const SUMMARY = z
  .object({
    from: TIME,
    to: TIME,
    agent: z.string().optional(),
    started: COUNT.meta({ description: 'Runs that were created in the period; all else is about these.' }),
    active: COUNT.meta({ description: 'Of them, those that have not ended.' }),
    ended: z.object({
      SUCCEEDED: COUNT,
      FAILED: COUNT,
      BUDGET_EXHAUSTED: COUNT,
      EXPIRED: COUNT,
      CANCELLED: COUNT,
      CANCEL_UNKNOWN: COUNT,
      HANDED_OFF: COUNT,
    } satisfies Record<(typeof TERMINALS)[number], typeof COUNT>),
    completionRate: RATE.meta({ description: 'SUCCEEDED of all that ended; null where none has ended.' }),
    finishProposals: COUNT.meta({ description: 'How often a model said `finish(done)` and records were asked.' }),
    prematureFinishRate: RATE.meta({
      description:
        'Of the runs in which a model said `finish(done)`, those in which records did not bear it out at least once.',
    }),
    noProgressStops: COUNT.meta({ description: 'Runs that a loop rule ended or handed over.' }),
    corrections: COUNT.meta({ description: 'Runs that were given a correction step by a loop rule.' }),
    costMicros: COUNT.meta({ description: 'Of all these runs, failed and active ones included.' }),
    costMicrosPerQualifiedTask: z
      .number()
      .nonnegative()
      .nullable()
      .meta({ description: 'That cost by the number of runs that SUCCEEDED; null where none has.' }),
    userMs: COUNT.meta({ description: 'Of ended runs: time in WAITING_USER.' }),
    systemMs: COUNT.meta({ description: 'Of ended runs: all other time from creation to end.' }),
  })
  .meta({ id: 'Summary' });
export type SummaryView = z.output<typeof SUMMARY>;
