/** Many runs that each wait for a person, of a tenant of their own. */
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchStack } from '../stack/bench-stack';
import { countRows } from '../stack/count-rows';
import { goalOf } from './script';

/** More at once only wait for one another. */
const MAX_UNDER_WAY = 24;
const POLL_MS = 50;
const PATIENCE_MS = 120_000;
const PROGRESS_EVERY = 100;

/** Resolves when each has its open wait. Throws where none has come to its wait for two minutes. */
export const parkRuns = async (stack: BenchStack, tenant: string, count: number): Promise<void> => {
  let [started, parked, movedAt] = [0, 0, performance.now()];
  while (parked < count) {
    const more = Math.min(count - started, parked + MAX_UNDER_WAY - started);
    await Promise.all(Array.from({ length: Math.max(more, 0) }, () => startOne(stack, tenant)));
    started += Math.max(more, 0);
    const waits = await countRows(stack, `select count(*) from waits where state = 'OPEN' and tenant = $1`, [tenant]);
    if (Math.floor(waits / PROGRESS_EVERY) > Math.floor(parked / PROGRESS_EVERY)) stack.say(`${String(waits)} parked`);
    if (waits > parked) movedAt = performance.now();
    if (performance.now() - movedAt > PATIENCE_MS) throw new Error(`${String(waits)} runs of ${String(count)} wait`);
    parked = waits;
    if (parked < count) await delay(POLL_MS);
  }
};

const startOne = async ({ runs }: BenchStack, tenant: string): Promise<void> => {
  await runs.start({ tenant, subject: 'bench' }, { agent: 'approved', goal: goalOf('store_item') });
};
