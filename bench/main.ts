/** Benchmarks. Ratios side by side in one run; never asserted in a test. */
import { Command, InvalidArgumentError } from 'commander';
import { runCore } from './core/run-core';
import { script as readingScript } from './core/script';
import { showCore } from './core/show-core';
import { runServiceSuite, type ServiceOptions } from './service/run-service-suite';
import { showService } from './service/show-service';
import { withBenchStack, type BenchStack } from './stack/bench-stack';
import type { Script } from '../testing';
import { script as waitingScript } from './waiting/script';
import { runWaits, type WaitsOptions } from './waits/run-waits';
import { showWaits } from './waits/show-waits';

interface Output {
  readonly json?: boolean;
}

interface Suite<Report> {
  readonly script: Script;
  readonly run: (stack: BenchStack) => Promise<Report>;
  readonly show: (report: Report) => string;
}

const JSON_OPTION = ['--json', 'one JSON document on standard output'] as const;

const main = async (): Promise<void> => {
  const program = new Command('bench').description('Holdfast against the least that does the same');
  addCore(program);
  addWaits(program);
  addService(program);
  await program.parseAsync();
};

const addCore = (program: Command): void => {
  program
    .command('core')
    .description('history, latency, CPU and memory per step; recovery after SIGKILL')
    .option(...JSON_OPTION)
    .action((options: Output) => runSuite({ script: readingScript, run: runCore, show: showCore }, options));
};

const addWaits = (program: Command): void => {
  program
    .command('waits')
    .description('parked runs on one worker; from a response or callback to the next activity')
    .option(...JSON_OPTION)
    .option('--parked <count>', 'runs that wait for a person', parseCount, 1_000)
    .option('--cached <count>', 'how many of them the worker keeps in memory', parseCount, 200)
    .option('--samples <count>', 'of each kind', parseCount, 100)
    .option('--watch-ms <ms>', 'over how long CPU is measured', parseCount, 20_000)
    .action((options: Output & WaitsOptions) =>
      runSuite({ script: waitingScript, run: (stack) => runWaits(stack, options), show: showWaits }, options),
    );
};

const addService = (program: Command): void => {
  program
    .command('service')
    .description('requests to the HTTP service; viewers of one run')
    .option(...JSON_OPTION)
    .option('--runs <count>', 'in the store', parseCount, 10_000)
    .option('--requests <count>', 'of each kind but respond', parseCount, 2_000)
    .option('--responses <count>', 'runs that wait, each answered once', parseCount, 300)
    .option('--concurrency <count>', 'requests at a time', parseCount, 8)
    .option('--rounds <count>', 'in which the two sides take turns', parseCount, 5)
    .option('--viewers <count>', 'of one run', parseCount, 100)
    .option('--reads <count>', 'that the viewed run does', parseCount, 20)
    .action((options: Output & ServiceOptions) =>
      runSuite({ script: waitingScript, run: (stack) => runServiceSuite(stack, options), show: showService }, options),
    );
};

const parseCount = (text: string): number => {
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) throw new InvalidArgumentError('Expected a whole number above 0.');
  return count;
};

const runSuite = async <Report>({ script, run, show }: Suite<Report>, { json }: Output): Promise<void> => {
  const report = await withBenchStack({ script, say }, run);
  process.stdout.write(json === true ? `${JSON.stringify(report)}\n` : show(report));
};

const say = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

main().catch((error: unknown) => {
  say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  process.exit(1);
});
