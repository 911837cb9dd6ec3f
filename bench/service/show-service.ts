/** The report of the suite `service` for people. */
import { toTable } from '../stack/table';
import type { ServiceReport } from './run-service-suite';

export const showService = ({ rows, viewers }: ServiceReport): string =>
  [
    ...toTable(
      ['workload', 'requests/s', 'median ms', 'p99 ms', 'ratio'],
      rows.map((row) => [row.workload, row.requestsPerSecond, row.medianMs, row.p99Ms, row.ratio]),
    ),
    '',
    ...toTable(
      ['viewers', 'service RSS before MB', 'open MB', 'closed MB', 'delivered events'],
      [[viewers.count, viewers.rssBeforeMb, viewers.rssOpenMb, viewers.rssClosedMb, viewers.deliveredEvents]],
    ),
    '',
  ].join('\n');
