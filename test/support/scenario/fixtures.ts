/** Histories that are kept: of what they are of, and of which release. Every later build has to replay them. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';
import type { Execution } from './histories';

const DIRECTORY = join(__dirname, '..', '..', 'fixtures', 'histories');
const PACKAGE = join(__dirname, '..', '..', '..', 'package.json');
const ENDING = '.json.gz';

export interface Fixture {
  /** `<scenario>.<number of the execution>.v<release>`. */
  readonly name: string;
  /** As the engine's own JSON has it. */
  readonly history: unknown;
}

/** Writes over what was captured of the same release before. */
export const keepHistories = (scenario: string, executions: readonly Execution[]): void => {
  mkdirSync(DIRECTORY, { recursive: true });
  for (const [index, { history }] of executions.entries()) {
    const parsed: unknown = JSON.parse(historyToJSON(history));
    const name = `${scenario}.${String(index + 1)}.v${releaseOf(JSON.parse(readFileSync(PACKAGE, 'utf8')))}`;
    writeFileSync(join(DIRECTORY, `${name}${ENDING}`), gzipSync(JSON.stringify(withoutPlace(parsed)), { level: 9 }));
  }
};

export const readFixtures = (): readonly Fixture[] =>
  readdirSync(DIRECTORY)
    .filter((file) => file.endsWith(ENDING))
    .sort()
    .map((file) => ({
      name: file.slice(0, -ENDING.length),
      history: JSON.parse(gunzipSync(readFileSync(join(DIRECTORY, file))).toString('utf8')) as unknown,
    }));

/** As the SDK names a process: in a worker's own task queue, too. */
const PROCESS = /\b\d+@[\w.-]+/g;
const PLACES: ReadonlySet<string> = new Set(['identity', 'stackTrace', 'stack_trace']);

/** Which machine and process it was says nothing about the run. */
const withoutPlace = (value: unknown): unknown => {
  if (typeof value === 'string') return value.replaceAll(PROCESS, 'worker');
  if (Array.isArray(value)) return value.map(withoutPlace);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, PLACES.has(name) ? 'captured' : withoutPlace(each)]),
  );
};

const releaseOf = (manifest: unknown): string => {
  const { version } = manifest as { readonly version: string };
  return version;
};
