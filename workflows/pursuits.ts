/**
 * Going after writes whose end is open, one pursuit per call of the open candidate: a timer, then a look-up or a poll, or the
 * word that it may be sent again. What the far side reports meanwhile is looked into at once.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { RegularActivities } from './contract/activities';
import { coordinatesOf, type OperationId } from './contract/ids';
import type { Wire } from './contract/wire';
import { findCall } from './machine/calls';
import type { DuePursuit } from './machine/carried-run';
import type { Pursue } from './machine/effects';
import type { Call, Run } from './machine/run';
import type { Means } from './means';
import { TOOL } from './policies';
import { Droppable } from './side-work';

const tool = proxyActivities<Wire<RegularActivities>>(TOOL);

class Pursuit extends Droppable {
  constructor(readonly due: DuePursuit) {
    super();
  }
}

export class Pursuits {
  /** A newer pursuit of a call replaces the one before. */
  private readonly under = new Map<number, Pursuit>();
  /** The far side has reported while the call's dispatch was still under way. */
  private readonly reported = new Set<number>();
  private step = 0;

  constructor(private readonly means: Means) {}

  /** What is left to do, and when, by workflow time. */
  get due(): readonly DuePursuit[] {
    return [...this.under.values()].map(({ due }) => due);
  }

  async pursue({ step, ordinal, next: { action, afterMs } }: Pursue): Promise<void> {
    const pursuit = new Pursuit({ ordinal, action, dueAt: Date.now() + afterMs });
    this.under.get(ordinal)?.drop();
    this.under.set(ordinal, pursuit);
    await this.means.side.pause(afterMs, pursuit);
    if (action === 'resend') this.tellResend(step, pursuit);
    else await pursuit.run(() => this.means.flight.pass('activity', () => this.ask(step, pursuit, action)));
  }

  /** Something about this operation has arrived: look now instead of at the next poll. */
  lookInto(run: Run, operation: OperationId): void {
    const { step, ordinal } = coordinatesOf(operation);
    this.keepTo(run);
    if (step !== run.step || findCall(run, ordinal) === undefined) return;
    this.reported.add(ordinal);
    this.takeUpReports(run);
  }

  /** Pursuits of calls that have their end are over. */
  dropEnded(run: Run): void {
    for (const [ordinal, pursuit] of this.under) {
      const call = findCall(run, ordinal);
      if (call !== undefined && call.phase !== 'ENDED') continue;
      pursuit.drop();
      this.under.delete(ordinal);
    }
  }

  /** What was reported of calls that can be settled by now. */
  takeUpReports(run: Run): void {
    this.keepTo(run);
    for (const ordinal of this.reported) {
      const call = findCall(run, ordinal);
      if (call === undefined || !canBeSettled(call)) continue;
      this.reported.delete(ordinal);
      this.means.side.start(() =>
        this.pursue({ kind: 'pursue', step: run.step, ordinal, next: { action: 'lookUp', afterMs: 0 } }),
      );
    }
  }

  stop(): void {
    for (const pursuit of this.under.values()) pursuit.drop();
  }

  private keepTo({ step }: Run): void {
    if (step !== this.step) this.reported.clear();
    this.step = step;
  }

  /** Whether the back-off is over by the database's clock is for the dispatching transaction to say. */
  private tellResend(step: number, pursuit: Pursuit): void {
    if (!this.isNewest(pursuit)) return;
    const { ordinal } = pursuit.due;
    this.under.delete(ordinal);
    this.means.inbox.tell({ kind: 'resendDue', step, ordinal });
  }

  private async ask(step: number, pursuit: Pursuit, action: 'lookUp' | 'poll'): Promise<void> {
    const { ordinal } = pursuit.due;
    const outcome = await this.means.carrier.run((carried) => tool.pursue({ ...carried, step, ordinal, action }));
    // Cut short, it may have answered all the same; the one that replaced it reads the same row.
    if (!this.isNewest(pursuit)) return;
    this.under.delete(ordinal);
    this.means.inbox.tell({ kind: 'operationMoved', step, ordinal, outcome });
  }

  private isNewest(pursuit: Pursuit): boolean {
    return this.under.get(pursuit.due.ordinal) === pursuit;
  }
}

/** Its operation is open, and no dispatch is under way that would read what has arrived. */
const canBeSettled = ({ phase, next, isUnproved }: Call): boolean =>
  (phase === 'PENDING' && next?.action !== 'held') || (phase === 'ASKING' && isUnproved === true);
