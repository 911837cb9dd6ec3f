/** What else of the environment is needed: where programs are looked for, and what children get. */

/** The value of PATH. */
export const readSearchPath = (): string => process.env['PATH'] ?? '';

/** The environment of a child: ours with these changes; `undefined` takes a variable away. */
export const childEnvironment = (changes: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv => ({
  ...process.env,
  ...changes,
});

/** Variables whose value is a secret or leads to one: a program that does not need them does not get them. */
const SECRETS = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'DATABASE_URL',
  'HOLDFAST_TOKEN_KEY',
  'HOLDFAST_JWT_SECRET',
  'HOLDFAST_CALLBACK_SECRETS',
] as const;

const withoutSecrets = (): Readonly<Record<string, undefined>> =>
  Object.fromEntries([...SECRETS, ...temporalVariables()].map((name) => [name, undefined]));

/** For a program that is none of ours: ours without secrets. */
export const environmentOfOthers = (): NodeJS.ProcessEnv => childEnvironment(withoutSecrets());

/**
 * For a worker of the development stack: Temporal's own variables name another server, with its keys and certificates, so
 * they are left out. `changes` has to name a profile file too, or the user's own would be read.
 */
export const environmentOfDevWorker = (
  changes: Readonly<Record<string, string | undefined>> & { readonly TEMPORAL_CONFIG_FILE: string },
): NodeJS.ProcessEnv =>
  childEnvironment({
    ...Object.fromEntries(temporalVariables().map((name) => [name, undefined])),
    ...changes,
  });

const temporalVariables = (): readonly string[] =>
  Object.keys(process.env).filter((name) => name.startsWith('TEMPORAL_'));

/** For modules of the user's that read the environment themselves: what is set already stays. */
export const addToEnvironment = (values: Readonly<Record<string, string>>): void => {
  for (const [name, value] of Object.entries(values)) process.env[name] ??= value;
};
