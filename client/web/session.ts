/**
 * Who is signed in: the same token as the API's, in a cookie that no script can read. Nothing of it is kept in the service, so
 * every instance knows every session, and a restart ends none.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import type { CookieOptions } from 'hono/utils/cookie';
import type { PageEnv } from './page-env';

const NAME = 'holdfast_session';
/** Browsers drop larger cookies without a word. */
export const MAX_TOKEN_LENGTH = 3_900;

/** With TLS the name has the prefix `__Host-`: no other host, and no page without TLS, can set it. */
const optionsOf = (isSecure: boolean): CookieOptions => ({
  path: '/',
  httpOnly: true,
  sameSite: 'Lax',
  ...(isSecure ? { secure: true, prefix: 'host' as const } : {}),
});

export const readSession = (c: Context<PageEnv>): string | undefined => {
  const { isPageSecure } = c.get('service');
  return isPageSecure ? getCookie(c, NAME, 'host') : getCookie(c, NAME);
};

/** Ends when the token does. */
export const openSession = (c: Context<PageEnv>, token: string, expiresAt: number): void => {
  const maxAge = Math.min(Math.floor((expiresAt - Date.now()) / 1000), MAX_AGE_SECONDS);
  setCookie(c, NAME, token, { ...optionsOf(c.get('service').isPageSecure), maxAge });
};

const MAX_AGE_SECONDS = 30 * 24 * 3600;

export const closeSession = (c: Context<PageEnv>): void => {
  deleteCookie(c, NAME, optionsOf(c.get('service').isPageSecure));
};

/** Forms bring it back. Whoever does not have the token of the session cannot make it. */
export const formTokenOf = (session: string): string =>
  createHmac('sha256', session).update('holdfast page form').digest('base64url');

export const isFormTokenOf = (session: string, given: unknown): boolean => {
  if (typeof given !== 'string') return false;
  const expected = Buffer.from(formTokenOf(session));
  const got = Buffer.from(given);
  return got.length === expected.length && timingSafeEqual(got, expected);
};
