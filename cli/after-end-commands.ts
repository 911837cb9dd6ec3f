/** `runs resolve` and `runs reopen`: what can be done with runs that have ended. */
import { Option, type Command } from 'commander';
import { RESOLVED_STATES } from '../workflows/contract/reconcile';
import { scopedWithRoles, type Add } from './command-options';

const AGENTS = 'compiled module or folder that exports `agents`, for their policies and limits; else HOLDFAST_AGENTS';

export const addAfterEndCommands = (runs: Command, add: Add): void => {
  const resolve = ofOneRun(runs.command('resolve'))
    .description('say what became of an operation that was open when its run ended: the result gets a further version')
    .requiredOption('--operation <operation>', 'its id')
    .addOption(new Option('--state <state>', 'what became of it').choices(RESOLVED_STATES).makeOptionMandatory())
    .requiredOption('--why <text>', 'how this was found out')
    .option('--resolution-id <id>', 'the same id again is the same resolution');
  add(resolve, async () => (await import('./commands/runs/resolve.js')).runsResolve);

  const reopen = ofOneRun(runs.command('reopen'))
    .description('go on where a run has ended, in a new run with its facts, operations and account')
    .option('--goal <text>', 'what is to be done; else as before')
    .option('--data <json>', "the task's data: a JSON object, or @file; else as before")
    .option('--limits <json>', 'limits with what was spent before included: a JSON object, or @file');
  add(reopen, async () => (await import('./commands/runs/reopen.js')).runsReopen);
};

const ofOneRun = (command: Command): Command =>
  scopedWithRoles(command.argument('<run>', 'its id')).option('--agents <path>', AGENTS);
