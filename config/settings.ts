/**
 * The only reader of the environment. One schema; every wrong value is named at once, when a program starts.
 * Temporal's own variables are read by its own library (`temporal-connection.ts`).
 */
import { isIPv4, isIPv6 } from 'node:net';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { CALLBACK_SECRETS } from './callback-secrets';

export const DEFAULT_DATA_DIR = '.holdfast';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

const url = (protocols: readonly string[]): z.ZodType<string | undefined> =>
  z
    .string()
    .refine((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol), {
      error: `expected an address that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    })
    .optional();

/** What the native exporter takes: a name is not looked up. */
const isSocketAddress = (value: string): boolean => {
  const [, six, four, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(value) ?? [];
  const isAddress = six === undefined ? isIPv4(four ?? '') : isIPv6(six);
  return isAddress && Number(port) >= 1 && Number(port) <= 65_535;
};

const MIN_KEY_BYTES = 32;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** What is base64 of enough bytes is taken for them; any other text for its characters. */
const toKey = (value: string): Uint8Array | undefined => {
  const decoded = BASE64.test(value) ? Buffer.from(value, 'base64') : Buffer.alloc(0);
  if (decoded.length >= MIN_KEY_BYTES) return decoded;
  return value.length >= MIN_KEY_BYTES ? Buffer.from(value) : undefined;
};

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
  HOLDFAST_DATA_DIR: z
    .string()
    .min(1)
    .default(DEFAULT_DATA_DIR)
    .describe('Where the development stack keeps its data.'),
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
  HOLDFAST_TOKEN_KEY: z
    .string()
    .refine((value) => toKey(value) !== undefined, {
      error: 'expected at least 32 bytes in base64, or at least 32 characters of text',
    })
    .optional()
    .describe('Key of the tokens of waits, the same everywhere. Where it is set, a response has to bring its token.'),
  HOLDFAST_LOG_LEVEL: z.enum(LOG_LEVELS).default('info').describe('Least severe log line that is written.'),
  HOLDFAST_DEPLOYMENT_NAME: z
    .string()
    .min(1)
    .optional()
    .describe('Worker Deployment that a worker belongs to; with HOLDFAST_BUILD_ID. Absent: workers are not versioned.'),
  HOLDFAST_BUILD_ID: z
    .string()
    .min(1)
    .optional()
    .describe('Release of that deployment; with HOLDFAST_DEPLOYMENT_NAME.'),
  HOLDFAST_MAX_CACHED_WORKFLOWS: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .describe('Runs that a worker keeps in memory between their tasks; 0 replays every task from the start.'),
  HOLDFAST_WORKER_METRICS_ADDRESS: z
    .string()
    .refine(isSocketAddress, { error: 'expected an IP address and a port, such as 127.0.0.1:9464' })
    .optional()
    .describe(
      "Where a worker serves its figures and those of Temporal's core for Prometheus (`/metrics`), such as `127.0.0.1:9464`. Absent: nowhere.",
    ),
  HOLDFAST_STORE_GRACE_MS: z.coerce
    .number()
    .int()
    .min(1000)
    .max(600_000)
    .default(300_000)
    .describe('How long a reply is kept while the database is away.'),
  HOLDFAST_HOST: z.string().min(1).default('127.0.0.1').describe('The address that `holdfast serve` listens on.'),
  HOLDFAST_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .default(7410)
    .describe('The port that `holdfast serve` listens on; 0 takes any that is free.'),
  HOLDFAST_JWT_SECRET: z
    .string()
    .min(32, 'expected at least 32 characters')
    .optional()
    .describe('For development: bearer tokens are signed with it (HS256). Not used where HOLDFAST_JWKS_URL is set.'),
  HOLDFAST_JWKS_URL: url(['http:', 'https:']).describe(
    'For production: where the issuer of bearer tokens publishes its keys. Absent, with no secret: nobody is let in.',
  ),
  HOLDFAST_JWT_ISSUER: z.string().min(1).optional().describe('The `iss` that a bearer token has to have.'),
  HOLDFAST_JWT_AUDIENCE: z.string().min(1).optional().describe('The `aud` that a bearer token has to have.'),
  HOLDFAST_CALLBACK_SECRETS: CALLBACK_SECRETS.optional().describe(
    'Secrets of signed callbacks (`whsec_…`, Standard Webhooks), separated by commas; each of them verifies. Absent: callbacks are not taken.',
  ),
  HOLDFAST_CALLBACK_BASE_URL: url(['http:', 'https:']).describe(
    'Where far sides reach `holdfast serve`: workers tell it to tools. Absent: jobs are polled only.',
  ),
});

const TOGETHER = SETTINGS.refine(
  (values) => (values.HOLDFAST_DEPLOYMENT_NAME === undefined) === (values.HOLDFAST_BUILD_ID === undefined),
  { path: ['HOLDFAST_BUILD_ID'], error: 'expected both HOLDFAST_DEPLOYMENT_NAME and HOLDFAST_BUILD_ID, or neither' },
);

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
  readonly tokenKey?: Uint8Array;
  readonly logLevel: LogLevel;
  readonly storeGraceMs: number;
  readonly host: string;
  readonly port: number;
  /** Whose bearer tokens open the service. */
  readonly tokens: {
    readonly secret?: string;
    readonly jwksUrl?: string;
    readonly issuer?: string;
    readonly audience?: string;
  };
  readonly callbacks: { readonly secrets: readonly Uint8Array[]; readonly baseUrl?: string };
  readonly maxCachedWorkflows?: number;
  /** An IP address and a port. */
  readonly workerMetricsAddress?: string;
  readonly deployment?: { readonly name: string; readonly buildId: string };
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
  const parsed = TOGETHER.safeParse(given);
  if (!parsed.success) throw new InvalidSettings(parsed.error.issues.map((issue) => describeFault(issue, given)));
  return toSettings(parsed.data);
};

const describeFault = (issue: z.core.$ZodIssue, given: Readonly<Record<string, unknown>>): string => {
  const name = issue.path.map(String).join('.');
  const isSecret = /(KEY|URL|SECRETS?)$/.test(name);
  return `${name}: got ${isSecret ? 'a value that is not shown' : JSON.stringify(given[name])}, ${issue.message}`;
};

const deploymentOf = ({
  HOLDFAST_DEPLOYMENT_NAME: name,
  HOLDFAST_BUILD_ID: buildId,
}: z.output<typeof SETTINGS>): Pick<Settings, 'deployment'> =>
  name === undefined || buildId === undefined ? {} : { deployment: { name, buildId } };

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
    host: values.HOLDFAST_HOST,
    port: values.HOLDFAST_PORT,
    tokens: tokensOf(values),
    callbacks: {
      secrets: values.HOLDFAST_CALLBACK_SECRETS ?? [],
      ...(values.HOLDFAST_CALLBACK_BASE_URL === undefined ? {} : { baseUrl: values.HOLDFAST_CALLBACK_BASE_URL }),
    },
    ...deploymentOf(values),
    ...(values.HOLDFAST_MAX_CACHED_WORKFLOWS === undefined
      ? {}
      : { maxCachedWorkflows: values.HOLDFAST_MAX_CACHED_WORKFLOWS }),
    ...(values.HOLDFAST_WORKER_METRICS_ADDRESS === undefined
      ? {}
      : { workerMetricsAddress: values.HOLDFAST_WORKER_METRICS_ADDRESS }),
    ...(values.DATABASE_URL === undefined ? {} : { databaseUrl: values.DATABASE_URL }),
    ...(values.HOLDFAST_TEMPORAL_CLI === undefined ? {} : { temporalCli: values.HOLDFAST_TEMPORAL_CLI }),
    ...(values.HOLDFAST_WORKFLOW_BUNDLE === undefined
      ? {}
      : { workflowBundle: resolve(values.HOLDFAST_WORKFLOW_BUNDLE) }),
    ...tokenKeyOf(values.HOLDFAST_TOKEN_KEY),
    ...(values.HOLDFAST_AGENTS === undefined ? {} : { agents: resolve(values.HOLDFAST_AGENTS) }),
  });

const tokensOf = (values: z.output<typeof SETTINGS>): Settings['tokens'] => ({
  ...(values.HOLDFAST_JWT_SECRET === undefined ? {} : { secret: values.HOLDFAST_JWT_SECRET }),
  ...(values.HOLDFAST_JWKS_URL === undefined ? {} : { jwksUrl: values.HOLDFAST_JWKS_URL }),
  ...(values.HOLDFAST_JWT_ISSUER === undefined ? {} : { issuer: values.HOLDFAST_JWT_ISSUER }),
  ...(values.HOLDFAST_JWT_AUDIENCE === undefined ? {} : { audience: values.HOLDFAST_JWT_AUDIENCE }),
});

const tokenKeyOf = (value: string | undefined): { readonly tokenKey?: Uint8Array } => {
  const tokenKey = value === undefined ? undefined : toKey(value);
  return tokenKey === undefined ? {} : { tokenKey };
};
