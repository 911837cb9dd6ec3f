/**
 * What is in flight, and whether new work may begin. A run that is to continue as new begins nothing more and waits until
 * nothing is in flight; what it holds back is begun by the execution that takes over.
 */
import { condition, workflowInfo } from '@temporalio/workflow';
import type { Run } from './machine/run';

/**
 * Events that one of each costs a history, its workflow task included. Counted here and not read from the history: a workflow
 * task that was prolonged by a slow local activity is one task in a replay, so the length differs there.
 */
const EVENTS = { activity: 6, local: 1, timer: 5, signal: 4 } as const;

/** Well below the 4,096 at which the server suggests it, and the 10,240 at which it warns. */
export const CONTINUE_AFTER_EVENTS = 2_000;

export interface Continuing {
  /** Estimated events after which the run continues as new. */
  readonly afterEvents: number;
  readonly current: () => Run | undefined;
}

export class Flight {
  private count = 0;
  private events = 0;

  constructor(private readonly continuing: Continuing) {}

  get isEmpty(): boolean {
    return this.count === 0;
  }

  /** The run is where it may be handed to a new execution, and its history is long. Nothing new begins. */
  get isHeld(): boolean {
    const state = this.continuing.current()?.state;
    if (state !== 'READY' && state !== 'WAITING_TOOL' && state !== 'WAITING_USER') return false;
    // The server's word is taken only where no local activity can have prolonged the task that brought it.
    return this.events >= this.continuing.afterEvents || (state !== 'READY' && workflowInfo().continueAsNewSuggested);
  }

  note(what: keyof typeof EVENTS): void {
    this.events += EVENTS[what];
  }

  /** Whatever the run has decided already, and what tells it how that went. */
  async begin<Result>(what: 'activity' | 'local', work: () => Promise<Result>): Promise<Result> {
    this.note(what);
    this.count += 1;
    try {
      return await work();
    } finally {
      this.count -= 1;
    }
  }

  /** What the next execution does as well. */
  async pass<Result>(what: 'activity' | 'local', work: () => Promise<Result>): Promise<Result> {
    if (this.isHeld) await condition(() => !this.isHeld);
    return this.begin(what, work);
  }
}
