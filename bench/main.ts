/** Benchmarks. Ratios side by side in one run; never asserted in a test. */
import { Command } from 'commander';
import { startBenchStack } from './core/stack';
import { runCore, type CoreReport } from './core/run-core';

const program = new Command('bench').description('Holdfast against the bare Temporal loop');

program
  .command('core')
  .description('history, latency, CPU and memory per step; recovery after SIGKILL')
  .option('--json', 'one JSON document on standard output')
  .action(async ({ json }: { readonly json?: boolean }) => {
    const say = (line: string): void => {
      process.stderr.write(`${line}\n`);
    };
    const stack = await startBenchStack(say);
    try {
      const report = await runCore(stack, say);
      process.stdout.write(json === true ? `${JSON.stringify(report)}\n` : toTable(report));
    } finally {
      await stack.stop();
    }
  });

const toTable = ({ rows, bare, recoverySeconds }: CoreReport): string => {
  const lines = rows.map(
    (row) =>
      `| ${row.workload} | ${String(row.steps)} | ${String(row.eventsPerStep)} | ${String(row.bytesPerStep)} | ${String(row.latencyRatio)} | ${String(row.cpuRatio)} | ${String(row.workerRssMb)} |`,
  );
  return [
    '| workload | steps | events/step | bytes/step | latency ratio | CPU ratio | worker RSS MB |',
    '| --- | --- | --- | --- | --- | --- | --- |',
    ...lines,
    '',
    `The bare loop: ${String(bare.eventsPerStep)} events and ${String(bare.bytesPerStep)} bytes a step, ${String(bare.msPerStep)} ms.`,
    `Recovery after SIGKILL: ${String(recoverySeconds)} s.`,
    '',
  ].join('\n');
};

void program.parseAsync();
