/**
 * The shapes of what is stored as artifacts and read back by others: manifests, findings, plans, results. Each carries a
 * `schemaVersion`; readers accept the older ones.
 */
import type { Diagnosis } from '../machine/run';
import type { Terminal } from '../machine/states';
import type { Totals } from '../machine/ledger';
import type { ErrorCode } from './errors';
import type { ArtifactHash, EvidenceId, OperationId, RunId, TenantId, WaitId } from './ids';
import type { Json, JsonObject } from './json';

export interface RunRef {
  readonly tenant: TenantId;
  readonly run: RunId;
}

/** A confirmed statement, written by the runtime; never taken from model text. */
export interface Fact {
  /** `<kind>:<id>`, for instance `ticket:T100`. */
  readonly object: string;
  readonly field: string;
  readonly value: Json;
  /** The object's version at the source, as the source writes it; absent where it has none. */
  readonly version?: string;
  readonly evidence: EvidenceId;
}

export const GAP_KINDS = ['fact', 'choice', 'work', 'approval', 'unknown'] as const;
export type GapKind = (typeof GAP_KINDS)[number];

/** A named thing that the task still lacks. Computed from conditions, facts and operations. */
export interface Gap {
  readonly name: string;
  readonly kind: GapKind;
  /** In words, for the model and the reader. */
  readonly lacks: string;
  /** `object.field` names that would close it, where a fact would. */
  readonly needs?: readonly string[];
  /** Objects that a choice is between. */
  readonly candidates?: readonly string[];
}

/** How a call of a candidate ended, by references to what never changes: it is shown the same for ever. */
export interface CallEnd {
  readonly ordinal: number;
  /** Absent for a success. */
  readonly code?: string;
  readonly evidence?: EvidenceId;
  readonly output?: ArtifactHash;
  readonly failure?: ArtifactHash;
  /** What the tool itself made of an output that is too large to be shown. */
  readonly digest?: ArtifactHash;
  /** The wait that decided it, where a person denied it or nobody answered. */
  readonly wait?: WaitId;
}

/** A fact as a context shows it. A value that is too large is named by its size alone: its evidence holds it. */
export interface ShownFact extends Omit<Fact, 'value'> {
  readonly value?: Json;
  readonly valueBytes?: number;
}

/** An addition of an earlier step that a root still shows; digested, its results are shown by their digest only. */
export interface KeptAddition {
  readonly addition: Addition;
  readonly isDigested: boolean;
  /** Of the manifest that first showed it in this form; absent for 0. */
  readonly shrinks?: number;
}

/** What a step's context adds to its parent's, in the order in which the model is shown it. */
export type Addition =
  /** A candidate with the result of each of its calls (results by operation, or the end without one). */
  | {
      readonly kind: 'exchange';
      readonly step: number;
      readonly candidate: ArtifactHash;
      readonly calls: readonly CallEnd[];
      /** The finding that answers the candidate as a whole, where it was rejected. */
      readonly finding?: ArtifactHash;
      /** The response that answers it, where it was a question. */
      readonly wait?: WaitId;
    }
  | { readonly kind: 'response'; readonly wait: WaitId }
  | { readonly kind: 'finding'; readonly finding: ArtifactHash }
  | { readonly kind: 'correction'; readonly diagnosis: Diagnosis }
  | { readonly kind: 'message'; readonly message: string; readonly text: string };

/** The frozen input of a step. Its hash (over RFC 8785 JSON) is the context. */
export interface Manifest {
  readonly schemaVersion: 1;
  readonly run: RunId;
  readonly step: number;
  readonly planVersion: number;
  /** Absent on a root: a root stands alone and holds what it keeps in `kept`. */
  readonly parent?: ArtifactHash;
  readonly adds: readonly Addition[];
  /** On a root after the first: additions of earlier steps that are still shown. */
  readonly kept?: readonly KeptAddition[];
  /** On a root: how many exchanges the run has had that are no longer shown. */
  readonly leftOut?: number;
  readonly definition: ArtifactHash;
  readonly policyVersion: string;
  readonly model: string;
  readonly remaining: {
    readonly steps: number;
    readonly tokens: number;
    readonly costMicros: number;
    readonly toolCalls: number;
    readonly deadlineMs: number;
  };
  readonly memory?: ArtifactHash;
  readonly gaps: readonly Gap[];
  /** Gaps of the parent that its step has closed; what the step was to close stands in the decisions about its calls. */
  readonly closed?: readonly string[];
  /** As they were when the step was frozen; what moves later is in a later step's context. */
  readonly facts: readonly ShownFact[];
  readonly openOperations: readonly OperationSummary[];
  /** 0 for the usual size; each step up halves the projection's limit. */
  readonly shrinks: number;
}

