/** The stack's hand on an example's processes and on the offline model: bring them to a scenario, and count what happened. */
import { z } from 'zod';
import { coordinatesOf, parseOperationId, type RunId } from '../../workflows/contract/ids';
import { CommandFailure } from '../errors';
import { errorText } from '../stack/errors';
import { formatNumberOf } from '../view/format';
import type { DevExample, DevScenario } from './dev-example';

export interface ExampleAddresses {
  /** By the process's name. */
  readonly processes: Readonly<Record<string, string>>;
  /** Absent with a real model. */
  readonly modelUrl?: string;
}

/** Everything back to its beginning, then what goes wrong in this scenario, in the order in which it is written. */
export const prepareScenario = async (
  example: DevExample,
  scenario: DevScenario,
  { processes, modelUrl }: ExampleAddresses,
): Promise<void> => {
  for (const { name, resetPath } of example.processes) {
    if (resetPath !== undefined) await send('POST', `${addressOf(processes, name)}${resetPath}`);
  }
  for (const { process, path, body } of scenario.prepare) {
    await send('POST', `${addressOf(processes, process)}${path}`, body);
  }
  if (modelUrl === undefined) return;
  await send('POST', `${modelUrl}/_control/reset`);
  if (scenario.modelFaults.length > 0) await send('POST', `${modelUrl}/_control/faults`, scenario.modelFaults);
};

const EFFECTS = z.object({ effects: z.array(z.record(z.string(), z.json())) });
export type ExampleEffect = z.output<typeof EFFECTS>['effects'][number];

/**
 * What really happened since the scenario was prepared, as the example's processes count it. An effect under the key of
 * another run's operation is left out: a run of an earlier session may still go on. Undefined where no process counts.
 */
export const readEffects = async (
  example: DevExample,
  { processes }: ExampleAddresses,
  run: RunId,
): Promise<readonly ExampleEffect[] | undefined> => {
  if (example.processes.every(({ effectsPath }) => effectsPath === undefined)) return undefined;
  const lists = await Promise.all(
    example.processes.map(async ({ name, effectsPath }) => {
      if (effectsPath === undefined) return [];
      return EFFECTS.parse(await send('GET', `${addressOf(processes, name)}${effectsPath}`)).effects;
    }),
  );
  return lists.flat().filter(({ key }) => !isOfAnotherRun(key, run));
};

const isOfAnotherRun = (key: unknown, run: RunId): boolean => {
  try {
    return coordinatesOf(parseOperationId(key)).run !== run;
  } catch {
    return false; // under no key of ours: nobody but this run is to explain it
  }
};

/** Why the effects are not those that were expected; undefined where they are. */
export const differenceOf = (
  effects: readonly ExampleEffect[],
  expected: NonNullable<DevScenario['expected']['effects']>,
): string | undefined => {
  if (effects.length !== expected.length) {
    return `${formatNumberOf(effects.length, 'effect')}, expected ${expected.length}`;
  }
  const index = effects.findIndex((effect, at) => !contains(effect, expected[at]));
  return index < 0
    ? undefined
    : `effect ${String(index + 1)} is ${JSON.stringify(effects[index])}, expected ${JSON.stringify(expected[index])}`;
};

/** Whether everything in `part` is in `whole`. */
const contains = (whole: unknown, part: unknown): boolean => {
  if (typeof part !== 'object' || part === null) return whole === part;
  if (typeof whole !== 'object' || whole === null) return false;
  const values = new Map<string, unknown>(Object.entries(whole));
  return Object.entries(part).every(([key, value]) => contains(values.get(key), value));
};

const addressOf = (processes: ExampleAddresses['processes'], name: string): string => {
  const url = processes[name];
  if (url === undefined) throw new CommandFailure('example.process_failed', `the example has no process ${name}`);
  return url;
};

const TIMEOUT_MS = 10_000;

const send = async (method: 'GET' | 'POST', url: string, body?: unknown): Promise<unknown> => {
  try {
    const response = await fetch(url, {
      method,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`status ${String(response.status)}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  } catch (cause) {
    throw new CommandFailure('example.process_failed', `${method} ${url} failed: ${errorText(cause)}`, { cause });
  }
};
