/** Signing in and out. Nothing of a token is in an address, a log, or what is said about it. */
import type { Hono } from 'hono';
import { ProblemError } from '../../http/problems/problem';
import type { PageContext, PageEnv } from '../page-env';
import { requireSameOrigin } from '../same-origin';
import { closeSession, MAX_TOKEN_LENGTH, openSession } from '../session';
import { renderSignIn } from './signin-page';

const START = '/inbox';
/** Our own pages alone: a link must not lead somewhere else through us. */
const OWN = /^\/(?:inbox|summary|waits|runs)(?:\/[\w.-]+)*(?:\?[\w=&.:%+~-]*)?$/;

const toNext = (given: unknown): string => (typeof given === 'string' && OWN.test(given) ? given : START);

export const addSignInRoutes = (pages: Hono<PageEnv>): void => {
  pages.get('/signin', (c) => c.html(renderSignIn({ next: toNext(c.req.query('next')) })));
  pages.post('/signin', signIn);
  pages.post('/signout', (c) => {
    requireSameOrigin(c);
    closeSession(c);
    return c.redirect('/signin', 303);
  });
};

const signIn = async (c: PageContext) => {
  requireSameOrigin(c);
  const body = await c.req.parseBody();
  const next = toNext(body['next']);
  const token = typeof body['token'] === 'string' ? body['token'].trim() : '';
  if (token === '') return refuse(c, next, 'Give your token.');
  if (token.length > MAX_TOKEN_LENGTH) {
    return refuse(c, next, `It has ${token.length} characters; a browser keeps at most ${MAX_TOKEN_LENGTH}.`);
  }
  try {
    const { expiresAt } = await c.get('service').verifyToken(token);
    openSession(c, token, expiresAt);
  } catch (error) {
    if (!(error instanceof ProblemError) || !error.code.startsWith('auth.')) throw error;
    return refuse(c, next, explain(error));
  }
  return c.redirect(next, 303);
};

const refuse = (c: PageContext, next: string, problem: string) => c.html(renderSignIn({ next, problem }), 401);

const explain = ({ code }: ProblemError): string =>
  code === 'auth.expired'
    ? 'This token has expired. Get a new one.'
    : 'This token is not accepted. Check that it is whole, and of the issuer that this service trusts.';
