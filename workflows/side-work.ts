/** Work beside the loop. Cancelling the workflow does not touch it: cancel is an event, and the machine says what stops. */
import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import type { Flight } from './flight';
import type { Inbox } from './inbox';

/** A scope whose work can be given up, and which is new again afterwards. */
export class Droppable {
  private scope = new CancellationScope();

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.scope.run(work);
  }

  drop(): void {
    this.scope.cancel();
    this.scope = new CancellationScope();
  }
}

export class SideWork {
  /** Ends with the run. */
  readonly timers = new Droppable();
  private readonly unfinished = new Set<Promise<void>>();

  constructor(
    private readonly inbox: Inbox,
    private readonly flight: Flight,
  ) {}

  /** Whatever breaks in it fails the workflow task; being given up is no failure. */
  start(work: () => Promise<void> | undefined): void {
    const done = CancellationScope.nonCancellable(async () => {
      await work();
    }).catch((error: unknown) => {
      if (!isCancellation(error)) this.inbox.fail(error);
    });
    void done;
  }

  /** Nothing for what is due. Given up with `scope`. */
  async pause(ms: number, scope: Droppable = this.timers): Promise<void> {
    if (ms <= 0) return;
    this.flight.note('timer');
    await scope.run(() => sleep(ms));
  }

  after(ms: number, then: () => void): void {
    this.start(async () => {
      await this.pause(ms);
      then();
    });
  }

  /** What an end must not overtake: an attempt that is being cancelled, operations that are being stopped. */
  async track(work: () => Promise<void>): Promise<void> {
    const done = work();
    this.unfinished.add(done);
    try {
      await done;
    } finally {
      this.unfinished.delete(done);
    }
  }

  get isTracking(): boolean {
    return this.unfinished.size > 0;
  }
}
