/**
 * What a run takes along when it continues as new: its state, and when what it waits for is due. Everything else is in rows:
 * waits are read again, and so is whatever a signal was about that the execution before did not come to.
 *
 * Schema 1: as it is.
 */
import { assertMachine } from './assert';
import { freezeContext } from './enter';
import type { Effect } from './effects';
import { correctionOf } from './loops';
import type { Run, TimedPursuit } from './run';

/** By workflow time, ms since the epoch. */
export interface DuePursuit {
  readonly ordinal: number;
  readonly action: TimedPursuit['action'];
  readonly dueAt: number;
}

export interface CarriedRun {
  readonly schemaVersion: number;
  readonly run: Run;
  readonly pursuits: readonly DuePursuit[];
  /** The next look at an intended end, where the run waits for an operation before it. */
  readonly checkAt?: number;
  /** Until then calls in flight may come to their ends, where the run is ending. */
  readonly graceAt?: number;
}

export const MAX_CARRIED_BYTES = 32 * 1024;

/** Throws MachineAssertion where it is too large: nothing that grows with the run may be part of its state. */
export const carryRun = (carried: Omit<CarriedRun, 'schemaVersion'>): CarriedRun => {
  const whole: CarriedRun = { schemaVersion: 1, ...carried };
  const sizeBytes = new TextEncoder().encode(JSON.stringify(whole)).length;
  assertMachine(sizeBytes <= MAX_CARRIED_BYTES, `a run carries at most 32 kB, got ${String(sizeBytes)} bytes`);
  return whole;
};

/** Throws MachineAssertion for a version that this build does not know: a newer one goes on with it. */
export const resumeRun = (
  carried: CarriedRun,
  at: number,
): { readonly run: Run; readonly effects: readonly Effect[] } => {
  const { schemaVersion, run, checkAt, graceAt } = carried;
  assertMachine(schemaVersion === 1, `a carried run of schema version ${String(schemaVersion)} is unknown here`);
  return {
    run,
    effects: [
      ...(run.state === 'READY' ? [freezeContext(run, correctionOf(run))] : []),
      ...pursuitsOf(carried, at),
      ...(graceAt === undefined ? [] : [{ kind: 'startGrace', forMs: Math.max(0, graceAt - at) } as const]),
      ...lookAgain(run, (checkAt ?? at) - at),
    ],
  };
};

const pursuitsOf = ({ run, pursuits }: CarriedRun, at: number): readonly Effect[] =>
  pursuits.map(({ ordinal, action, dueAt }) => ({
    kind: 'pursue',
    step: run.step,
    ordinal,
    next: { action, afterMs: Math.max(0, dueAt - at) },
  }));

const lookAgain = ({ state, ending, check }: Run, afterMs: number): readonly Effect[] =>
  state === 'WAITING_TOOL' && ending?.as === 'SUCCEEDED' && check !== undefined
    ? [{ kind: 'checkEnd', check, ending, afterMs: Math.max(0, afterMs) }]
    : [];
