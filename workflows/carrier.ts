/** Machine events on their way to the store: each stays here until an activity that carried it has answered. */
import type { MachineEvent } from './contract/activities';
import type { RunRef } from './contract/records';
import { packEvents, type WireCarried } from './contract/wire';

export class Carrier {
  private pending: readonly MachineEvent[] = [];

  constructor(private readonly ref: RunRef) {}

  add(event: MachineEvent): void {
    this.pending = [...this.pending, event];
  }

  /** Runs a carrier with all events not yet acknowledged; its answer acknowledges them. */
  async run<Result>(carry: (carried: WireCarried) => Promise<Result>): Promise<Result> {
    const events = this.pending;
    const result = await carry({ ref: this.ref, events: packEvents(events) });
    const last = events.at(-1)?.seq ?? 0;
    this.pending = this.pending.filter((event) => event.seq > last);
    return result;
  }

  get isEmpty(): boolean {
    return this.pending.length === 0;
  }

  /** After the end: the commit has written the terminal's own event, but not what was taken up beside it. */
  get hasLate(): boolean {
    return this.pending.some(({ event }) => event !== 'committed');
  }
}
