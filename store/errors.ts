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

/** A page was asked for with a cursor that no page gave out. */
export class CursorInvalid extends Error {
  readonly code = 'store.cursor_invalid';
  readonly isRetryable = false;
  readonly field = 'cursor';
  readonly expected = 'the cursor of the page before';
  constructor(readonly value: string) {
    super(`cursor: got ${JSON.stringify(value.slice(0, 100))}, expected the cursor of the page before`);
    this.name = 'CursorInvalid';
  }
}

/** An id from outside that is too long to be a key. */
export class KeyTooLong extends Error {
  readonly code = 'store.key_too_long';
  readonly isRetryable = false;
  readonly expected: string;
  constructor(
    readonly field: string,
    readonly value: string,
    maxBytes: number,
  ) {
    const expected = `at most ${String(maxBytes)} bytes`;
    super(`${field}: got ${JSON.stringify(value.slice(0, 100))}…, expected ${expected}`);
    this.name = 'KeyTooLong';
    this.expected = expected;
  }
}
