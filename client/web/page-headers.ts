/** What a browser may do with a page: its own style sheet and scripts, its own forms, nothing else and nothing inline. */
import type { MiddlewareHandler } from 'hono';
import type { PageEnv } from './page-env';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const pageHeaders: MiddlewareHandler<PageEnv> = async (c, next) => {
  await next();
  c.res.headers.set('Content-Security-Policy', POLICY);
  // Not `no-referrer`: with it browsers send no origin with forms, by which those of other sites are told from our own.
  c.res.headers.set('Referrer-Policy', 'same-origin');
  if (!c.res.headers.has('Cache-Control')) c.res.headers.set('Cache-Control', 'no-store');
};
