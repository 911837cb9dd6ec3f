/** Parses the arguments, runs one command, and turns whatever happened into words and an exit code. */
import { CommanderError } from 'commander';
import { createContext } from './context';
import { describeError } from './errors';
import type { Output } from './output';
import { createProgram } from './program';

/** Never throws. 0 done, 1 failed, 2 wrong usage. */
export const runCli = async (args: readonly string[], output: Output): Promise<number> => {
  let exitCode = 0;
  const program = createProgram(createContext(output), (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exitCode;
  } catch (error) {
    return report(error, args.includes('--json'), output);
  }
};

const report = (error: unknown, isJson: boolean, output: Output): number => {
  // Help and version were asked for, and are printed.
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const { code, message, exitCode } =
    error instanceof CommanderError
      ? // Commander has told the reader already.
        { code: 'usage.invalid', message: error.message, exitCode: 2 }
      : describeError(error);
  if (!(error instanceof CommanderError)) output.note(`${output.noteColors.red('holdfast:')} ${message}`);
  if (isJson) output.printJson({ error: { code, message } });
  return exitCode;
};
