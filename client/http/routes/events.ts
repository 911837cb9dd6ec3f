/** The journal: as pages, or followed as server-sent events; the `Accept` header says which. */
import { createRoute, type RouteHandler } from '@hono/zod-openapi';
import { z } from 'zod';
import { readRun } from '../../direct/read-run';
import { END, EVENT, EVENT_PAGE, EVENT_QUERY, RESET, RESYNC, TEXT } from '../../schemas/event';
import { parseLastEventId, streamEvents } from '../events/event-stream';
import { PROBLEM_RESPONSE, secured } from '../openapi';
import type { App, AppEnv } from '../service';
import { RUN_PARAM } from './runs';

const STREAM = `Frames: \`event\` (a line of the journal, its \`id\` is the position; data: Event), \`reset\` (text shown of
this step so far is void; data: TextReset), \`text\` (a piece of what the model writes; data: TextPiece), \`resync\` (the
position is not in the journal: begin again from the snapshot; data: Resync), \`end\` (the run has ended; data: EndOfStream).
Comments keep the connection alive. 204 where the run has ended and nothing is left to tell.`;

const GET = createRoute({
  method: 'get',
  path: '/v1/runs/{run}/events',
  operationId: 'getEvents',
  summary: 'Read or follow the journal of a run',
  ...secured('read'),
  request: {
    params: RUN_PARAM,
    query: EVENT_QUERY,
    headers: z.object({
      'last-event-id': z.string().max(40).optional().meta({ description: 'For a stream: go on after this event.' }),
    }),
  },
  responses: {
    200: {
      description: STREAM,
      content: {
        'application/json': { schema: EVENT_PAGE },
        'text/event-stream': { schema: z.union([EVENT, RESET, TEXT, RESYNC, END]) },
      },
    },
    204: { description: 'For a stream: the run has ended, and the client has all of it.' },
    ...PROBLEM_RESPONSE,
  },
});

const get: RouteHandler<typeof GET, AppEnv> = async (c) => {
  const { run } = c.req.valid('param');
  const query = c.req.valid('query');
  if (!wantsStream(c.req.header('Accept'))) return c.json(await c.get('client').events(run, query), 200);
  const service = c.get('service');
  const caller = c.get('caller');
  const id = c.req.valid('header')['last-event-id'];
  const after = id === undefined ? query.after : parseLastEventId(id);
  const reading = await readRun({ store: service.parts.store, caller }, run);
  return streamEvents(service, reading, { after, expiresAt: caller.expiresAt, gone: c.req.raw.signal });
};

const wantsStream = (accept: string | undefined): boolean => accept?.includes('text/event-stream') ?? false;

export const addEventRoutes = (app: App): void => {
  app.openapi(GET, get);
};
