/** Going on with an operation after its run has ended: the workflow's input, its bounds, and its one activity. */
import type { OperationId } from '../machine/ids';
import type { RunRef } from './records';

export const RECONCILE = 'reconcile';

/** One workflow for each operation: whoever starts it again wakes the one that is there. */
export const reconcileIdOf = (operation: OperationId): string => `reconcile_${operation}`;

/**
 * Looks follow each other after 1 s, 2 s, 4 s, … up to an hour, for two weeks from the run's end: some 350 of them, and as
 * many more as callbacks ask for, up to the limit. A look is 11 events of history (activity, timer, two workflow tasks), so
 * that the whole is under 5,000 and needs no continue-as-new.
 */
export const FIRST_PAUSE_MS = 1_000;
export const MAX_PAUSE_MS = 60 * 60_000;
export const RECONCILED_FOR_MS = 14 * 24 * 60 * 60_000;
export const MAX_LOOKS = 450;

/** What a person may say after the end. */
export const RESOLVED_STATES = ['SUCCEEDED', 'FAILED', 'NOT_EXECUTED'] as const;
export type ResolvedState = (typeof RESOLVED_STATES)[number];

export interface ReconcileInput {
  readonly schemaVersion: 1;
  readonly ref: RunRef;
  readonly operation: OperationId;
}

export interface LookInput {
  readonly ref: RunRef;
  readonly operation: OperationId;
  /** 1, 2, 3… */
  readonly look: number;
}

export type Looked =
  /** Its end is known, and the result says so. */
  | { readonly kind: 'settled'; readonly state: string }
  | { readonly kind: 'open'; readonly afterMs: number }
  /** Nobody asks any more: it is UNRESOLVED until a person, or a callback that comes after all, says what became of it. */
  | { readonly kind: 'givenUp' }
  /** The run goes on, and with it whoever goes after its operations. */
  | { readonly kind: 'runNotEnded' };

export interface ReconcileActivities {
  /** Reads what has been reported, then asks once. Never sends. */
  reconcileOperation(input: LookInput): Promise<Looked>;
}
