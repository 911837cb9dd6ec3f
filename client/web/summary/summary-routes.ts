/** The summary of a period of whole days, in UTC. */
import type { Hono } from 'hono';
import { z } from 'zod';
import { HoldfastError } from '../../errors';
import { given, toIso } from '../../views/time';
import type { PageEnv } from '../page-env';
import { readQuery } from '../read-query';
import { signedIn } from '../signed-in';
import { renderSummary } from './summary-page';

const DAY_MS = 24 * 3_600_000;
const DEFAULT_DAYS = 30;

const QUERY = z.object({
  from: z.iso.date().optional(),
  to: z.iso.date().optional(),
  agent: z.string().max(100).optional(),
});

export const addSummaryPageRoute = (pages: Hono<PageEnv>): void => {
  pages.get('/summary', signedIn('read'), async (c) => {
    const { agent, ...days } = readQuery(QUERY, c.req.query());
    const to = days.to ?? dayOf(Date.now());
    const from = days.from ?? dayOf(Date.parse(to) - (DEFAULT_DAYS - 1) * DAY_MS);
    const client = c.get('client');
    const asked = { from, to, ...given({ agent }) };
    try {
      const period = { from: toIso(Date.parse(from)), to: toIso(Date.parse(to) + DAY_MS) };
      const summary = await client.summary({ ...period, ...given({ agent }) });
      return await c.html(renderSummary(c, { summary, asked }));
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.code !== 'input.invalid') throw error;
      const problem = 'It has to begin before it ends, by at most 400 days. Shown are the last 30 days.';
      return c.html(renderSummary(c, { summary: await client.summary(), asked, problem }), 400);
    }
  });
};

const dayOf = (ms: number): string => toIso(ms).slice(0, 10);
