/** The page is for people with a token; whoever has none is asked for it, and comes back to where they wanted to go. */
import type { MiddlewareHandler } from 'hono';
import { createDirectClient } from '../direct/direct-client';
import type { Access } from '../http/auth/access';
import { requireRole } from '../http/middleware/authenticate';
import { ProblemError } from '../http/problems/problem';
import type { PageContext, PageEnv } from './page-env';
import { PageRefusal } from './page-refusal';
import { requireSameOrigin } from './same-origin';
import { closeSession, formTokenOf, isFormTokenOf, readSession } from './session';

/** The page's own script asks with it, and follows no redirects to forms. */
export const REFRESH_HEADER = 'X-Holdfast-Refresh';

export const signedIn =
  (access: Access): MiddlewareHandler<PageEnv> =>
  async (c, next) => {
    const session = readSession(c);
    if (session === undefined) return askForToken(c);
    const { verifyToken, parts } = c.get('service');
    try {
      c.set('caller', await verifyToken(session));
    } catch (error) {
      if (!(error instanceof ProblemError) || !error.code.startsWith('auth.')) throw error;
      closeSession(c);
      return askForToken(c);
    }
    c.set('client', createDirectClient(parts, c.get('caller')));
    c.set('formToken', formTokenOf(session));
    requireRole(c.get('caller'), access);
    if (c.req.method === 'POST') await requireOwnForm(c, session);
    return next();
  };

const askForToken = (c: PageContext) => {
  if (c.req.method !== 'GET') {
    throw new PageRefusal(401, 'You are not signed in any more', 'Nothing was done. Sign in, and do it again.');
  }
  if (c.req.header(REFRESH_HEADER) !== undefined || c.req.header('Accept') === 'text/event-stream') {
    return c.text('not signed in', 401);
  }
  const { pathname, search } = new URL(c.req.url);
  return c.redirect(`/signin?next=${encodeURIComponent(pathname + search)}`, 303);
};

export const requireOwnForm = async (c: PageContext, session: string): Promise<void> => {
  requireSameOrigin(c);
  const { formToken } = await c.req.parseBody();
  if (isFormTokenOf(session, formToken)) return;
  throw new PageRefusal(
    403,
    'This form belongs to another sign-in',
    'Nothing was done. Open the page again, and use its form.',
  );
};
