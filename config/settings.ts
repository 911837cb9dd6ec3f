/**
 * The only reader of the environment. One schema; every wrong value is named at once, when a program starts.
 * Temporal's own variables are read by its own library (`temporal-connection.ts`).
 */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

const url = (protocols: readonly string[]): z.ZodType<string | undefined> =>
  z
    .string()
    .refine((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol), {
      error: `expected an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    })
    .optional();

/** `.env.example` and the table in docs are generated from the descriptions. */
export const SETTINGS = z.object({
  DATABASE_URL: url(['postgres:', 'postgresql:']).describe(
    "Holdfast's own PostgreSQL. Absent: the development stack starts one.",
  ),
  ANTHROPIC_API_KEY: z
    .string()
    .min(1)
    .optional()
    .describe('Absent: a local scripted model stands in, and every result says so.'),
  ANTHROPIC_BASE_URL: url(['http:', 'https:']).describe('Another address that speaks the Messages API.'),
  HOLDFAST_DATA_DIR: z.string().min(1).default('.holdfast').describe('Where the development stack keeps its data.'),
  HOLDFAST_CACHE_DIR: z
    .string()
    .min(1)
    .default(join(homedir(), '.cache', 'holdfast'))
    .describe('Where downloaded Temporal binaries are kept.'),
  HOLDFAST_TEMPORAL_CLI: z
    .string()
    .min(1)
    .optional()
    .describe('Path of a `temporal` binary to use instead of looking for one.'),
  HOLDFAST_TASK_QUEUE: z.string().min(1).default('holdfast').describe('Temporal task queue of workers and starters.'),
  HOLDFAST_AGENTS: z.string().min(1).optional().describe('Compiled module that exports `agents`, for workers.'),
  HOLDFAST_WORKFLOW_BUNDLE: z
    .string()
    .min(1)
    .optional()
    .describe('Prebuilt workflow bundle; absent: the one that the build wrote.'),
  HOLDFAST_LOG_LEVEL: z.enum(LOG_LEVELS).default('info').describe('Least severe log line that is written.'),
  HOLDFAST_STORE_GRACE_MS: z.coerce
    .number()
    .int()
    .min(1000)
    .max(600_000)
    .default(300_000)
    .describe('How long a reply is kept while the database is away.'),
});

export type LogLevel = (typeof LOG_LEVELS)[number];

export interface Settings {
  readonly databaseUrl?: string;
  readonly model: { readonly apiKey?: string; readonly baseUrl?: string };
  readonly dataDir: string;
  readonly cacheDir: string;
  readonly temporalCli?: string;
  readonly taskQueue: string;
  readonly agents?: string;
  readonly workflowBundle?: string;
  readonly logLevel: LogLevel;
  readonly storeGraceMs: number;
}

export class InvalidSettings extends Error {
  readonly code = 'settings.invalid';
  constructor(readonly faults: readonly string[]) {
    super(
      `the environment has ${faults.length === 1 ? 'a wrong value' : 'wrong values'}:\n${faults.map((fault) => `  ${fault}`).join('\n')}`,
    );
    this.name = 'InvalidSettings';
  }
}

/** Throws InvalidSettings that names every wrong variable. An empty variable counts as absent. */
export const loadSettings = (env: Readonly<Record<string, string | undefined>> = process.env): Settings => {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = SETTINGS.safeParse(given);
  if (!parsed.success) throw new InvalidSettings(parsed.error.issues.map((issue) => describeFault(issue, given)));
  return toSettings(parsed.data);
};

const describeFault = (issue: z.core.$ZodIssue, given: Readonly<Record<string, unknown>>): string => {
  const name = issue.path.map(String).join('.');
  const isSecret = name.endsWith('KEY') || name.endsWith('URL');
  return `${name}: got ${isSecret ? 'a value that is not shown' : JSON.stringify(given[name])}, ${issue.message}`;
};

const toSettings = (values: z.output<typeof SETTINGS>): Settings =>
  Object.freeze({
    model: {
      ...(values.ANTHROPIC_API_KEY === undefined ? {} : { apiKey: values.ANTHROPIC_API_KEY }),
      ...(values.ANTHROPIC_BASE_URL === undefined ? {} : { baseUrl: values.ANTHROPIC_BASE_URL }),
    },
    dataDir: resolve(values.HOLDFAST_DATA_DIR),
    cacheDir: resolve(values.HOLDFAST_CACHE_DIR),
    taskQueue: values.HOLDFAST_TASK_QUEUE,
    logLevel: values.HOLDFAST_LOG_LEVEL,
    storeGraceMs: values.HOLDFAST_STORE_GRACE_MS,
    ...(values.DATABASE_URL === undefined ? {} : { databaseUrl: values.DATABASE_URL }),
    ...(values.HOLDFAST_TEMPORAL_CLI === undefined ? {} : { temporalCli: values.HOLDFAST_TEMPORAL_CLI }),
    ...(values.HOLDFAST_WORKFLOW_BUNDLE === undefined
      ? {}
      : { workflowBundle: resolve(values.HOLDFAST_WORKFLOW_BUNDLE) }),
    ...(values.HOLDFAST_AGENTS === undefined ? {} : { agents: resolve(values.HOLDFAST_AGENTS) }),
  });

/** The environment as it is, for programs that start others. */
export const loadEnvironment = (): Readonly<Record<string, string | undefined>> => process.env;
