/**
 * What the HTTP service costs: requests against the service as a process, and in turn against a bare end-point with one
 * `SELECT 1`; and the memory that viewers of one run take. No worker runs while requests are measured, so that the service
 * is measured and not the runs that it starts.
 */
import { z } from 'zod';
import type { WatchedProcess } from '../../cli/stack/watched-process';
import { goalOf } from '../core/script';
import type { BenchStack } from '../stack/bench-stack';
import { startHoldfastWorker, startService, type ServiceProcess } from '../stack/processes';
import { clientFor, tokenFor } from '../stack/tokens';
import { parkRuns } from '../waiting/park-runs';
import { fillRuns } from './fill-runs';
import { followTogether, type ViewersReport } from './follow-together';
import { runLoad } from './http-load';
import { measureLoad, type ServiceRow } from './measure-load';
import { listRequests, respondRequests, snapshotRequests, startRequests } from './requests';

export interface ServiceOptions {
  /** In the store, when lists are asked for. */
  readonly runs: number;
  /** Of each kind but respond, over all rounds. */
  readonly requests: number;
  /** Runs that wait for a person, each answered once. */
  readonly responses: number;
  readonly concurrency: number;
  readonly rounds: number;
  readonly viewers: number;
  /** What the run that is viewed reads, one after the other. */
  readonly reads: number;
}

export interface ServiceReport {
  readonly rows: readonly ServiceRow[];
  readonly viewers: ViewersReport;
}

const AGENTS = require.resolve('../waiting/agents');
const TENANT = 'bench';
const CALLER = { tenant: TENANT, subject: 'bench' };
const READY = z.object({ url: z.url() });

export const runServiceSuite = async (stack: BenchStack, options: ServiceOptions): Promise<ServiceReport> => {
  const { say, group, postgres, store } = stack;
  const service = await startService(stack, AGENTS);
  const { ready } = await group.startScript({
    name: 'bare-endpoint',
    script: require.resolve('./bare-endpoint'),
    args: [postgres.url],
  });
  const token = await tokenFor(stack, CALLER);
  say(`parking ${String(options.responses)} runs and filling the store to ${String(options.runs)}`);
  await prepareRuns(stack, options);
  const { requests, concurrency, rounds } = options;
  const snapshots = await snapshotRequests({ store, tenant: TENANT, token }, requests);
  const lists = listRequests(token, requests);
  const sides = { serviceUrl: service.url, bareUrl: READY.parse(ready).url, concurrency, rounds };

  say('warming up');
  const responds = await respondRequests(stack, TENANT);
  const warmUp = [...snapshots, ...lists, ...responds.slice(options.responses), ...startRequests(token, concurrency)];
  await runLoad({ baseUrl: sides.serviceUrl, concurrency }, warmUp);
  await runLoad(
    { baseUrl: sides.bareUrl, concurrency },
    warmUp.map(() => ({ path: '/' })),
  );
  say(`${String(options.viewers)} viewers of one run`);
  const viewers = await viewOneRun(stack, service, options);
  const rows: ServiceRow[] = [];
  for (const workload of [
    { name: 'snapshot', requests: snapshots },
    { name: 'list', requests: lists },
    { name: 'respond', requests: responds.slice(0, options.responses) },
    // Last: a relay looks after what no worker takes up.
    { name: 'start', requests: startRequests(token, requests) },
  ] as const) {
    say(`${workload.name}: ${String(workload.requests.length)} requests`);
    rows.push(await measureLoad(sides, workload));
  }
  return { rows, viewers };
};

const startWorker = (stack: BenchStack, name: string): Promise<WatchedProcess> =>
  startHoldfastWorker(stack, { name, agents: AGENTS });

/** Runs that wait, some more for the warm-up, one that has ended, and so many copies of it. */
const prepareRuns = async (
  stack: BenchStack,
  { responses, concurrency, runs: total }: ServiceOptions,
): Promise<void> => {
  const { runs, client } = stack;
  const worker = await startWorker(stack, 'worker-1');
  await parkRuns(stack, TENANT, responses + concurrency);
  const { ref } = await runs.start(CALLER, { agent: 'reader', goal: goalOf(5), data: { reads: 5 } });
  await client.workflow.getHandle(ref.run).result();
  await worker.stop();
  await fillRuns(stack, { tenant: TENANT, run: ref.run, total });
};

const viewOneRun = async (
  stack: BenchStack,
  service: ServiceProcess,
  { viewers: count, reads }: ServiceOptions,
): Promise<ViewersReport> => {
  const client = await clientFor(stack, service.url, CALLER);
  const { run } = await client.start({ agent: 'reader', goal: goalOf(reads), data: { reads } });
  const started: WatchedProcess[] = [];
  const begin = async (): Promise<void> => {
    started.push(await startWorker(stack, 'worker-2'));
  };
  const report = await followTogether({ service, client, run, count, begin });
  for (const worker of started) await worker.stop();
  return report;
};
