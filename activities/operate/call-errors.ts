/** How a call of a tool can end besides what the tool itself throws. */

/** The time that it may take was over. */
export class CallTimedOut extends Error {
  readonly code = 'call.timed_out';
  constructor(
    readonly tool: string,
    readonly timeoutMs: number,
  ) {
    super(`${tool} gave no result within ${String(timeoutMs)} ms`);
    this.name = 'CallTimedOut';
  }
}

/** A result came that the tool's own output schema does not allow, or that is no JSON. */
export class OutputMismatch extends Error {
  readonly code = 'call.output_mismatch';
  constructor(
    readonly tool: string,
    /** Path of the first value at fault, and what was expected there. */
    readonly fault: { readonly field: string; readonly expected: string },
    cause?: unknown,
  ) {
    super(`output of ${tool}: ${fault.field === '' ? 'value' : fault.field}: ${fault.expected}`, { cause });
    this.name = 'OutputMismatch';
  }
}
