/** An output that keeps what was said, for tests of what is said. */
import pc from 'picocolors';
import type { Output } from '../../../cli/output';

export interface RecordingOutput extends Output {
  readonly printed: string[];
  readonly noted: string[];
}

export const recordingOutput = (): RecordingOutput => {
  const printed: string[] = [];
  const noted: string[] = [];
  const colors = pc.createColors(false);
  return {
    printed,
    noted,
    print: (line) => printed.push(line),
    printJson: (value) => printed.push(JSON.stringify(value)),
    note: (line) => noted.push(line),
    colors,
    noteColors: colors,
    isInteractive: false,
  };
};
