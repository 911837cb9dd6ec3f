/** Many viewers that follow one run from its first event to its end, and what the service's memory is meanwhile. */
import { setTimeout as delay } from 'node:timers/promises';
import type { HoldfastClient } from '../../client';
import { rssMbOf } from '../stack/process-cost';
import type { ServiceProcess } from '../stack/processes';

export interface ViewersReport {
  readonly count: number;
  readonly rssBeforeMb: number;
  /** The highest while all of them were open. */
  readonly rssOpenMb: number;
  /** Some seconds after the last one had left. */
  readonly rssClosedMb: number;
  /** Lines of the journal, over all viewers. */
  readonly deliveredEvents: number;
}

export interface Following {
  readonly service: ServiceProcess;
  readonly client: HoldfastClient;
  readonly run: string;
  readonly count: number;
  /** Called once all of them are there: now the run may begin. */
  readonly begin: () => Promise<void>;
}

const REST_MS = 5_000;
const LOOK_EVERY_MS = 100;
const PATIENCE_MS = 60_000;

/** Throws where a viewer did not get what the others got, or not the end. */
export const followTogether = async (following: Following): Promise<ViewersReport> => {
  const { service, client, run, count, begin } = following;
  const { pid } = service.process;
  const rssBeforeMb = rssMbOf(pid);
  let [rssOpenMb, isOver] = [0, false];
  const viewers = Promise.all(Array.from({ length: count }, () => countEvents(client, run))).finally(() => {
    isOver = true;
  });
  // Awaited below, after those that may throw before.
  viewers.catch(() => undefined);
  await untilOpen(service.url, count);
  await begin();
  while (!isOver) {
    rssOpenMb = Math.max(rssOpenMb, rssMbOf(pid));
    await delay(LOOK_EVERY_MS);
  }
  const delivered = await viewers;
  if (new Set(delivered).size !== 1) throw new Error(`viewers got ${delivered.join(', ')} events, expected the same`);
  await delay(REST_MS);
  return {
    count,
    rssBeforeMb,
    rssOpenMb,
    rssClosedMb: rssMbOf(pid),
    deliveredEvents: delivered.reduce((sum, events) => sum + events, 0),
  };
};

const countEvents = async (client: HoldfastClient, run: string): Promise<number> => {
  let events = 0;
  for await (const item of client.follow(run)) {
    if (item.kind === 'event') events += 1;
    if (item.kind === 'end') return events;
  }
  throw new Error(`${run}: the stream ended before the run`);
};

const untilOpen = async (url: string, count: number): Promise<void> => {
  const end = performance.now() + PATIENCE_MS;
  while (performance.now() < end) {
    const text = await (await fetch(`${url}/metrics`)).text();
    if (Number(/^holdfast_http_followers (\d+)$/m.exec(text)?.[1]) === count) return;
    await delay(LOOK_EVERY_MS);
  }
  throw new Error(`the service never had ${String(count)} viewers`);
};
