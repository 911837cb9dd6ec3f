/** What a worker serves for Prometheus: its own figures and those of Temporal's core, where it is told to and nowhere else. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { startMeteredWorker, type MeteredWorker } from '../support/http/metered-worker';
import { setStage, type Stage } from '../support/scenario/stage';

let stage: Stage;
let worker: MeteredWorker | undefined;
beforeAll(async () => {
  stage = await setStage({ isWorkerStarted: false });
});
afterEach(async () => {
  await worker?.kill();
  worker = undefined;
});
afterAll(() => stage.close());

/** The value of one series, whatever else its labels say. */
const valueOf = (text: string, name: string, label = ''): number | undefined => {
  const line = text
    .split('\n')
    .find((each) => each.startsWith(name) && /^[{ ]/.test(each.slice(name.length)) && each.includes(label));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
};

test('a worker serves the figures of its process and of its runs', async () => {
  worker = await startMeteredWorker(stage);
  const { scrape } = worker;
  const run = await stage.start();
  await stage.end(run);

  const text = await stage.until(scrape, (figures) => valueOf(figures, 'temporal_workflow_completed_total') === 1);

  expect(valueOf(text, 'temporal_workflow_task_execution_latency_seconds_count')).toBeGreaterThan(1);
  const dispatches = valueOf(text, 'temporal_activity_execution_latency_seconds_count', 'activity_type="dispatch"');
  expect(dispatches).toBe(1);
  expect(valueOf(text, 'temporal_num_pollers')).toBeGreaterThan(0);
  expect(valueOf(text, 'holdfast_process_resident_memory_bytes')).toBeGreaterThan(1e7);
  expect(valueOf(text, 'holdfast_nodejs_heap_size_used_bytes')).toBeGreaterThan(1e6);
  expect(valueOf(text, 'holdfast_process_cpu_seconds')).toBeGreaterThan(0);
  expect(valueOf(text, 'holdfast_nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0);
  expect(Date.now() / 1000 - (valueOf(text, 'holdfast_process_start_time_seconds') ?? 0)).toBeLessThan(120);
});

test('a worker whose address is taken ends, and names the setting', async () => {
  const other: Server = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const address = other.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const taken = `127.0.0.1:${String(port)}`;

  const starting = startMeteredWorker(stage, { HOLDFAST_WORKER_METRICS_ADDRESS: taken });

  await expect(starting).rejects.toThrow(`HOLDFAST_WORKER_METRICS_ADDRESS: got ${taken}`);
  other.close();
});
