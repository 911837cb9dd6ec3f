/** The requests of each workload. */
import { randomUUID } from 'node:crypto';
import type { Store } from '../../store/store';
import { parseTenantId } from '../../workflows/contract/ids';
import type { BenchStack } from '../stack/bench-stack';
import { tokenFor } from '../stack/tokens';
import { goalOf } from '../waiting/script';
import type { LoadRequest } from './http-load';

/** A page of the list is full of different ones. */
const DIFFERENT_RUNS = 200;

export const snapshotRequests = async (
  { store, tenant, token }: { readonly store: Store; readonly tenant: string; readonly token: string },
  count: number,
): Promise<readonly LoadRequest[]> => {
  const { rows } = await store.runs.list(parseTenantId(tenant), { limit: DIFFERENT_RUNS });
  return Array.from({ length: count }, (_, index) => ({
    path: `/v1/runs/${rows[index % rows.length]?.ref.run ?? ''}`,
    token,
  }));
};

/** The first page, as a person's list begins. */
export const listRequests = (token: string, count: number): readonly LoadRequest[] =>
  Array.from({ length: count }, () => ({ path: '/v1/runs', token }));

export const startRequests = (token: string, count: number): readonly LoadRequest[] =>
  Array.from({ length: count }, () => ({
    path: '/v1/runs',
    token,
    body: { agent: 'approved', goal: goalOf('store_item') },
  }));

const MAX_WAITS = 10_000;

/** One for each open wait, each of another subject: one may not answer so many in a minute. */
export const respondRequests = async (stack: BenchStack, tenant: string): Promise<readonly LoadRequest[]> => {
  const waits = await stack.store.waits.list(parseTenantId(tenant), { state: 'OPEN', limit: MAX_WAITS });
  return Promise.all(
    waits.map(async ({ id, ref }) => ({
      path: `/v1/runs/${ref.run}/responses`,
      token: await tokenFor(stack, { tenant, subject: randomUUID() }),
      body: { wait: id, response: { decision: 'approve' } },
    })),
  );
};
