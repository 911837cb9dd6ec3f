/** Waits for what ends a wait: a response that the store accepted, its expiry, or being closed. */
import { condition, proxyActivities } from '@temporalio/workflow';
import type { RegularActivities, WaitReading } from './contract/activities';
import type { WaitId } from './contract/ids';
import type { Wire } from './contract/wire';
import type { Means } from './means';
import { STORE } from './policies';
import { Droppable } from './side-work';

const { readWait } = proxyActivities<Wire<RegularActivities>>(STORE);

export class WaitListener {
  private readonly open = new Map<WaitId, Droppable>();
  /** Also before anybody listens: a signal may overtake the activity that opens the wait. */
  private readonly woken = new Set<WaitId>();

  constructor(private readonly means: Means) {}

  wake(wait: WaitId): void {
    this.woken.add(wait);
  }

  close(waits: readonly WaitId[]): void {
    for (const wait of waits) {
      const listening = this.open.get(wait);
      this.open.delete(wait);
      this.woken.delete(wait);
      listening?.drop();
    }
  }

  closeAll(): void {
    this.close([...this.open.keys()]);
  }

  /** Opens the wait, and listens until it is over. */
  async openAndListen(wait: WaitId, open: () => Promise<WaitReading>): Promise<void> {
    const listening = this.begin(wait);
    const remainingMs = await this.means.flight.begin('activity', async () => this.take(wait, listening, await open()));
    await this.listen(wait, listening, remainingMs);
  }

  /** Listens again for a wait that an execution before has opened. */
  async listenAgain(wait: WaitId): Promise<void> {
    const listening = this.begin(wait);
    await this.listen(wait, listening, await this.read(wait, listening));
  }

  private begin(wait: WaitId): Droppable {
    const listening = new Droppable();
    this.open.set(wait, listening);
    return listening;
  }

  private async listen(wait: WaitId, listening: Droppable, firstMs: number | undefined): Promise<void> {
    const { flight } = this.means;
    let remainingMs = firstMs;
    while (remainingMs !== undefined) {
      const restMs = remainingMs;
      flight.note('timer');
      // A run that is to continue as new leaves the reading to the execution that takes over, which reads every wait.
      await listening.run(() => condition(() => this.woken.has(wait) && !flight.isHeld, restMs));
      remainingMs = await this.read(wait, listening);
    }
  }

  private read(wait: WaitId, listening: Droppable): Promise<number | undefined> {
    const { flight, carrier } = this.means;
    return flight.pass('activity', async () => {
      this.woken.delete(wait);
      return this.take(wait, listening, await carrier.run((carried) => readWait({ ...carried, wait })));
    });
  }

  /**
   * Milliseconds until it is to be read again; undefined where it is over: it has ended, it was closed meanwhile, or it is
   * void, since whoever voided it has told the run.
   */
  private take(wait: WaitId, listening: Droppable, reading: WaitReading): number | undefined {
    const isListening = this.open.get(wait) === listening;
    if (reading.kind === 'open') return isListening ? Math.max(reading.remainingMs, 1) : undefined;
    if (reading.kind === 'void') return undefined;
    if (isListening) this.open.delete(wait);
    this.means.inbox.tell(reading.kind === 'expired' ? { kind: 'waitExpired', wait } : { wait, ...reading.response });
    return undefined;
  }
}
