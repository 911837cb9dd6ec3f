/**
 * Figures of this worker's process, beside those of the Temporal core and at the same address. They are named as the
 * service's are, and carry names of activities and codes: never tenants, runs or words.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { MetricMeter } from '@temporalio/common';

export interface WorkerMetrics {
  /** A run that cannot go on, each time that it is tried. */
  readonly stuck: (about: { readonly activity: string; readonly code: string }) => void;
  readonly stop: () => void;
}

const SAMPLE_MS = 5_000;

/** A meter that nobody reads costs nothing: it is the runtime's own, which drops what is recorded. */
export const createWorkerMetrics = (meter: MetricMeter): WorkerMetrics => {
  const stuck = meter.createCounter('holdfast_stuck_runs', undefined, 'Times that a run could not go on, by its code.');
  const stop = sampleProcess(meter);
  return {
    stuck: ({ activity, code }) => {
      stuck.add(1, { activity_type: activity, code });
    },
    stop,
  };
};

/** Gauges hold what was set last, so they are set again and again. */
const sampleProcess = (meter: MetricMeter): (() => void) => {
  const gauge = (name: string, help: string) => meter.createGauge(`holdfast_${name}`, 'float', undefined, help);
  const resident = gauge('process_resident_memory_bytes', 'Memory of the process.');
  const heap = gauge('nodejs_heap_size_used_bytes', 'Memory that JavaScript uses.');
  const cpu = gauge('process_cpu_seconds', 'CPU time of the process since it started.');
  const lag = gauge('nodejs_eventloop_lag_p99_seconds', 'How late the event loop was, in the last seconds.');
  gauge('process_start_time_seconds', 'When the process started.').set(performance.timeOrigin / 1000);
  const delay = monitorEventLoopDelay();
  delay.enable();
  const sample = (): void => {
    const { rss, heapUsed } = process.memoryUsage();
    const { user, system } = process.cpuUsage();
    resident.set(rss);
    heap.set(heapUsed);
    cpu.set((user + system) / 1e6);
    const ns = delay.percentile(99);
    lag.set(Number.isFinite(ns) ? ns / 1e9 : 0);
    delay.reset();
  };
  sample();
  const timer = setInterval(sample, SAMPLE_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    delay.disable();
  };
};
