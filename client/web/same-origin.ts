/**
 * Forms of other sites are refused: browsers say where a form comes from, in `Sec-Fetch-Site`, or in `Origin` where they are
 * older. What says nothing is refused as well. Each form brings a token of its session besides (session.ts).
 */
import type { PageContext } from './page-env';
import { PageRefusal } from './page-refusal';

export const requireSameOrigin = (c: PageContext): void => {
  if (isSameOrigin(c)) return;
  throw new PageRefusal(403, 'This form was not sent from this page', 'Open the page itself, and use its own form.');
};

const isSameOrigin = (c: PageContext): boolean => {
  const site = c.req.header('Sec-Fetch-Site');
  if (site !== undefined) return site === 'same-origin';
  const origin = c.req.header('Origin');
  // The host alone: where TLS ends before the service, it sees another scheme than the browser.
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === c.req.header('Host');
};
