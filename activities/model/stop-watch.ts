/** What may end an exchange from our side: silence, the attempt's limit, an interruption. The first one is the reason. */

export type StopReason = 'stalled' | 'timedOut' | 'interrupted';

export interface StopWatchOptions {
  readonly idleTimeoutMs: number;
  readonly limitMs: number;
  readonly interruption: AbortSignal;
}

/** Beyond it a timer fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

export class StopWatch {
  readonly #controller = new AbortController();
  readonly #idleTimeoutMs: number;
  readonly #limit: NodeJS.Timeout;
  readonly #interruption: AbortSignal;
  readonly #onInterruption = (): void => {
    this.#stop('interrupted');
  };
  #idle: NodeJS.Timeout;
  #reason: StopReason | undefined;

  constructor({ idleTimeoutMs, limitMs, interruption }: StopWatchOptions) {
    this.#idleTimeoutMs = idleTimeoutMs;
    this.#interruption = interruption;
    this.#idle = this.#after(idleTimeoutMs, 'stalled');
    this.#limit = this.#after(limitMs, 'timedOut');
    interruption.addEventListener('abort', this.#onInterruption, { once: true });
    if (interruption.aborted) this.#stop('interrupted');
  }

  /** Aborts whatever is in flight. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Why, once it has stopped. */
  get reason(): StopReason | undefined {
    return this.#reason;
  }

  /** There was progress; from now on silence may last so long. */
  progress(silenceMs = this.#idleTimeoutMs): void {
    clearTimeout(this.#idle);
    this.#idle = this.#after(silenceMs, 'stalled');
  }

  /** Ends its timers, and whatever is still in flight. */
  end(): void {
    clearTimeout(this.#idle);
    clearTimeout(this.#limit);
    this.#interruption.removeEventListener('abort', this.#onInterruption);
    this.#controller.abort();
  }

  #after(ms: number, reason: StopReason): NodeJS.Timeout {
    return setTimeout(
      () => {
        this.#stop(reason);
      },
      Math.min(ms, LONGEST_TIMER_MS),
    );
  }

  #stop(reason: StopReason): void {
    this.#reason ??= reason;
    this.#controller.abort();
  }
}
