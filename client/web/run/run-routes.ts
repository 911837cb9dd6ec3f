/** One run: its page, its journal and artifacts, what is followed live, and its forms. */
import type { Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { z } from 'zod';
import { readRun } from '../../direct/read-run';
import { isAllowed } from '../../http/auth/access';
import { parseLastEventId, streamEvents } from '../../http/events/event-stream';
import { EVENT_QUERY } from '../../schemas/event';
import type { PageContext, PageEnv } from '../page-env';
import { readQuery } from '../read-query';
import { signedIn } from '../signed-in';
import { renderEvidence } from './evidence-page';
import { OUTCOMES, type FormOutcome } from './form-outcome';
import { renderJournal } from './journal-page';
import { loadRun } from './load-run';
import { ACTS, explainRefusal } from './run-actions';
import { renderRun } from './run-page';
import { readTextPart } from './text-part';

const JOURNAL_PAGE = 200;
const BEFORE = z.object({ before: z.coerce.number().int().min(2).max(2_147_000_000).optional() });
const OFFSET = z.object({ offset: z.coerce.number().int().min(0).max(2_147_000_000).default(0) });

export const addRunPageRoutes = (pages: Hono<PageEnv>): void => {
  pages.get('/runs/:run', signedIn('read'), (c) => {
    const outcome = OUTCOMES[c.req.query('done') ?? ''];
    return show(c, c.req.param('run'), { status: 200, ...(outcome === undefined ? {} : { outcome }) });
  });
  pages.get('/runs/:run/journal', signedIn('read'), async (c) => {
    const run = c.req.param('run');
    const { after } = readQuery(EVENT_QUERY.pick({ after: true }), c.req.query());
    const page = await c.get('client').events(run, { after, limit: JOURNAL_PAGE });
    return c.html(renderJournal(c, { run, ...page }));
  });
  pages.get('/runs/:run/artifacts/:hash', signedIn('read'), async (c) => {
    const { run, hash } = c.req.param();
    const { offset } = readQuery(OFFSET, c.req.query());
    const part = await readTextPart(c.get('client'), { run, hash, offset });
    return c.html(renderEvidence(c, { run, hash, part }));
  });
  pages.get('/runs/:run/live', signedIn('read'), (c) => follow(c, c.req.param('run')));
  for (const action of ['cancel', 'messages', 'resolutions'] as const) {
    pages.post(`/runs/:run/${action}`, signedIn('operate'), async (c) => {
      const { run } = c.req.param();
      try {
        return c.redirect(await ACTS[action](c, run), 303);
      } catch (error) {
        const refusal = explainRefusal(error);
        if (refusal === undefined) throw error;
        return show(c, run, refusal);
      }
    });
  }
};

interface Shown {
  readonly status: number;
  readonly outcome?: FormOutcome;
}

const show = async (c: PageContext, run: string, { status, outcome }: Shown) => {
  const { before } = readQuery(BEFORE, c.req.query());
  const shown = await loadRun(c, run, before);
  const page = renderRun(c, {
    shown,
    mayOperate: isAllowed('operate', c.get('caller').roles),
    ...(outcome === undefined ? {} : { outcome }),
  });
  return c.html(page, parseStatus(status));
};

const parseStatus = (status: number): ContentfulStatusCode => status as ContentfulStatusCode;

/** The same stream as the API's, for a browser that is signed in. */
const follow = async (c: PageContext, run: string): Promise<Response> => {
  const service = c.get('service');
  const caller = c.get('caller');
  const { after } = readQuery(EVENT_QUERY.pick({ after: true }), c.req.query());
  const id = c.req.header('Last-Event-ID');
  const reading = await readRun({ store: service.parts.store, caller }, run);
  return streamEvents(service, reading, {
    after: id === undefined ? after : parseLastEventId(id),
    expiresAt: caller.expiresAt,
    gone: c.req.raw.signal,
  });
};
