/** What can go wrong around the development stack; each message ends with how to mend it. */
export type StackErrorType =
  | 'stack.binary_missing'
  | 'stack.data_dir_foreign'
  | 'stack.data_dir_locked'
  | 'stack.data_dir_unusable'
  | 'stack.port_unavailable'
  | 'stack.postgres_account'
  | 'stack.postgres_data'
  | 'stack.postgres_missing'
  | 'stack.process_exited'
  | 'stack.process_not_ready';

export interface StackErrorData extends Readonly<Record<string, unknown>> {
  readonly cause?: unknown;
}

export class StackError extends Error {
  override readonly name = 'StackError';
  readonly data: Readonly<Record<string, unknown>>;

  constructor(
    readonly type: StackErrorType,
    message: string,
    { cause, ...data }: StackErrorData = {},
  ) {
    super(message, cause === undefined ? {} : { cause });
    this.data = data;
  }
}

/** Asked by shape, not by `instanceof`: errors of node's own modules come from another realm under some test runners. */
export function errorCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

export function errorText(error: unknown): string {
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error);
}
