/** What services and pages read. Nothing here writes, and every read filters by tenant (law 1 of `store/store.ts`). */
import type { ArtifactHash, OperationId, RunId, TenantId } from '../workflows/contract/ids';
import type { RunRef } from '../workflows/contract/records';
import type { Totals } from '../workflows/machine/ledger';
import type { State, Terminal } from '../workflows/machine/states';
import type { OperationRow, RunRow } from './rows';
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
