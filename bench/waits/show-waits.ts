/** The report of the suite `waits` for people. */
import { toTable } from '../stack/table';
import type { WaitsReport } from './run-waits';

export const showWaits = ({ parked, rows }: WaitsReport): string =>
  [
    ...toTable(
      ['parked', 'cached at most', 'worker RSS before MB', 'parked MB', 'CPU before %', 'parked %'],
      [
        [
          parked.runs,
          parked.cachedWorkflows,
          parked.rssBeforeMb,
          parked.rssParkedMb,
          parked.cpuBefore,
          parked.cpuParked,
        ],
      ],
    ),
    '',
    ...toTable(
      ['workload', 'samples', 'median ms', 'p99 ms', 'bare median ms', 'bare p99 ms', 'median ratio', 'p99 ratio'],
      rows.map((row) => [
        row.workload,
        row.samples,
        row.medianMs,
        row.p99Ms,
        row.bareMedianMs,
        row.bareP99Ms,
        row.medianRatio,
        row.p99Ratio,
      ]),
    ),
    '',
  ].join('\n');
