/** Figures of this process for Prometheus. They name routes, never tenants, runs or subjects. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface Request {
  readonly method: string;
  /** As it is declared, `/v1/runs/{run}`. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

export interface Metrics {
  readonly request: (request: Request) => void;
  readonly problem: (code: string) => void;
  readonly render: () => Promise<{ readonly contentType: string; readonly text: string }>;
}

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** A registry of its own for each service, so that two in one process do not mix. */
export const createMetrics = (followers: () => number): Metrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'holdfast_' });
  const duration = new Histogram({
    name: 'holdfast_http_request_seconds',
    help: 'From the request to its answer; of a stream, to its head.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers: [registry],
  });
  const problems = new Counter({
    name: 'holdfast_http_problems_total',
    help: 'Problems that were answered, by code.',
    labelNames: ['code'],
    registers: [registry],
  });
  new Gauge({
    name: 'holdfast_http_followers',
    help: 'Streams of events that are open.',
    registers: [registry],
    collect() {
      this.set(followers());
    },
  });
  return {
    request: ({ method, route, status, seconds }) => {
      duration.observe({ method, route, status }, seconds);
    },
    problem: (code) => {
      problems.inc({ code });
    },
    render: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
};
