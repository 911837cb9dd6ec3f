/**
 * What waiting costs: memory and CPU while many runs are parked on one worker, and, with all of them still parked, how soon
 * a run goes on that is told to. Bare waits and Holdfast's are told in turn, in one run on one machine.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchStack } from '../stack/bench-stack';
import { median, p99, round } from '../stack/figures';
import { cpuMsOf, rssMbOf } from '../stack/process-cost';
import { startBareWorker, startHoldfastWorker, startService } from '../stack/processes';
import { parkRuns } from '../waiting/park-runs';
import { sampleBare, sampleCallback, sampleResponse, type Sample, type Sampling } from './samples';

export interface WaitsOptions {
  /** Runs that wait for a person all the while. */
  readonly parked: number;
  /** How many of them the worker may keep in memory. */
  readonly cached: number;
  /** Of each kind. */
  readonly samples: number;
  /** Over how long CPU is measured. */
  readonly watchMs: number;
}

export interface WaitsReport {
  readonly parked: {
    readonly runs: number;
    readonly cachedWorkflows: number;
    readonly rssBeforeMb: number;
    readonly rssParkedMb: number;
    /** Of worker, service, Temporal server and PostgreSQL together, in percent of one core; before, none is parked. */
    readonly cpuBefore: number;
    readonly cpuParked: number;
  };
  readonly rows: readonly WaitsRow[];
}

export interface WaitsRow {
  readonly workload: 'response' | 'callback';
  readonly samples: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  readonly bareMedianMs: number;
  readonly bareP99Ms: number;
  readonly medianRatio: number;
  readonly p99Ratio: number;
}

const AGENTS = require.resolve('../waiting/agents');
const PARKED_TENANT = 'parked';
/** Whatever a burst of work leaves to do is done before CPU is measured. */
const MAX_REST_MS = 3_000;
const MAX_WARM_UP = 5;

export const runWaits = async (stack: BenchStack, options: WaitsOptions): Promise<WaitsReport> => {
  const { say, temporal, postgres } = stack;
  const service = await startService(stack, AGENTS);
  const worker = await startHoldfastWorker(stack, {
    name: 'worker',
    agents: AGENTS,
    maxCachedWorkflows: options.cached,
  });
  await startBareWorker(stack, {
    program: require.resolve('./bare-worker'),
    workflows: require.resolve('./bare-workflows'),
  });
  const sampling: Sampling = { stack, serviceUrl: service.url };
  const pids = [worker.pid, service.process.pid, temporal.pid, postgres.pid];
  const watch = async (): Promise<number> => {
    await delay(Math.min(options.watchMs, MAX_REST_MS));
    return watchCpu(pids, options.watchMs);
  };

  say('warming up');
  await takeSamples(sampling, Math.min(options.samples, MAX_WARM_UP));
  const cpuBefore = await watch();
  const rssBeforeMb = rssMbOf(worker.pid);
  say(`parking ${String(options.parked)} runs`);
  await parkRuns(stack, PARKED_TENANT, options.parked);
  const cpuParked = await watch();
  const rssParkedMb = rssMbOf(worker.pid);
  say(`taking ${String(options.samples)} samples of each kind`);
  const { bare, response, callback } = await takeSamples(sampling, options.samples);
  return {
    parked: {
      runs: options.parked,
      cachedWorkflows: options.cached,
      rssBeforeMb,
      rssParkedMb,
      cpuBefore,
      cpuParked,
    },
    rows: [toRow('response', response, bare), toRow('callback', callback, bare)],
  };
};

/** In percent of one core. */
const watchCpu = async (pids: readonly number[], durationMs: number): Promise<number> => {
  const [cpuBefore, startedAt] = [cpuMsOf(pids), performance.now()];
  await delay(durationMs);
  return round((100 * (cpuMsOf(pids) - cpuBefore)) / (performance.now() - startedAt), 1);
};

type Samples = Readonly<Record<'bare' | 'response' | 'callback', readonly number[]>>;

const KINDS: readonly (readonly [keyof Samples, Sample])[] = [
  ['bare', sampleBare],
  ['response', sampleResponse],
  ['callback', sampleCallback],
];

/** One of each kind in turn; who comes first changes. */
const takeSamples = async (sampling: Sampling, count: number): Promise<Samples> => {
  const taken: Record<keyof Samples, number[]> = { bare: [], response: [], callback: [] };
  for (let row = 0; row < count; row += 1) {
    for (let place = 0; place < KINDS.length; place += 1) {
      const kind = KINDS[(row + place) % KINDS.length];
      if (kind !== undefined) taken[kind[0]].push(await kind[1](sampling));
    }
  }
  return taken;
};

const toRow = (workload: WaitsRow['workload'], values: readonly number[], bare: readonly number[]): WaitsRow => ({
  workload,
  samples: values.length,
  medianMs: round(median(values), 1),
  p99Ms: round(p99(values), 1),
  bareMedianMs: round(median(bare), 1),
  bareP99Ms: round(p99(bare), 1),
  medianRatio: round(median(values) / median(bare)),
  p99Ratio: round(p99(values) / p99(bare)),
});