/** Why a candidate, or one of its calls, goes back to the model. */
export interface Finding {
  readonly schemaVersion: 1;
  /** Stable, for instance `candidate.unknown_tool`, `finish.condition_unmet`. */
  readonly code: string;
  readonly message: string;
  /** JSON path of the value at fault, what it was and what was expected, where one value is at fault. */
  readonly field?: string;
  readonly value?: Json;
  readonly expected?: string;
  readonly gaps?: readonly Gap[];
  readonly calls?: readonly {
    readonly ordinal: number;
    readonly code: ErrorCode;
    readonly message: string;
    readonly field?: string;
  }[];
}

/** What a person is shown before they decide about operations. Complete, or it says that it is not. */
export interface Plan {
  readonly schemaVersion: 1;
  readonly kind: 'approval' | 'reconciliation' | 'acceptance' | 'handoff';
  readonly why: string;
  readonly operations: readonly {
    readonly id: OperationId;
    readonly tool: string;
    readonly arguments: Json;
    readonly target?: string;
    readonly expectedVersion?: string;
    readonly risk: string;
    readonly repeats?: OperationId;
  }[];
  readonly isComplete: boolean;
  readonly diagnosis?: Diagnosis;
  /** What was approved before, where the terms changed since. */
  readonly previous?: Json;
}

export interface Question {
  readonly schemaVersion: 1;
  readonly question: string;
  /** JSON Schema of the response. */
  readonly responseSchema: JsonObject;
  readonly askedBy: 'model' | 'runtime';
  readonly candidates?: readonly string[];
}

export interface Claim {
  readonly text: string;
  readonly evidence: readonly EvidenceId[];
  readonly asserts?: readonly { readonly object: string; readonly field: string; readonly value: Json }[];
}

/** What `finish` proposes. */
export interface Answer {
  readonly schemaVersion: 1;
  readonly outcome: 'done' | 'cannot';
  readonly answer: string;
  readonly claims: readonly Claim[];
}

export interface OperationSummary {
  readonly id: OperationId;
  readonly tool: string;
  readonly effect: 'read' | 'write';
  readonly state: string;
  readonly generation: number;
  readonly step: number;
  readonly ordinal: number;
  readonly target?: string;
  readonly code?: string;
  readonly evidence?: EvidenceId;
}

/** How the end of an operation that was open at the run's end was found out: a late reply, a look-up, a callback, a person. */
export const RESOLUTION_SOURCES = ['reply', 'lookUp', 'poll', 'callback', 'person'] as const;
export type ResolutionSource = (typeof RESOLUTION_SOURCES)[number];

/** What was found out after the run's end. It corrects the result, never the terminal. */
export interface Resolution {
  /** Of a person's word: asked again under it nothing is added. */
  readonly id?: string;
  readonly operation: OperationId;
  /** As the version before has it. */
  readonly from: string;
  readonly to: string;
  readonly by: { readonly kind: ResolutionSource; readonly subject?: string };
  readonly why?: string;
  /** ISO 8601, by the database's clock. */
  readonly at: string;
}

/**
 * The run's result, at a version; a resolution writes the next version.
 *
 * Schema 1: as it is. `resolutions` came later and is absent in version 1 of every result.
 */
export interface Result {
  readonly schemaVersion: 1;
  readonly version: number;
  readonly run: RunId;
  readonly terminal: Terminal;
  readonly reason: string;
  readonly answer: string;
  readonly claims: readonly Claim[];
  readonly operations: readonly OperationSummary[];
  readonly ledger: Totals;
  readonly warnings: readonly string[];
  readonly diagnosis?: Diagnosis;
  /** All of them, oldest first. */
  readonly resolutions?: readonly Resolution[];
}
