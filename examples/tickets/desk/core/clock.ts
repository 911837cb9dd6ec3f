/** Time as a dependency, so that tests move it instead of waiting. */
export interface Clock {
  now(): number;
  /** Runs `task` after `delayMs`; the returned function takes it back. */
  schedule(task: () => void, delayMs: number): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  schedule: (task, delayMs) => {
    const timer = setTimeout(task, delayMs);
    return () => {
      clearTimeout(timer);
    };
  },
};

/** What a sleeper gets when the desk is reset or closed under it. */
export class SleepEndedError extends Error {
  override readonly name = 'SleepEndedError';
}

/** Everything the desk will do later. Reset and close drop it all, so that no old intention reaches new data. */
export class Scheduler {
  readonly #clock: Clock;
  readonly #pending = new Set<() => void>();
  #epoch = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Changes with every `clear`, so that work under way can tell that the desk it began in is gone. */
  get epoch(): number {
    return this.#epoch;
  }

  requireEpoch(epoch: number): void {
    if (epoch !== this.#epoch) throw new SleepEndedError('the desk was reset or closed');
  }

  after(delayMs: number, task: () => void): void {
    this.#add(delayMs, task, () => undefined);
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#add(delayMs, resolve, () => {
        reject(new SleepEndedError('the desk was reset or closed'));
      });
    });
  }

  /** Settles only when the desk is reset or closed. */
  forever(): Promise<void> {
    return new Promise((resolve) => {
      this.#pending.add(resolve);
    });
  }

  clear(): void {
    this.#epoch += 1;
    const dropped = [...this.#pending];
    this.#pending.clear();
    for (const drop of dropped) drop();
  }

  #add(delayMs: number, task: () => void, onDropped: () => void): void {
    const drop = (): void => {
      cancel();
      onDropped();
    };
    const cancel = this.#clock.schedule(() => {
      this.#pending.delete(drop);
      task();
    }, delayMs);
    this.#pending.add(drop);
  }
}

/** For work that nobody waits for: ended sleeps are the desk's own doing, everything else is a bug and must be seen. */
export function ignoreEndedSleep(error: unknown): void {
  if (!(error instanceof SleepEndedError)) throw error;
}
