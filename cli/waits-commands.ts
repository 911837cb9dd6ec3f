/** `waits …` and `runs message`: what people say to runs. */
import { Option, type Command } from 'commander';
import { MESSAGE_KINDS } from '../client/messages';
import { WAIT_KINDS } from '../workflows/machine/states';
import { parseCount, scopedWithRoles, type Add } from './command-options';

const AGENTS = 'compiled module or folder that exports `agents`, for their policies; else HOLDFAST_AGENTS';

export const addWaitsCommands = (program: Command, add: Add): void => {
  const waits = program
    .command('waits')
    .description(
      'see what people are asked, and answer: approvals, questions, acceptances, reconciliations, hand-offs',
    );
  addReading(waits, add);
  addAnswering(waits, add);
};

const addReading = (waits: Command, add: Add): void => {
  const list = scopedWithRoles(waits.command('list'))
    .description('list waits, those that have waited longest first')
    .option('--state <state>', 'only those in this state: OPEN, CONSUMED, EXPIRED, VOID or all', 'OPEN')
    .addOption(new Option('--kind <kind>', 'only those of this kind').choices(WAIT_KINDS))
    .option('--run <run>', 'only those of this run')
    .option('--limit <count>', 'at most so many', parseCount, 20)
    .option('--cursor <cursor>', 'the page after another one');
  add(list, async () => (await import('./commands/waits/list.js')).waitsList);

  const get = withAgents(scopedWithRoles(waits.command('get').argument('<wait>', 'its id'))).description(
    'show all that is to be seen before it is answered',
  );
  add(get, async () => (await import('./commands/waits/get.js')).waitsGet);
};

const addAnswering = (waits: Command, add: Add): void => {
  const approve = answering(waits.command('approve'))
    .description('approve exactly the operation that is shown: exit code 0 only if the response was accepted')
    .option('--arguments <json>', 'approve it with these arguments instead: a JSON object, or @file')
    .option('--reason <text>', 'why');
  add(approve, async () => (await import('./commands/waits/answer.js')).waitsApprove);

  const deny = answering(waits.command('deny'))
    .description('deny the operation that is shown; nothing is sent')
    .requiredOption('--reason <text>', 'why; the agent is told');
  add(deny, async () => (await import('./commands/waits/answer.js')).waitsDeny);

  const answer = answering(waits.command('answer'))
    .description(
      'answer a wait of any kind, by its response schema: {"accept":true}, {"state":"SUCCEEDED","why":"…"}, {"take":true}',
    )
    .requiredOption('--data <json>', 'the response: a JSON object, or @file');
  add(answer, async () => (await import('./commands/waits/answer.js')).waitsAnswer);
};

const answering = (command: Command): Command =>
  withAgents(scopedWithRoles(command.argument('<wait>', 'its id'))).option(
    '--response-id <id>',
    'the same id again is the same response, and gets the same verdict',
  );

const withAgents = (command: Command): Command => command.option('--agents <path>', AGENTS);

export const addMessageCommand = (runs: Command, add: Add): void => {
  const message = scopedWithRoles(runs.command('message').argument('<run>', 'its id'))
    .description("change a run's plan, take back what it asks, or give another task to a run of its own")
    .requiredOption('--kind <kind>', MESSAGE_KINDS.join(', '))
    .option('--text <text>', 'what is to be done; for withdraw, why')
    .option('--wait <wait>', 'for withdraw: the wait that is taken back')
    .option('--agent <name>', "for new_goal: another agent than the run's")
    .option('--data <json>', "for new_goal: the task's data: a JSON object, or @file")
    .option('--message-id <id>', 'the same id again is the same message');
  add(message, async () => (await import('./commands/runs/message.js')).runsMessage);
};
