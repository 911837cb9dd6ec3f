/** The queue between what happens and the one loop that decides: in order of arrival, one at a time. */
import { condition } from '@temporalio/workflow';
import type { RunEvent } from './machine/events';

/** Something of ours broke: it has to fail the task, not the run, so that a mended build goes on from here. */
interface Fault {
  readonly kind: 'fault';
  readonly error: unknown;
}

export class Inbox {
  private readonly queue: (RunEvent | Fault)[] = [];

  push(event: RunEvent): void {
    this.queue.push(event);
  }

  fail(error: unknown): void {
    this.queue.push({ kind: 'fault', error });
  }

  async next(): Promise<RunEvent> {
    await condition(() => this.queue.length > 0);
    const first = this.queue.shift();
    if (first === undefined) throw new Error('the inbox woke up empty');
    if (first.kind === 'fault') throw new TaskFault(first.error);
    return first;
  }

  /** What is left when the run has ended. A fault changes nothing any more. */
  drain(): readonly RunEvent[] {
    return this.queue.splice(0).filter((each) => each.kind !== 'fault');
  }
}

/** Not a TemporalFailure on purpose: the SDK fails the workflow task for it, and retries the task. */
class TaskFault extends Error {
  override readonly name = 'TaskFault';
  constructor(cause: unknown) {
    super('the workflow task cannot go on', { cause });
  }
}
