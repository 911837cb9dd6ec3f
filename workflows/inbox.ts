/** The queue between what happens and the one loop that decides: in order of arrival, one at a time. */
import type { RunEvent } from './machine/events';

/** Something of ours broke: it has to fail the task, not the run, so that a mended build goes on from here. */
interface Fault {
  readonly kind: 'fault';
  readonly error: unknown;
}

type Untimed<Event> = Event extends RunEvent ? Omit<Event, 'at'> : never;
/** An event that has just happened. */
export type NewEvent = Untimed<RunEvent>;

export class Inbox {
  private readonly queue: (RunEvent | Fault)[] = [];

  get isEmpty(): boolean {
    return this.queue.length === 0;
  }

  tell(event: NewEvent): void {
    this.queue.push({ ...event, at: Date.now() });
  }

  fail(error: unknown): void {
    this.queue.push({ kind: 'fault', error });
  }

  /** Undefined where nothing has happened. Throws TaskFault. */
  take(): RunEvent | undefined {
    const first = this.queue.shift();
    if (first?.kind === 'fault') throw new TaskFault(first.error);
    return first;
  }

  /** What is left when the run has ended. A fault changes nothing any more. */
  drain(): readonly RunEvent[] {
    return this.queue.splice(0).filter((each) => each.kind !== 'fault');
  }
}

/** Not a TemporalFailure on purpose: the SDK fails the workflow task for it, and retries the task. */
export class TaskFault extends Error {
  override readonly name = 'TaskFault';
  constructor(cause: unknown) {
    super('the workflow task cannot go on', { cause });
  }
}
