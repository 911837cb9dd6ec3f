/**
 * Runs a tool's function for at most so long. The signal is armed before the function is called, so that no connection is
 * opened without a limit; a function that ignores its signal is left behind, and its late result is dropped.
 */
import { CallTimedOut } from './call-errors';

export interface CallLimits {
  readonly tool: string;
  readonly timeoutMs: number;
  /** The caller's own reason to stop, for instance a cancelled activity. Writes have none: what was sent runs to its end. */
  readonly cancellation?: AbortSignal;
}

/** Rejects with CallTimedOut, with the cancellation's reason, or with what the function threw. */
export const callWithin = async <Result>(
  { tool, timeoutMs, cancellation }: CallLimits,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  cancellation?.throwIfAborted();
  const controller = new AbortController();
  const { signal } = controller;
  const stopped = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(asError(signal.reason)), { once: true });
  });
  const timer = setTimeout(() => controller.abort(new CallTimedOut(tool, timeoutMs)), timeoutMs);
  const cancel = (): void => controller.abort(cancellation?.reason);
  cancellation?.addEventListener('abort', cancel, { once: true });
  const called = run(call, signal);
  called.catch(ignore);
  try {
    return await Promise.race([called, stopped]);
  } finally {
    clearTimeout(timer);
    cancellation?.removeEventListener('abort', cancel);
    stopped.catch(ignore);
  }
};

/** A function that throws before it returns a promise fails like one whose promise rejects. */
const run = async <Result>(call: (signal: AbortSignal) => Promise<Result>, signal: AbortSignal): Promise<Result> =>
  call(signal);

const asError = (reason: unknown): Error => (reason instanceof Error ? reason : new Error(String(reason)));

/** Nobody waits for it any more; whoever does has heard of it already. */
const ignore = (): void => undefined;
