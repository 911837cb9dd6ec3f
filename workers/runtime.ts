/** Temporal's native runtime of this process: its log goes into ours, its figures to an address where one is set. */
import { makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import { toTemporalLogger } from './temporal-logger';

export class MetricsNotServed extends Error {
  override readonly name = 'MetricsNotServed';
  readonly code = 'metrics.cannot_listen';
  constructor(
    readonly address: string,
    cause: unknown,
  ) {
    super(
      `HOLDFAST_WORKER_METRICS_ADDRESS: got ${address}, where this machine does not let it listen, expected an address of its own and a port that is free`,
      { cause },
    );
  }
}

/** Throws MetricsNotServed. The names of the figures are those that Prometheus asks for: units and `_total` at the end. */
export const installRuntime = (log: Logger, metricsAddress: string | undefined): Runtime => {
  try {
    return Runtime.install({
      logger: toTemporalLogger(log),
      shutdownSignals: ['SIGTERM', 'SIGINT'],
      telemetryOptions: {
        logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN' }) },
        ...(metricsAddress === undefined ? {} : { metrics: { prometheus: prometheusAt(metricsAddress) } }),
      },
    });
  } catch (error) {
    if (metricsAddress === undefined) throw error;
    throw new MetricsNotServed(metricsAddress, error);
  }
};

const prometheusAt = (bindAddress: string) => ({
  bindAddress,
  countersTotalSuffix: true,
  unitSuffix: true,
  useSecondsForDurations: true,
});
