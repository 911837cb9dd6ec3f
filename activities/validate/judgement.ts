/**
 * What validators are given and what they answer. Every validator is a pure function of stored artifacts and recorded
 * look-ups, so that a candidate can be judged again under other validators without asking anybody.
 */
import type { FactsView } from '../../definition/agent';
import type { CompiledAgent } from '../../definition/registry';
import type { DefinitionSnapshot } from '../../definition/snapshot';
import type { Principal, Task } from '../../store/rows';
import type { ErrorCode } from '../../workflows/contract/errors';
import type { ArtifactHash } from '../../workflows/contract/ids';
import type { Json, JsonObject } from '../../workflows/contract/json';
import type { Fact, Gap, Manifest, RunRef } from '../../workflows/contract/records';
import type { RecordedOperation } from './look-ups';

export interface JudgeContext {
  readonly ref: RunRef;
  readonly step: number;
  readonly attempt: number;
  readonly planVersion: number;
  readonly context: ArtifactHash;
  readonly candidate: ArtifactHash;
  readonly agentName: string;
  readonly principal: Principal;
  readonly agent: CompiledAgent | undefined;
  readonly snapshot: DefinitionSnapshot;
  readonly manifest: Manifest;
  readonly task: Task;
  /** Confirmed before this step. */
  readonly facts: FactsView;
  /** What the person who asked has said since, in the order in which it was accepted. */
  readonly messages: readonly JsonObject[];
}

/** A context whose agent this worker has as it was pinned. */
export interface PinnedContext extends JudgeContext {
  readonly agent: CompiledAgent;
}

/** What is wrong with a candidate or one of its calls, precisely enough to be repaired. */
export interface Fault {
  /** Stable and dotted, for instance `candidate.unknown_tool`. */
  readonly code: string;
  /** What a call ends with that is at fault while others are not. */
  readonly error: ErrorCode;
  readonly message: string;
  readonly field?: string;
  readonly value?: Json;
  readonly expected?: string;
  readonly gaps?: readonly Gap[];
}

export interface Passed<Value> {
  readonly kind: 'pass';
  readonly value: Value;
  /** Goes on only with a person's approval, for this reason. */
  readonly asks?: string;
}

export type Stopped =
  /** The model can repair it. */
  | { readonly kind: 'fault'; readonly fault: Fault }
  /** It ends like this, whatever the model does. */
  | {
      readonly kind: 'refused';
      readonly code: ErrorCode;
      readonly reason: string;
      readonly message: string;
      readonly rests: readonly string[];
      readonly facts: readonly Omit<Fact, 'evidence'>[];
    }
  /** An earlier operation has done it already. */
  | { readonly kind: 'standIn'; readonly operation: RecordedOperation }
  /** A person has to choose first. */
  | { readonly kind: 'ambiguous'; readonly gap: Gap };

/** `evidence` is what the decision rests on; `version` where it is not the validator's own. */
export type Judgement<Value> = (Passed<Value> | Stopped) & {
  readonly evidence?: JsonObject;
  readonly version?: string;
};

export interface Validator<Input, Value> {
  readonly name: string;
  readonly version: string;
  readonly judge: (input: Input) => Judgement<Value>;
}

export const pass = <Value>(value: Value, evidence?: JsonObject): Judgement<Value> => ({
  kind: 'pass',
  value,
  ...(evidence === undefined ? {} : { evidence }),
});

export const fail = (fault: Fault, evidence?: JsonObject): Judgement<never> => ({
  kind: 'fault',
  fault,
  ...(evidence === undefined ? {} : { evidence }),
});
