/** The list of runs, and the search in it. */
import type { Hono } from 'hono';
import { RUN_QUERY } from '../../schemas/run';
import { given } from '../../views/time';
import type { PageEnv } from '../page-env';
import { readQuery } from '../read-query';
import { signedIn } from '../signed-in';
import { renderRunList } from './list-page';

const PAGE_SIZE = 50;
const QUERY = RUN_QUERY.omit({ limit: true });

export const addRunListRoute = (pages: Hono<PageEnv>): void => {
  pages.get('/runs', signedIn('read'), async (c) => {
    const { cursor, ...members } = readQuery(QUERY, c.req.query());
    const asked = given(members);
    const page = await c.get('client').list({ limit: PAGE_SIZE, ...asked, ...given({ cursor }) });
    return c.html(renderRunList(c, { ...page, asked, isFirst: cursor === undefined, nowMs: Date.now() }));
  });
};
