/** Signals and queries. They enqueue, wake or answer; none of them decides. */
import { defineQuery, defineSignal, setHandler, type CancellationScope } from '@temporalio/workflow';
import { QUERIES, SIGNALS, type RespondSignal, type Snapshot, type ToolEventSignal } from './contract/messages';
import type { Inbox } from './inbox';
import type { Run } from './machine/run';
import type { Performer } from './perform';

interface Handled {
  readonly inbox: Inbox;
  readonly performer: Performer;
  readonly root: CancellationScope;
  /** The run as it is now; undefined until it is open. */
  readonly current: () => Run | undefined;
}

export const registerHandlers = ({ inbox, performer, root, current }: Handled): void => {
  const requestCancel = (source: 'signal' | 'engine'): void => {
    inbox.push({ kind: 'cancelRequested', at: Date.now(), source });
  };
  setHandler(defineSignal(SIGNALS.cancel), () => {
    requestCancel('signal');
  });
  setHandler(defineSignal<[RespondSignal]>(SIGNALS.respond), ({ wait }) => {
    performer.wake(wait);
  });
  setHandler(defineSignal<[ToolEventSignal]>(SIGNALS.toolEvent), ({ operation }) => {
    const run = current();
    if (run !== undefined) performer.lookInto(run, operation);
  });
  setHandler(defineSignal(SIGNALS.message), () => {
    performer.adoptPlan(current());
  });
  setHandler(defineQuery<Snapshot | undefined>(QUERIES.snapshot), () => toSnapshot(current()));
  // Cancelling the workflow itself asks for the same as the signal: the run ends in its own order.
  root.cancelRequested.catch(() => {
    requestCancel('engine');
  });
};

const toSnapshot = (run: Run | undefined): Snapshot | undefined => {
  if (run === undefined) return undefined;
  const { id, state, seq, step, calls, waits, totals, planVersion, attempt, ending } = run;
  return {
    id,
    state,
    seq,
    step,
    calls,
    waits,
    totals,
    planVersion,
    ...(attempt === undefined ? {} : { attempt }),
    ...(ending === undefined ? {} : { ending }),
  };
};
