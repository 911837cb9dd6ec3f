/** The inbox, one wait, and what is answered to it. */
import type { Hono } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { isAllowed } from '../../http/auth/access';
import { limitRate } from '../../http/middleware/limit-rate';
import type { Service } from '../../http/service';
import { WAIT_QUERY } from '../../schemas/wait';
import type { PageContext, PageEnv } from '../page-env';
import { readQuery } from '../read-query';
import { signedIn } from '../signed-in';
import { given } from '../../views/time';
import { renderInbox } from './inbox-page';
import { takeAnswer } from './take-answer';
import { renderWait, type WaitPageProps } from './wait-page';

const QUERY = WAIT_QUERY.pick({ kind: true, cursor: true });

export const addWaitPageRoutes = (pages: Hono<PageEnv>, { limits }: Service): void => {
  pages.get('/inbox', signedIn('read'), async (c) => {
    const { kind, cursor } = readQuery(QUERY, c.req.query());
    const page = await c.get('client').waits({ limit: 50, ...given({ kind, cursor }) });
    return c.html(renderInbox(c, { ...page, ...given({ kind }), nowMs: Date.now() }));
  });
  pages.get('/waits/:wait', signedIn('read'), async (c) => {
    const wait = await c.get('client').wait(c.req.param('wait'));
    const isJustAnswered = c.req.query('done') !== undefined;
    return show(c, { wait, isJustAnswered }, 200);
  });
  pages.post(
    '/waits/:wait',
    signedIn('respond'),
    limitRate({
      perMinute: limits.responsesPerMinute,
      keyOf: (c) => JSON.stringify([c.get('caller').tenant, c.get('caller').subject]),
    }),
    async (c) => {
      const client = c.get('client');
      const wait = await client.wait(c.req.param('wait'));
      const taken = await takeAnswer(client, wait, await c.req.parseBody({ all: true }));
      if (taken.kind === 'taken') return c.redirect(`/waits/${wait.wait}?done`, 303);
      // Read again: what refused it may be what it shows now.
      const now = await client.wait(wait.wait);
      return show(c, { wait: now, attempted: taken.attempted }, taken.status);
    },
  );
};

const show = (c: PageContext, props: Omit<WaitPageProps, 'mayAnswer'>, status: number) =>
  c.html(renderWait(c, { ...props, mayAnswer: isAllowed('respond', c.get('caller').roles) }), parseStatus(status));

const parseStatus = (status: number): ContentfulStatusCode => status as ContentfulStatusCode;
