/** What services and pages read. Nothing here writes, and every read filters by tenant (law 1 of `store/store.ts`). */
import type { ArtifactHash, OperationId, RunId, TenantId, WaitId } from '../workflows/contract/ids';
import type { RunRef } from '../workflows/contract/records';
import type { Totals } from '../workflows/machine/ledger';
import type { State, Terminal } from '../workflows/machine/states';
import type { AttemptRow, DecisionRow, OperationRow, RunRow, WaitRow } from './rows';
import type { RunFilter } from './store';

/** A run row with what is counted on it. */
export interface RunReading {
  readonly row: RunRow;
  readonly totals: Totals;
  /** Of the last line in its journal; 0 before the first. */
  readonly position: number;
  /** When the oldest of its open waits was opened. */
  readonly waitingSince?: number;
}

/** Text of the attempt that speaks, or spoke last. A new attempt begins empty: two are never joined. */
export interface LiveAttempt {
  readonly step: number;
  readonly attempt: number;
  /** Index of the first of `texts`. */
  readonly from: number;
  readonly texts: readonly string[];
  /** The attempt has failed or was lost: nothing that it said stands. */
  readonly isVoid: boolean;
}

/** What tells a follower whether there is anything to read. */
export interface Moment {
  readonly position: number;
  readonly state: State | 'STARTING';
  readonly terminal?: Terminal;
  readonly reason?: string;
}

/** The first and the last step that a run has records of. */
export interface StepSpan {
  readonly first: number;
  readonly last: number;
}

/** By number, both ends included. */
export interface StepRange {
  readonly from: number;
  readonly to: number;
}

/** In the order in which they came about, step by step. */
export interface StepRecords {
  readonly attempts: readonly AttemptRow[];
  readonly decisions: readonly (DecisionRow & { readonly id: string })[];
  readonly operations: readonly OperationRow[];
}

export interface Period {
  /** Runs that were created at or after `from` and before `to`, ms since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly agent?: string;
}

export interface Summary {
  readonly started: number;
  readonly ended: Readonly<Record<Terminal, number>>;
  readonly active: number;
  /** Runs of the period in which a `finish(done)` was proposed at all, and in which the first one did not hold. */
  readonly finishes: { readonly runs: number; readonly premature: number; readonly proposals: number };
  /** Runs that a loop rule stopped, and those that were given a correction step. */
  readonly loops: { readonly stopped: number; readonly corrected: number };
  readonly costMicros: number;
  /** Of ended runs, by their journal: time in WAITING_USER, and all other time. */
  readonly userMs: number;
  readonly systemMs: number;
}

export interface ReaderStore {
  run(ref: RunRef): Promise<RunReading | undefined>;
  /** Newest first; `cursor` as of `RunStore.list`. */
  runs(
    tenant: TenantId,
    filter: RunFilter,
  ): Promise<{ readonly readings: readonly RunReading[]; readonly cursor?: string }>;
  /** Those of the tenant's runs that exist. */
  rows(tenant: TenantId, runs: readonly RunId[]): Promise<ReadonlyMap<RunId, RunRow>>;
  /** Those of the tenant's operations that exist, of whatever runs. */
  operations(tenant: TenantId, operations: readonly OperationId[]): Promise<ReadonlyMap<OperationId, OperationRow>>;
  /** Those of the tenant's waits that exist, of whatever runs. */
  waits(tenant: TenantId, waits: readonly WaitId[]): Promise<ReadonlyMap<WaitId, WaitRow>>;
  /** Undefined before the first step. Read from the ends alone, however many steps there are. */
  stepSpan(ref: RunRef): Promise<StepSpan | undefined>;
  /** What is recorded of these steps, and of no other. */
  stepRecords(ref: RunRef, range: StepRange): Promise<StepRecords>;
  /** What the model produced last. */
  lastCandidate(ref: RunRef): Promise<ArtifactHash | undefined>;
  /** Writes of which nobody has proved what became. */
  unproved(ref: RunRef): Promise<readonly OperationRow[]>;
  moment(ref: RunRef): Promise<Moment | undefined>;
  /** Whether a record of this very run names the artifact. */
  names(ref: RunRef, artifact: ArtifactHash): Promise<boolean>;
  /** `undefined` where the tenant has no such artifact; `bytes` is at most `limit` long and empty past the end. */
  artifactPart(
    tenant: TenantId,
    hash: ArtifactHash,
    part: { readonly offset: number; readonly limit: number },
  ): Promise<{ readonly bytes: Uint8Array; readonly mediaType: string; readonly sizeBytes: number } | undefined>;
  summary(tenant: TenantId, period: Period): Promise<Summary>;
}

export interface LiveTextStore {
  /**
   * Appends pieces to the text of an attempt, or begins it. What comes from an attempt before the one that is there is
   * dropped. Lossy by design: kept until the next attempt of the run, at most `MAX_LIVE_CHARACTERS`, and never evidence.
   */
  add(
    ref: RunRef,
    text: { readonly step: number; readonly attempt: number; readonly texts: readonly string[] },
  ): Promise<void>;
  /** From the given index on where `after` names the attempt that is there; else that attempt from its beginning. */
  read(
    ref: RunRef,
    after?: { readonly step: number; readonly attempt: number; readonly index: number },
  ): Promise<LiveAttempt | undefined>;
  /** Forgets what has not been added to for so long. */
  forget(olderThanMs: number): Promise<void>;
}
