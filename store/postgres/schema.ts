/**
 * The tables as queries see them. Times are read as ms since the epoch and written as expressions of the database's clock
 * (`clock.ts`). JSON columns are of type `json`, not `jsonb`: the text is kept as it came, `\u0000` and lone surrogates
 * included; it is given as text, since the driver would take an array for an SQL array. Text that comes from outside goes
 * through `text.ts`.
 */
import type { ColumnType, Generated } from 'kysely';
import type { ErrorCode } from '../../workflows/contract/errors';
import type { ArtifactHash, EvidenceId, OperationId, RunId, TenantId, WaitId } from '../../workflows/contract/ids';
import type { Json, JsonObject } from '../../workflows/contract/json';
import type { OperationState } from '../../workflows/machine/operation-transitions';
import type { State, Terminal, WaitKind } from '../../workflows/machine/states';
import type { AttemptState, DecisionRow, InboxEffect, Principal, Task, WaitRow } from '../rows';
import type { WakeKind } from '../outside';
import type { LedgerEntry } from '../store';

type JsonColumn<T extends object | Json> = ColumnType<T, string, string>;
type OptionalJson<T extends object> = ColumnType<T | null, string | null, string | null>;
type Optional<T> = ColumnType<T | null, T | null | undefined, T | null>;

interface OfRun {
  readonly tenant: TenantId;
  readonly run: RunId;
}

/** The run row is the lock for its journal positions, its totals and its end. */
export interface RunsTable extends OfRun {
  readonly agent: string;
  readonly principal: JsonColumn<Principal>;
  readonly task: JsonColumn<Task>;
  readonly body_hash: string;
  readonly limits: OptionalJson<JsonObject>;
  /** Limits above the agent's, which somebody was permitted to set. */
  readonly extension: OptionalJson<JsonObject>;
  readonly reopens: Optional<RunId>;
  readonly follows: Optional<RunId>;
  readonly state: State | 'STARTING';
  readonly seq: Generated<number>;
  readonly step: Generated<number>;
  readonly plan_version: Generated<number>;
  readonly definition: Optional<ArtifactHash>;
  readonly terminal: Optional<Terminal>;
  readonly reason: Optional<string>;
  readonly created_at: number;
  readonly opened_at: Optional<number>;
  readonly deadline_at: Optional<number>;
  readonly ended_at: Optional<number>;
  readonly cancel_requested_at: Optional<number>;
  /** Set on the way to every end: from then on no dispatch wins and no wait opens. */
  readonly stopped_at: Optional<number>;
  readonly next_position: Generated<number>;
  readonly steps: Generated<number>;
  readonly attempts: Generated<number>;
  readonly input_tokens: Generated<number>;
  readonly output_tokens: Generated<number>;
  readonly cache_read_tokens: Generated<number>;
  readonly cache_write_tokens: Generated<number>;
  readonly cost_micros: Generated<number>;
  readonly tool_calls: Generated<number>;
  readonly estimated_tokens: Generated<number>;
}

export interface JournalTable extends OfRun {
  readonly position: number;
  readonly kind: 'machine' | 'outside';
  readonly seq: Optional<number>;
  readonly event_id: Optional<string>;
  readonly body: JsonColumn<JsonObject>;
  readonly recorded_at: number;
}

export interface ArtifactsTable {
  readonly tenant: TenantId;
  readonly hash: ArtifactHash;
  readonly media_type: string;
  readonly bytes: Buffer;
  readonly stored_at: number;
}

export interface AttemptsTable extends OfRun {
  readonly step: number;
  readonly attempt: number;
  readonly state: AttemptState;
  readonly context: ArtifactHash;
  readonly candidate: Optional<ArtifactHash>;
  readonly outcome: OptionalJson<JsonObject>;
  readonly opened_at: number;
  readonly ended_at: Optional<number>;
}

export interface LedgerTable extends OfRun {
  readonly reference: string;
  /** Order of writing. */
  readonly entry: Generated<number>;
  readonly kind: LedgerEntry['kind'];
  readonly is_open: boolean;
  readonly is_estimate: boolean;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly cost_micros: number;
}

export interface DecisionsTable extends OfRun {
  readonly id: string;
  /** Order of writing. */
  readonly entry: Generated<number>;
  readonly step: number;
  readonly attempt: number;
  readonly ordinal: number;
  readonly validator: string;
  readonly validator_version: string;
  readonly phase: DecisionRow['phase'];
  readonly try: number;
  readonly input_hash: string;
  readonly verdict: DecisionRow['verdict'];
  readonly code: Optional<string>;
  readonly evidence: JsonColumn<JsonObject>;
  readonly decided_at: number;
}

