/** The first step of a run, and the run that a continued execution takes over. */
import { change, withCheck, type Change } from './change';
import { freezeContext } from './enter';
import { NO_TOTALS, type Totals } from './ledger';
import type { Limits } from './limits';
import { NO_INPUT, type Ending, type Run } from './run';

export interface Opening {
  readonly id: Run['id'];
  readonly limits: Limits;
  /** Workflow time, ms since the epoch. */
  readonly at: number;
  /** Of a run that goes on where another has ended: steps are never numbered anew, nor is anything spent anew. */
  readonly firstStep?: number;
  readonly totals?: Totals;
  /** Why it cannot begin: it goes straight to its end. */
  readonly obstacle?: string;
}

export const openRun = ({ id, limits, at, firstStep = 1, totals = NO_TOTALS, obstacle }: Opening): Change => {
  const run: Run = {
    schemaVersion: 1,
    id,
    state: 'READY',
    seq: 0,
    step: firstStep,
    planVersion: 1,
    limits,
    deadlineAt: at + limits.deadlineMs,
    totals,
    counters: { repairs: 0, analyses: 0, pauses: 0, shrinks: 0, looks: 0 },
    loops: { traces: [] },
    calls: [],
    waits: [],
    input: NO_INPUT,
  };
  if (obstacle === undefined) return change(run, freezeContext(run));
  const ending: Ending = { as: 'FAILED', reason: obstacle };
  return withCheck(change({ ...run, state: 'FINALIZING', ending }), 0);
};
