/** The commands and their options. What a command does is loaded when it is asked for, so that `--help` is quick. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { addAfterEndCommands } from './after-end-commands';
import { collect, parseCount, scoped, withJson, type Add } from './command-options';
import type { Action, CliContext } from './context';
import { readVersion } from './version';
import { addMessageCommand, addWaitsCommands } from './waits-commands';

type SetExitCode = (exitCode: number) => void;

/** Commander throws instead of exiting; `setExitCode` is told what the command returned. */
export const createProgram = (context: CliContext, setExitCode: SetExitCode): Command => {
  const { output } = context;
  const program = new Command('holdfast')
    .description('Runs agents whose actions matter: durable, checked, at most once.')
    .version(readVersion())
    .exitOverride()
    // After a command `--version` is an option of that command.
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => {
        output.print(text.trimEnd());
      },
      writeErr: (text) => {
        output.note(text.trimEnd());
      },
    })
    .showHelpAfterError('(--help lists what there is)')
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 failed, 2 wrong usage. Configuration: docs/generated/configuration.md',
    );
  const add = <Options>(command: Command, load: () => Promise<Action<Options>>): void => {
    command.action(async (...given: unknown[]) => {
      const action = await load();
      setExitCode(await action(parseOptions(command, given), context));
    });
  };
  addStackCommands(program, add);
  addRunsCommands(program, add);
  addWaitsCommands(program, add);
  return program;
};

const addStackCommands = (program: Command, add: Add): void => {
  const dev = withJson(program.command('dev'), 'print one JSON document on standard output; implies --once')
    .description(
      'start a development stack (PostgreSQL, Temporal, offline model, example, worker) and run a scenario on it',
    )
    .option('--scenario <name>', 'which scenario; the example lists them with --scenarios', 'normal')
    .option('--scenarios', "list the example's scenarios and end")
    .option('--once', 'end after the run: exit code 0 only if it ended as the scenario expects')
    .option('--stay', 'stay up after the run, also without a terminal, until SIGINT or SIGTERM')
    .option('--no-run', 'bring the stack up and play no scenario; implies --stay')
    .option('--fresh', 'first delete what the stack stored in HOLDFAST_DATA_DIR')
    .option('--agents <path>', 'folder of an example: compiled agents, model script, scenarios (dev-example.js)')
    .option('--offline', 'use the scripted model even where ANTHROPIC_API_KEY is set')
    .option('--timeout <seconds>', 'with --once: how long the run may take', parseSeconds, 120);
  add(dev, async () => (await import('./dev/run-dev.js')).runDev);

  const worker = program
    .command('worker')
    .description('serve runs in the foreground until SIGINT or SIGTERM; also relays starts and signals')
    .option('--agents <path>', 'compiled module or folder that exports `agents`; else HOLDFAST_AGENTS');
  add(worker, async () => (await import('./commands/worker.js')).worker);

  const serve = program
    .command('serve')
    .description(
      'serve HTTP in the foreground until SIGINT or SIGTERM: runs, waits, events, callbacks of tools; also relays starts and signals',
    )
    .option('--agents <path>', 'compiled module or folder whose policies say who may answer; else HOLDFAST_AGENTS')
    .option('--host <address>', 'the address to listen on; else HOLDFAST_HOST')
    .option('--port <port>', 'the port to listen on, 0 for any; else HOLDFAST_PORT', parsePort)
    .addOption(new Option('--exit-with-parent').hideHelp());
  add(serve, async () => (await import('./commands/serve.js')).serve);

  const migrate = withJson(program.command('migrate'))
    .description('bring the database to the schema and register the search attributes with Temporal; may be repeated')
    .option('--database-only', 'leave Temporal alone');
  add(migrate, async () => (await import('./commands/migrate.js')).migrateServices);

  const doctor = withJson(program.command('doctor'))
    .description('look at database, Temporal, model and agents, and say how to mend what is wrong')
    .option('--agents <path>', 'compiled module or folder that exports `agents`; else HOLDFAST_AGENTS');
  add(doctor, async () => (await import('./doctor/doctor.js')).doctor);
};

const addRunsCommands = (program: Command, add: Add): void => {
  const runs = program
    .command('runs')
    .description(
      'start and look at runs, on DATABASE_URL and TEMPORAL_ADDRESS or on the development stack that runs here',
    );

  const start = scoped(runs.command('start'))
    .description('start a run and print its id')
    .requiredOption('--agent <name>', 'which agent')
    .requiredOption('--goal <text>', 'what is to be done')
    .option('--data <json>', "the task's data: a JSON object, or @file")
    .option('--limits <json>', "limits narrower than the agent's: a JSON object, or @file")
    .option('--role <role>', 'a role of the subject; may be repeated', collect, [])
    .option('--idempotency-key <key>', 'the same key and body give the same run')
    .option('--wait', 'follow it to its end: exit code 0 only if it SUCCEEDED');
  add(start, async () => (await import('./commands/runs/start.js')).runsStart);

  const list = scoped(runs.command('list'))
    .description('list runs, the newest first')
    .option('--state <state>', 'only those in this state')
    .option('--agent <name>', 'only those of this agent')
    .option('--limit <count>', 'at most so many', parseCount, 20)
    .option('--cursor <cursor>', 'the page after another one');
  add(list, async () => (await import('./commands/runs/list.js')).runsList);

  const get = scoped(runs.command('get').argument('<run>', 'its id')).description(
    'show all that is recorded: steps, attempts, decisions, operations, waits, ledger',
  );
  add(get, async () => (await import('./commands/runs/get.js')).runsGet);

  const watch = scoped(
    runs.command('watch').argument('<run>', 'its id'),
    'print one line of JSON for each line of the journal',
  ).description('follow the journal until the run ends: exit code 0 only if it SUCCEEDED');
  add(watch, async () => (await import('./commands/runs/watch.js')).runsWatch);

  const result = scoped(runs.command('result').argument('<run>', 'its id'))
    .description('print the result of a run that has ended')
    .option('--version <number>', 'an older version than the newest', parseCount);
  add(result, async () => (await import('./commands/runs/result.js')).runsResult);

  const cancel = scoped(runs.command('cancel').argument('<run>', 'its id')).description(
    'cancel a run: nothing new is sent from then on',
  );
  add(cancel, async () => (await import('./commands/runs/cancel.js')).runsCancel);

  addMessageCommand(runs, add);
  addAfterEndCommands(runs, add);
};

const parsePort = (given: string): number => {
  const port = Number(given);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new InvalidArgumentError('expected an integer from 0 to 65535');
  }
  return port;
};

const parseSeconds = (given: string): number => {
  const seconds = Number(given);
  if (!(seconds > 0 && seconds <= 86_400)) throw new InvalidArgumentError('expected a number of seconds up to 86400');
  return seconds;
};

/** Commander has checked them; arguments are named as they are declared (`<run>`). */
const parseOptions = (command: Command, given: readonly unknown[]): never => {
  const named = command.registeredArguments.map((argument, index) => [argument.name(), given[index]] as const);
  return Object.assign({}, command.opts(), Object.fromEntries(named)) as never;
};