export interface OperationsTable extends OfRun {
  readonly id: OperationId;
  readonly step: number;
  readonly ordinal: number;
  readonly call: string;
  readonly tool: string;
  readonly effect: 'read' | 'write';
  readonly arguments: ArtifactHash;
  readonly argument_hash: string;
  readonly target: Optional<string>;
  readonly expected_version: Optional<string>;
  readonly plan_version: number;
  readonly equivalent: Optional<OperationId>;
  /** A machine event names it: only then it counts. */
  readonly is_named: Generated<boolean>;
  readonly state: OperationState;
  /** Computed: in none of the four final states. */
  readonly is_open: ColumnType<boolean, never, never>;
  readonly generation: Generated<number>;
  readonly open_generations: Generated<readonly number[]>;
  /** The dispatch decisions, by generation. */
  readonly decisions: Generated<readonly string[]>;
  /** `plan:<version>`, `stop` or `commit`, for CANCELLED ones that nobody had sent. */
  readonly cancelled_by: Optional<string>;
  /** The approval that brought other arguments than were proposed. */
  readonly edited_by: Optional<WaitId>;
  readonly job: Optional<string>;
  readonly code: Optional<ErrorCode>;
  readonly raw: Optional<ArtifactHash>;
  readonly output: Optional<ArtifactHash>;
  readonly failure: Optional<ArtifactHash>;
  readonly result_hash: Optional<string>;
  readonly evidence: Optional<EvidenceId>;
  readonly created_at: number;
  readonly first_dispatched_at: Optional<number>;
  readonly dispatched_at: Optional<number>;
  readonly dispatch_deadline_at: Optional<number>;
  readonly not_before_at: Optional<number>;
  readonly look_ups: Generated<number>;
  readonly polls: Generated<number>;
}

export interface FactsTable extends OfRun {
  /** The operation or wait that it comes from, and its index there. */
  readonly source: OperationId | WaitId;
  readonly index: number;
  readonly step: number;
  readonly ordinal: number;
  readonly object: string;
  readonly field: string;
  readonly value: JsonColumn<Json>;
  readonly version: Optional<string>;
  readonly evidence: EvidenceId;
  /** Of a run that this one reopens: it counts from the start. */
  readonly is_carried: Generated<boolean>;
  readonly recorded_at: number;
}

export interface WaitsTable extends OfRun {
  readonly id: WaitId;
  readonly kind: WaitKind;
  readonly seq: number;
  readonly plan_version: number;
  readonly operation: Optional<OperationId>;
  readonly plan: ArtifactHash;
  readonly response_schema: JsonColumn<JsonObject>;
  readonly expires_in_ms: number;
  readonly reason: Optional<string>;
  readonly state: WaitRow['state'];
  readonly opened_at: number;
  readonly expires_at: number;
  readonly response: OptionalJson<JsonObject>;
  readonly response_id: Optional<string>;
}

export interface ResponsesTable extends OfRun {
  readonly id: string;
  readonly wait: WaitId;
  readonly principal: JsonColumn<Principal>;
  readonly body: JsonColumn<Json>;
  readonly received_at: number;
  /** `accepted`, or the code of the refusal. */
  readonly verdict: string;
  readonly message: Optional<string>;
}

export interface InboxTable extends OfRun {
  readonly operation: OperationId;
  readonly event_id: string;
  readonly job: Optional<string>;
  /** The bytes as they arrived. */
  readonly body: ArtifactHash;
  /** Of its line in the journal: the order in which reports arrived. */
  readonly position: number;
  readonly received_at: number;
  readonly settled_at: Optional<number>;
  readonly effect: Optional<InboxEffect>;
}

export interface WakesTable extends OfRun {
  readonly kind: WakeKind;
  readonly subject: string;
  readonly due_at: number;
  readonly tries: Generated<number>;
}

/** Accepted messages, each of which moved the plan on. */
export interface MessagesTable extends OfRun {
  readonly id: string;
  readonly kind: 'amend' | 'withdraw';
  readonly body: JsonColumn<JsonObject>;
  readonly plan_version: number;
  readonly accepted_at: number;
}

export interface ResultsTable extends OfRun {
  readonly version: number;
  readonly artifact: ArtifactHash;
  readonly recorded_at: number;
}

export interface Database {
  readonly runs: RunsTable;
  readonly journal: JournalTable;
  readonly artifacts: ArtifactsTable;
  readonly attempts: AttemptsTable;
  readonly ledger: LedgerTable;
  readonly decisions: DecisionsTable;
  readonly operations: OperationsTable;
  readonly facts: FactsTable;
  readonly waits: WaitsTable;
  readonly responses: ResponsesTable;
  readonly inbox: InboxTable;
  readonly wakes: WakesTable;
  readonly messages: MessagesTable;
  readonly results: ResultsTable;
}
