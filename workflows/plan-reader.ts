/** Reads the plan anew when a message says that it has moved on: one reading at a time, however many messages come. */
import { proxyActivities } from '@temporalio/workflow';
import type { RegularActivities } from './contract/activities';
import type { Wire } from './contract/wire';
import type { Means } from './means';
import { STORE } from './policies';

const { adoptPlan } = proxyActivities<Wire<RegularActivities>>(STORE);

export class PlanReader {
  /** Also before the run is open: it is read then. */
  private isUnread = false;
  private isReading = false;
  /** What the run has been told, whatever it made of it. */
  private told = 0;

  constructor(private readonly means: Means) {}

  read(): void {
    this.isUnread = true;
    this.catchUp();
  }

  /** Reads what is unread, once the run is open. */
  catchUp(): void {
    if (!this.isUnread || this.isReading || this.means.current() === undefined) return;
    this.isReading = true;
    this.means.side.start(() => this.readAll());
  }

  stop(): void {
    this.isUnread = false;
  }

  private async readAll(): Promise<void> {
    while (this.isUnread) await this.means.flight.pass('activity', () => this.readOnce());
    this.isReading = false;
  }

  private async readOnce(): Promise<void> {
    const { current, carrier, inbox } = this.means;
    const run = current();
    if (run === undefined) return;
    this.isUnread = false;
    const { step } = run;
    const planVersion = Math.max(run.planVersion, this.told);
    const plan = await carrier.run((carried) => adoptPlan({ ...carried, planVersion, step }));
    if (plan === undefined) return;
    this.told = plan.planVersion;
    const { change: kind, ...adopted } = plan;
    inbox.tell({ kind, ...adopted, atStep: step });
  }
}
