/** Where a command's words go: results to standard output, everything else to standard error. */
import pc from 'picocolors';
import type { Colors } from 'picocolors/types';

export interface Output {
  /** A line of the result, on standard output. */
  print(line: string): void;
  /** One JSON document, and nothing else, on standard output. */
  printJson(value: unknown): void;
  /** A line for whoever watches: progress, warnings, errors. */
  note(line: string): void;
  /** For what `print` gets; no-ops unless standard output is a terminal. */
  readonly colors: Colors;
  readonly noteColors: Colors;
  /** Somebody sits at a terminal, and sees both. */
  readonly isInteractive: boolean;
}

export const processOutput = (): Output => ({
  print: (line) => {
    process.stdout.write(`${line}\n`);
  },
  printJson: (value) => {
    process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
  },
  note: (line) => {
    process.stderr.write(`${line}\n`);
  },
  colors: colorsFor(process.stdout.isTTY),
  noteColors: colorsFor(process.stderr.isTTY),
  isInteractive: process.stdin.isTTY && process.stdout.isTTY,
});

// picocolors alone would also colour the logs of a CI run.
const colorsFor = (isTerminal: boolean): Colors => pc.createColors(isTerminal && pc.isColorSupported);

/** With `--json` standard output belongs to the document: what is otherwise printed for people goes to standard error. */
export const forJson = (output: Output): Output => ({
  ...output,
  print: (line) => {
    output.note(line);
  },
  colors: output.noteColors,
});
