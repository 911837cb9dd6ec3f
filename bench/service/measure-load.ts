/** One kind of request to the service and the bare end-point in turn, round by round. */
import { median, p99, round } from '../stack/figures';
import { runLoad, type Load, type LoadRequest } from './http-load';

export interface ServiceRow {
  readonly workload: 'start' | 'snapshot' | 'list' | 'respond';
  readonly requestsPerSecond: number;
  readonly medianMs: number;
  readonly p99Ms: number;
  /** The bare end-point's requests per second over these, the median of the rounds: how many times as dear. */
  readonly ratio: number;
}

export interface LoadSides {
  readonly serviceUrl: string;
  readonly bareUrl: string;
  readonly concurrency: number;
  readonly rounds: number;
}

export interface Workload {
  readonly name: ServiceRow['workload'];
  /** Each is sent once. */
  readonly requests: readonly LoadRequest[];
}

export const measureLoad = async (
  { serviceUrl, bareUrl, concurrency, rounds }: LoadSides,
  { name, requests }: Workload,
): Promise<ServiceRow> => {
  const pairs: { readonly ours: Load; readonly bare: Load }[] = [];
  for (let turn = 0; turn < rounds; turn += 1) {
    const share = requests.filter((_request, index) => index % rounds === turn);
    const ours = (): Promise<Load> => runLoad({ baseUrl: serviceUrl, concurrency }, share);
    const bare = (): Promise<Load> =>
      runLoad(
        { baseUrl: bareUrl, concurrency },
        share.map(() => ({ path: '/' })),
      );
    // Who comes first changes: the second one finds a warmer machine.
    const first = turn % 2 === 0 ? await bare() : await ours();
    const second = turn % 2 === 0 ? await ours() : await bare();
    pairs.push(turn % 2 === 0 ? { bare: first, ours: second } : { bare: second, ours: first });
  }
  const latencies = pairs.flatMap(({ ours }) => ours.latenciesMs);
  const wallMs = pairs.reduce((sum, { ours }) => sum + ours.wallMs, 0);
  return {
    workload: name,
    requestsPerSecond: round((1_000 * latencies.length) / wallMs, 1),
    medianMs: round(median(latencies), 1),
    p99Ms: round(p99(latencies), 1),
    ratio: round(median(pairs.map(({ ours, bare }) => ours.wallMs / bare.wallMs))),
  };
};
