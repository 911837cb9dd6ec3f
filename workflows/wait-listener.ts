/** Waits for what ends a wait: a response that the store accepted, its expiry, or being closed. */
import { condition, proxyActivities } from '@temporalio/workflow';
import type { Carrier } from './carrier';
import type { RegularActivities, WaitReading } from './contract/activities';
import type { WaitId } from './contract/ids';
import type { EventOf } from './machine/events';
import { STORE } from './policies';
import { Droppable } from './side-work';

const { readWait } = proxyActivities<RegularActivities>(STORE);

type WaitEnd = Untimed<
  EventOf<
    | 'waitExpired'
    | 'approvalGiven'
    | 'approvalDenied'
    | 'answerGiven'
    | 'acceptanceGiven'
    | 'acceptanceRejected'
    | 'takenOver'
    | 'guidanceGiven'
    | 'reconciliationAnswered'
  >
>;
type Untimed<Event> = Event extends unknown ? Omit<Event, 'at'> : never;

export class WaitListener {
  private readonly open = new Map<WaitId, Droppable>();
  /** Also before anybody listens: a signal may overtake the activity that opens the wait. */
  private readonly woken = new Set<WaitId>();

  constructor(private readonly carrier: Carrier) {}

  wake(wait: WaitId): void {
    this.woken.add(wait);
  }

  close(waits: readonly WaitId[]): void {
    for (const wait of waits) {
      this.open.get(wait)?.drop();
      this.open.delete(wait);
    }
  }

  closeAll(): void {
    this.close([...this.open.keys()]);
  }

  /** Undefined where the wait is void: whoever voided it has told the run. Cancelled by `close`. */
  async listen(wait: WaitId, first: WaitReading): Promise<WaitEnd | undefined> {
    const listening = new Droppable();
    this.open.set(wait, listening);
    let reading = first;
    while (reading.kind === 'open') {
      const { remainingMs } = reading;
      await listening.run(() => condition(() => this.woken.delete(wait), remainingMs));
      reading = await this.carrier.run((carried) => readWait({ ...carried, wait }));
    }
    if (reading.kind === 'void') return undefined;
    return reading.kind === 'expired' ? { kind: 'waitExpired', wait } : { wait, ...reading.response };
  }
}
