/**
 * Holdfast against the bare loop, interleaved in one run on one machine: ratios, since absolute times of a shared machine
 * mean little. The same model over the same SDK on both sides; tools that answer at once.
 */
import { randomUUID } from 'node:crypto';
import type { WatchedProcess } from '../../cli/stack/watched-process';
import { BARE_QUEUE, type BenchStack } from '../stack/bench-stack';
import { median } from '../stack/figures';
import { cpuMsOf, rssMbOf } from '../stack/process-cost';
import { startBareWorker, startHoldfastWorker } from '../stack/processes';
import { historyCost, type HistoryCost } from './history-cost';
import { goalOf } from './script';

export interface CoreRow {
  readonly workload: string;
  readonly steps: number;
  readonly eventsPerStep: number;
  readonly bytesPerStep: number;
  readonly latencyRatio: number;
  readonly cpuRatio: number;
  readonly workerRssMb: number;
}

export interface CoreReport {
  readonly rows: readonly CoreRow[];
  readonly bare: { readonly eventsPerStep: number; readonly bytesPerStep: number; readonly msPerStep: number };
  readonly recoverySeconds: number;
}

interface Workload {
  readonly name: string;
  readonly reads: number;
  readonly rounds: number;
}

/** T100's shape is four tool calls and five model calls. */
const WORKLOADS: readonly Workload[] = [
  { name: 'T100', reads: 4, rounds: 9 },
  { name: 'reads-5', reads: 5, rounds: 9 },
  { name: 'reads-20', reads: 20, rounds: 5 },
  { name: 'reads-100', reads: 100, rounds: 3 },
  { name: 'reads-400', reads: 400, rounds: 1 },
];

interface Measured {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly id: string;
}

export const runCore = async (stack: BenchStack): Promise<CoreReport> => {
  const { say, temporal, postgres } = stack;
  const bareWorker = await startBareWorker(stack, {
    program: require.resolve('./bare-worker'),
    workflows: require.resolve('./bare-workflows'),
  });
  const worker = await startWorker(stack, 'worker-1');
  const bare = (reads: number): Promise<Measured> =>
    measure([temporal.pid, bareWorker.pid], () => runBare(stack, reads));
  const holdfast = (reads: number): Promise<Measured> =>
    measure([temporal.pid, postgres.pid, worker.pid], () => runHoldfast(stack, reads));

  say('warming up');
  await bare(5);
  await holdfast(5);

  const rows: CoreRow[] = [];
  let bareCost: HistoryCost | undefined;
  let bareMsPerStep = 0;
  for (const { name, reads, rounds } of WORKLOADS) {
    const pairs: Pair[] = [];
    for (let round = 0; round < rounds; round += 1) {
      say(`${name}: round ${String(round + 1)} of ${String(rounds)}`);
      // Whoever runs second finds a warmer machine: the order alternates.
      const first = round % 2 === 0 ? await bare(reads) : await holdfast(reads);
      const second = round % 2 === 0 ? await holdfast(reads) : await bare(reads);
      pairs.push(round % 2 === 0 ? { bare: first, holdfast: second } : { bare: second, holdfast: first });
    }
    const last = pairs[pairs.length - 1];
    if (last === undefined) continue;
    const cost = await historyCost(stack.client, last.holdfast.id, 'runAttempt');
    if (name === 'reads-100') {
      bareCost = await historyCost(stack.client, last.bare.id, 'askModel');
      bareMsPerStep = Math.round(median(pairs.map((pair) => pair.bare.wallMs)) / (reads + 1));
    }
    rows.push({
      workload: name,
      steps: reads + 1,
      eventsPerStep: cost.eventsPerStep,
      bytesPerStep: cost.bytesPerStep,
      latencyRatio: ratio(pairs, ({ wallMs }) => wallMs),
      cpuRatio: ratio(pairs, ({ cpuMs }) => cpuMs),
      workerRssMb: rssMbOf(worker.pid),
    });
  }
  say('recovery after SIGKILL');
  return {
    rows,
    bare: {
      eventsPerStep: bareCost?.eventsPerStep ?? 0,
      bytesPerStep: bareCost?.bytesPerStep ?? 0,
      msPerStep: bareMsPerStep,
    },
    recoverySeconds: await measureRecovery(stack, () => {
      worker.signal('SIGKILL');
    }),
  };
};

const startWorker = (stack: BenchStack, name: string): Promise<WatchedProcess> =>
  startHoldfastWorker(stack, { name, agents: require.resolve('./agents') });

const runBare = async ({ client }: BenchStack, reads: number): Promise<string> => {
  const workflowId = `bare-${randomUUID()}`;
  await client.workflow.execute('bareLoop', { workflowId, taskQueue: BARE_QUEUE, args: [goalOf(reads)] });
  return workflowId;
};

const runHoldfast = async ({ runs, client }: BenchStack, reads: number): Promise<string> => {
  const { ref } = await runs.start(
    { tenant: 'bench', subject: 'bench' },
    { agent: 'reader', goal: goalOf(reads), data: { reads } },
  );
  const outcome: unknown = await client.workflow.getHandle(ref.run).result();
  const row = await runs.get('bench', ref.run);
  if (row.terminal !== 'SUCCEEDED') throw new Error(`${ref.run} ended as ${JSON.stringify(outcome)}`);
  return ref.run;
};

const measure = async (pids: readonly number[], run: () => Promise<string>): Promise<Measured> => {
  const cpuBefore = cpuMsOf(pids);
  const before = performance.now();
  const id = await run();
  return { id, wallMs: performance.now() - before, cpuMs: cpuMsOf(pids) - cpuBefore };
};

interface Pair {
  readonly bare: Measured;
  readonly holdfast: Measured;
}

/** The median of the rounds' ratios. */
const ratio = (pairs: readonly Pair[], pick: (measured: Measured) => number): number =>
  Math.round(median(pairs.map((pair) => pick(pair.holdfast) / pick(pair.bare))) * 100) / 100;

/** From the kill of the only busy worker, with another one ready, to the next request that the model gets. */
const measureRecovery = async (stack: BenchStack, killFirst: () => void): Promise<number> => {
  const { runs, model, client } = stack;
  const { ref } = await runs.start(
    { tenant: 'bench', subject: 'bench' },
    { agent: 'reader', goal: goalOf(200), data: { reads: 200 } },
  );
  await startWorker(stack, 'worker-2');
  // Counted anew: the server keeps only the newest requests.
  model.reset();
  await model.whenReceived(3);
  killFirst();
  const killedAt = performance.now();
  await model.whenReceived(model.requests.length + 1);
  const seconds = (performance.now() - killedAt) / 1000;
  await client.workflow.getHandle(ref.run).result();
  return Math.round(seconds * 10) / 10;
};
