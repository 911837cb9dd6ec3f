/** What the store throws. Each says whether trying again can help. */

export class StoreUnavailable extends Error {
  readonly code = 'store.unavailable';
  readonly isRetryable = true;
  constructor(cause: unknown) {
    super('the database does not answer', { cause });
    this.name = 'StoreUnavailable';
  }
}

/** The same key with other content: our own bug, or two runs under one id. */
export class StoreConflict extends Error {
  readonly code = 'store.conflict';
  readonly isRetryable = false;
  constructor(
    readonly key: string,
    readonly stored: unknown,
    readonly given: unknown,
  ) {
    super(`${key} is stored with other content`);
    this.name = 'StoreConflict';
  }
}

export class RowMissing extends Error {
  readonly code = 'store.missing';
  readonly isRetryable = false;
  constructor(readonly key: string) {
    super(`${key} is not in the store`);
    this.name = 'RowMissing';
  }
}
