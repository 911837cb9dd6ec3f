/** The report of the suite `core` for people. */
import { toTable } from '../stack/table';
import type { CoreReport } from './run-core';

export const showCore = ({ rows, bare, recoverySeconds }: CoreReport): string =>
  [
    ...toTable(
      ['workload', 'steps', 'events/step', 'bytes/step', 'latency ratio', 'CPU ratio', 'worker RSS MB'],
      rows.map((row) => [
        row.workload,
        row.steps,
        row.eventsPerStep,
        row.bytesPerStep,
        row.latencyRatio,
        row.cpuRatio,
        row.workerRssMb,
      ]),
    ),
    '',
    `The bare loop: ${String(bare.eventsPerStep)} events and ${String(bare.bytesPerStep)} bytes a step, ${String(bare.msPerStep)} ms.`,
    `Recovery after SIGKILL: ${String(recoverySeconds)} s.`,
    '',
  ].join('\n');
