/** Signals and queries. They enqueue, wake or answer; none of them decides. */
import { defineQuery, defineSignal, setHandler, type CancellationScope } from '@temporalio/workflow';
import { QUERIES, SIGNALS, type Snapshot } from './contract/messages';
import type { Run } from './machine/run';
import type { Means } from './means';
import type { Performer } from './perform';
import { isWholeResponse, readOperation, readWait } from './signals';

interface Handled {
  readonly means: Means;
  readonly performer: Performer;
  readonly root: CancellationScope;
}

export const registerHandlers = ({ means: { inbox, flight, current }, performer, root }: Handled): void => {
  const requestCancel = (source: 'signal' | 'engine'): void => {
    inbox.tell({ kind: 'cancelRequested', source });
  };
  setHandler(defineSignal(SIGNALS.cancel), () => {
    flight.note('signal');
    requestCancel('signal');
  });
  setHandler(defineSignal<[unknown]>(SIGNALS.respond), (given) => {
    flight.note('signal');
    const wait = readWait(given);
    if (wait === undefined) return;
    if (isWholeResponse(given)) performer.judge(wait, given);
    else performer.wake(wait);
  });
  setHandler(defineSignal<[unknown]>(SIGNALS.toolEvent), (given) => {
    flight.note('signal');
    const operation = readOperation(given);
    if (operation !== undefined) performer.lookInto(operation);
  });
  setHandler(defineSignal(SIGNALS.message), () => {
    flight.note('signal');
    performer.readPlan();
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
