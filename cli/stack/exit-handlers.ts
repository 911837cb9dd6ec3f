import type { ProcessGroup } from './process-group';

export interface ExitHandlerOptions {
  /** Called once when the ending begins, with what began it. */
  readonly onEnding?: ((cause: EndingCause) => void) | undefined;
  /** Last words after all has ended, before the process exits (release the data directory). Also called on `exit`, so idempotent. */
  readonly onEnded?: (() => void) | undefined;
}

export type EndingCause =
  { readonly kind: 'signal'; readonly signal: NodeJS.Signals } | { readonly kind: 'failure'; readonly error: unknown };

const SIGNAL_EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type EndingSignal = keyof typeof SIGNAL_EXIT_CODES;
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const satisfies readonly EndingSignal[];

/**
 * Ends the group on every way out of this process: SIGINT, SIGTERM and SIGHUP end it in order; a second one ends it at once
 * by SIGKILL; a failure that nobody caught ends it in order with exit code 1, a second failure at once; and `process.exit`
 * from anywhere leaves nothing behind. SIGKILL is the watchdogs' part.
 * Returns a function that takes the handlers off again.
 */
export function endOnExit(group: ProcessGroup, options: ExitHandlerOptions = {}): () => void {
  let ending = false;

  const end = (cause: EndingCause, exitCode: number): void => {
    if (ending) {
      group.killNow();
      options.onEnded?.();
      process.exit(exitCode);
    }
    ending = true;
    options.onEnding?.(cause);
    void group.stop().then(() => {
      options.onEnded?.();
      process.exit(exitCode);
    });
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    end({ kind: 'signal', signal }, exitCodeOf(signal));
  };
  const onFailure = (error: unknown): void => {
    end({ kind: 'failure', error }, 1);
  };
  const onExit = (): void => {
    group.killNow();
    options.onEnded?.();
  };

  for (const signal of ENDING_SIGNALS) process.on(signal, onSignal);
  process.on('uncaughtException', onFailure);
  process.on('unhandledRejection', onFailure);
  process.on('exit', onExit);
  return () => {
    for (const signal of ENDING_SIGNALS) process.off(signal, onSignal);
    process.off('uncaughtException', onFailure);
    process.off('unhandledRejection', onFailure);
    process.off('exit', onExit);
  };
}

function exitCodeOf(signal: NodeJS.Signals): number {
  const known = ENDING_SIGNALS.find((each) => each === signal);
  return known === undefined ? 1 : SIGNAL_EXIT_CODES[known];
}
