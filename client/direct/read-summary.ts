/** The summary of a period for one caller's tenant. */
import { HoldfastError } from '../errors';
import { parseInput } from '../parse-input';
import { SUMMARY_QUERY, type SummaryQuery, type SummaryView } from '../schemas/summary';
import { toSummaryView } from '../views/summary-view';
import { given } from '../views/time';
import { parseTenantId } from '../../workflows/contract/ids';
import type { Scope } from './direct-client';

const DEFAULT_PERIOD_MS = 30 * 24 * 3_600_000;
const MAX_PERIOD_MS = 400 * 24 * 3_600_000;

export const readSummary = async ({ store, caller }: Scope, query: SummaryQuery): Promise<SummaryView> => {
  const asked = parseInput(SUMMARY_QUERY, query);
  const to = asked.to === undefined ? Date.now() : Date.parse(asked.to);
  const from = asked.from === undefined ? to - DEFAULT_PERIOD_MS : Date.parse(asked.from);
  if (from >= to || to - from > MAX_PERIOD_MS) {
    const message = `from: got ${new Date(from).toISOString()}, expected a time before \`to\`, by at most 400 days`;
    throw new HoldfastError('input.invalid', message, { field: 'from' });
  }
  const period = { from, to, ...given({ agent: asked.agent }) };
  return toSummaryView(period, await store.reader.summary(parseTenantId(caller.tenant), period));
};
