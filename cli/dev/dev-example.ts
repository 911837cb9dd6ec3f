/**
 * An example that the development stack can run: a folder with a compiled `dev-example` that exports `devExample`, as data.
 * The command line knows no example; it reads this.
 */
import { existsSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { TERMINALS, WAIT_KINDS } from '../../workflows/machine/states';
import { UsageError } from '../errors';

const json = z.json();
const name = z.string().regex(/^[a-z][a-z0-9-]*$/, 'expected lower-case letters, digits and dashes');
/** Of a module in the folder, without extension. */
const modulePath = z.string().min(1);
const urlPath = z.string().startsWith('/');

const PROCESS = z.strictObject({
  name,
  /** A program that prints one line of JSON when it serves: `{"ready":true,"url":…}`. */
  script: modulePath,
  /**
   * `{data}` stands for a directory of its own that outlives the stack, `{callbackSecretFile}` for a file with the secret that
   * callbacks are signed with, `{port}` for the port to listen on: 0, and after it was killed the one that it had. Without
   * `{port}` it is not started again, and its being killed ends the stack.
   */
  args: z.array(z.string()).default([]),
  /** The variable in which the worker, and so the agents, get its address. */
  urlVariable: z
    .string()
    .regex(/^HOLDFAST_EXAMPLE_[A-Z0-9_]+$/, 'expected HOLDFAST_EXAMPLE_…')
    .optional(),
  /** POST brings it back to its beginning; done before each scenario. */
  resetPath: urlPath.optional(),
  /** GET answers `{ effects: […] }`: what really happened there, oldest first. */
  effectsPath: urlPath.optional(),
});

const SCENARIO = z.strictObject({
  name,
  id: z.string().min(1),
  title: z.string().min(1),
  agent: z.string().min(1),
  goal: z.string().min(1),
  data: z.record(z.string(), json),
  limits: z.record(z.string(), z.number()).optional(),
  /** POSTed to the example's processes, in this order, before the run starts. */
  prepare: z.array(z.strictObject({ process: name, path: urlPath, body: json })).default([]),
  /** Rules for the offline model server's `/_control/faults`. */
  modelFaults: z.array(json).default([]),
  /** What people say where the run asks them, in this order, unless real ones are there to ask. */
  answers: z
    .array(
      z.strictObject({
        kind: z.enum(WAIT_KINDS),
        response: json,
        /** The code with which it has to be refused; the next answer of this kind then goes to the same wait. */
        refusedAs: z.string().optional(),
      }),
    )
    .default([]),
  expected: z
    .strictObject({
      terminal: z.enum(TERMINALS).default('SUCCEEDED'),
      /** Not compared where it is left out. */
      reason: z.string().optional(),
      /** All effects, in their order; each lists what has to be in the real one. Not compared where they are left out. */
      effects: z.array(z.record(z.string(), json)).optional(),
    })
    .default({ terminal: 'SUCCEEDED' }),
});
export type DevScenario = z.output<typeof SCENARIO>;

const DEV_EXAMPLE = z.strictObject({
  schemaVersion: z.literal(1),
  name,
  agents: modulePath,
  script: modulePath,
  processes: z.array(PROCESS).default([]),
  scenarios: z.array(SCENARIO).min(1),
});

export interface DevExample extends z.output<typeof DEV_EXAMPLE> {
  readonly folder: string;
  /** Absolute, with extension. */
  readonly modulePathOf: (module: string) => string;
}

const MODULE = 'dev-example.js';

/** The example that comes with the package. */
export const DEFAULT_EXAMPLE = join(__dirname, '..', '..', 'examples', 'tickets');

/** Throws UsageError that names what is wrong with the folder or with what it exports. */
export const loadDevExample = async (path: string): Promise<DevExample> => {
  const folder = resolve(path);
  const file = join(folder, MODULE);
  if (!existsSync(file)) throw missing(path, folder);
  let loaded: unknown;
  try {
    loaded = await import(file);
  } catch (cause) {
    throw new UsageError(`--agents: got ${path}, expected a folder whose ${MODULE} loads`, { cause });
  }
  return { ...parseExample(loaded, file), folder, modulePathOf: (module) => join(folder, `${module}.js`) };
};

const parseExample = (loaded: unknown, file: string): z.output<typeof DEV_EXAMPLE> => {
  const parsed = z.object({ devExample: DEV_EXAMPLE }).safeParse(loaded);
  if (parsed.success) return parsed.data.devExample;
  throw new UsageError(
    `--agents: ${file} exports what the development stack cannot run:\n${z.prettifyError(parsed.error)}`,
  );
};

const missing = (path: string, folder: string): UsageError => {
  const isFolder = existsSync(folder) && statSync(folder).isDirectory();
  const hasSource = existsSync(join(folder, 'dev-example.ts'));
  const mend = hasSource ? '; it holds TypeScript only: compile it, and name the folder with the compiled files' : '';
  return new UsageError(
    `--agents: got ${path}${isFolder ? '' : ', which is no folder'}, expected a folder with ${MODULE} that exports \`devExample\`${mend}`,
  );
};

/** Throws UsageError that lists the names there are. */
export const findDevScenario = ({ scenarios, name: example }: DevExample, wanted: string): DevScenario => {
  const scenario = scenarios.find((each) => each.name === wanted);
  if (scenario !== undefined) return scenario;
  const names = scenarios.map((each) => each.name).join(', ');
  throw new UsageError(`--scenario: got '${wanted}', expected one of the example ${example}: ${names}`);
};
