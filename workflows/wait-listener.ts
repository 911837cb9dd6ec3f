/** Waits for what ends a wait: a response that the store accepted, its expiry, or being closed. */
import { condition, proxyActivities } from '@temporalio/workflow';
import type { Carrier } from './carrier';
import type { RegularActivities, WaitReading } from './contract/activities';
import type { WaitId } from './contract/ids';
import type { Wire } from './contract/wire';
import type { EventOf } from './machine/events';
import { STORE } from './policies';
import { Droppable } from './side-work';

const { readWait } = proxyActivities<Wire<RegularActivities>>(STORE);

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
      const listening = this.open.get(wait);
      this.open.delete(wait);
      listening?.drop();
    }
  }

  closeAll(): void {
    this.close([...this.open.keys()]);
  }

  /**
   * Undefined where the wait is void, since whoever voided it has told the run, and where it was closed meanwhile, be it
   * before it was open.
   */
  async listen(wait: WaitId, open: () => Promise<WaitReading>): Promise<WaitEnd | undefined> {
    const listening = new Droppable();
    this.open.set(wait, listening);
    let reading = await open();
    while (reading.kind === 'open' && this.open.get(wait) === listening) {
      const remainingMs = Math.max(reading.remainingMs, 1);
      await listening.run(() => condition(() => this.woken.delete(wait), remainingMs));
      reading = await this.carrier.run((carried) => readWait({ ...carried, wait }));
    }
    if (reading.kind === 'open' || reading.kind === 'void') return undefined;
    this.open.delete(wait);
    return reading.kind === 'expired' ? { kind: 'waitExpired', wait } : { wait, ...reading.response };
  }
}
