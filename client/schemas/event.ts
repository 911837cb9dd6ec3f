/** The journal, and what a live viewer is told beside it. */
import { z } from 'zod';
import { COUNT, JSON_OBJECT, RUN_ID, TIME } from './common';
import { RUN } from './run';

export const EVENT = z
  .object({
    position: z.int().positive(),
    kind: z.enum(['machine', 'outside']),
    seq: COUNT.optional().meta({ description: "The machine's number, for machine events." }),
    eventId: z.string().optional().meta({ description: 'For outside events.' }),
    recordedAt: TIME,
    body: JSON_OBJECT,
  })
  .meta({ id: 'Event' });
export type EventView = z.output<typeof EVENT>;

export const EVENT_QUERY = z.object({
  after: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).default(0).meta({
    description: 'Only lines after this position.',
  }),
  limit: z.coerce.number().int().min(1).max(500).default(100),
});
export type EventQuery = Partial<z.output<typeof EVENT_QUERY>>;

export const EVENT_PAGE = z
  .object({
    events: z.array(EVENT),
    after: COUNT.meta({ description: 'Give it as `after` for the next page.' }),
    isLast: z.boolean().meta({ description: 'Nothing was recorded behind this page when it was read.' }),
  })
  .meta({ id: 'EventPage' });
export type EventPage = z.output<typeof EVENT_PAGE>;

const OF_ATTEMPT = { run: RUN_ID, step: z.int().positive(), attempt: z.int().positive() };

export const RESET = z.object(OF_ATTEMPT).meta({ id: 'TextReset' });
export const TEXT = z
  .object({
    ...OF_ATTEMPT,
    index: COUNT.meta({ description: 'Of this piece within the attempt; a missing one was lost and stays so.' }),
    text: z.string(),
  })
  .meta({ id: 'TextPiece' });
export const RESYNC = z
  .object({ snapshot: RUN.meta({ description: 'Events follow that come after its `position`.' }) })
  .meta({ id: 'Resync' });
export const END = z.object({ terminal: z.string(), reason: z.string() }).meta({ id: 'EndOfStream' });

/** What a follower of a run gets, in order. */
export type FeedItem =
  | { readonly kind: 'event'; readonly event: EventView }
  /** Whatever text has been shown of an earlier attempt of this step is void. */
  | ({ readonly kind: 'reset' } & z.output<typeof RESET>)
  | ({ readonly kind: 'text' } & z.output<typeof TEXT>)
  /** The position asked for is not in the journal any more (or never was): begin again from this snapshot. */
  | ({ readonly kind: 'resync' } & z.output<typeof RESYNC>)
  /** The run has ended, and everything recorded until now has been told. */
  | ({ readonly kind: 'end' } & z.output<typeof END>);
