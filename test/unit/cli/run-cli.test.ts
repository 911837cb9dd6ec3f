import { expect, test } from '@jest/globals';
import { runCli } from '../../../cli/run-cli';
import { recordingOutput } from './recording-output';

const run = async (...args: string[]) => {
  const output = recordingOutput();
  return { exitCode: await runCli(args, output), output };
};

test('help and version are no errors', async () => {
  const help = await run('--help');
  const version = await run('--version');

  expect(help.exitCode).toBe(0);
  expect(help.output.printed.join('\n')).toMatch(/dev [^]*worker [^]*migrate [^]*doctor [^]*runs /);
  expect(version).toMatchObject({ exitCode: 0, output: { printed: [expect.stringMatching(/^\d+\.\d+\.\d+$/)] } });
});

test.each([
  ['no command', [], /Usage: holdfast/],
  ['an unknown command', ['destroy'], /unknown command 'destroy'/],
  ['an unknown option', ['dev', '--frsh'], /unknown option '--frsh'[^]*--fresh/],
  ['a missing option', ['runs', 'start', '--agent', 'tickets'], /required option '--goal <text>'/],
  ['a missing argument', ['runs', 'get'], /missing required argument 'run'/],
  ['one argument too many', ['doctor', 'please'], /too many arguments/],
  [
    'a limit that is none',
    ['runs', 'list', '--limit', '0'],
    /--limit <count>.*'0'.*expected an integer from 1 to 1000/,
  ],
  [
    'a version of a result that is none',
    ['runs', 'result', 'run_123456', '--version', 'first'],
    /--version <number>.*'first'.*expected an integer/,
  ],
  [
    'a resolution without a reason',
    ['runs', 'resolve', 'run_123456', '--operation', 'op_123456_1_1', '--state', 'FAILED'],
    /required option '--why <text>'/,
  ],
  [
    'a state that nobody can have found out',
    ['runs', 'resolve', 'run_123456', '--operation', 'op_123456_1_1', '--state', 'DONE', '--why', 'seen'],
    /--state <state>.*'DONE' is invalid\. Allowed choices are SUCCEEDED, FAILED, NOT_EXECUTED/,
  ],
  ['a time that is none', ['dev', '--timeout', 'soon'], /'soon'.*expected a number of seconds/],
])('%s is wrong usage: exit code 2, and the words say what', async (_, args, words) => {
  const { exitCode, output } = await run(...args);

  expect(exitCode).toBe(2);
  expect(output.printed).toEqual([]);
  expect(output.noted.join('\n')).toMatch(words);
});

test('with --json the refusal is the one document on standard output', async () => {
  const { exitCode, output } = await run('runs', 'get', '--json');

  expect(exitCode).toBe(2);
  expect(output.printed.map((line) => JSON.parse(line) as unknown)).toEqual([
    { error: { code: 'usage.invalid', message: expect.stringContaining('missing required argument') } },
  ]);
});
