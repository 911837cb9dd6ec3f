/** How a command ends when it cannot do what was asked: 2 where the asking was wrong, 1 where the world was. */

/** Wrong arguments, input or environment. The message names field, value and expectation. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code = 'usage.invalid';
}

export const COMMAND_FAILURE_CODES = [
  'services.unknown',
  'database.unavailable',
  'database.not_migrated',
  'engine.unavailable',
  'engine.settings_invalid',
  'agent.unknown',
  'example.process_failed',
  'scenario.answer_missing',
  'scenario.answer_refused',
  'run.not_ended',
  'stack.child_ended',
  'service.cannot_listen',
] as const;

/** The message ends with how to mend it. */
export class CommandFailure extends Error {
  override readonly name = 'CommandFailure';
  constructor(
    readonly code: (typeof COMMAND_FAILURE_CODES)[number],
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export interface DescribedError {
  readonly code: string;
  readonly message: string;
  readonly exitCode: 1 | 2;
}

/** Codes of other parts that say: what was given is wrong. */
const USAGE_CODES = new Set([
  'usage.invalid',
  'settings.invalid',
  'settings.missing',
  'id.invalid',
  'input.invalid',
  'message.kind_unknown',
  'store.cursor_invalid',
  'agents.not_loadable',
]);

/** By the error's own stable code (`type` of the stack's errors), never by its message. */
export const describeError = (error: unknown): DescribedError => {
  const code = codeOf(error) ?? 'internal';
  return { code, message: messageOf(error, code), exitCode: USAGE_CODES.has(code) ? 2 : 1 };
};

const codeOf = (error: unknown): string | undefined => {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, type }: { code?: unknown; type?: unknown } = error;
  return [type, code].find((each): each is string => typeof each === 'string');
};

const messageOf = (error: unknown, code: string): string => {
  if (!(error instanceof Error)) return String(error);
  // Nobody foresaw it, so the place matters.
  const text = code === 'internal' ? (error.stack ?? error.message) : error.message;
  const { cause } = error;
  return cause instanceof Error && cause.message !== '' && !text.includes(cause.message)
    ? `${text}\n  because: ${cause.message}`
    : text;
};
