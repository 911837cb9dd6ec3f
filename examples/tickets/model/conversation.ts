/** What the planner knows of a run: what stands in the request, and nothing else. */
import type { Json, JsonObject } from '../../../index';

export interface Conversation {
  readonly goal: string;
  readonly data: JsonObject;
  readonly status: Status;
  /** Oldest first. Turns that are no longer shown are missing. */
  readonly turns: readonly Turn[];
  /** What people wrote without being asked. */
  readonly messages: readonly string[];
  /** What people answered, oldest first. */
  readonly responses: readonly Response[];
}

export interface Turn {
  readonly calls: readonly Call[];
  /** The finding that met a turn without calls. */
  readonly finding?: Finding;
}

/** A call with its end. */
export interface Call {
  readonly tool: string;
  readonly input: JsonObject;
  readonly evidence?: string;
  /** Present where it did not end well. */
  readonly code?: string;
  readonly message?: string;
  readonly result?: Json;
}

export interface Response {
  readonly wait: string;
  /** Absent where nobody answered in time. */
  readonly response?: Json;
}

export interface Finding {
  readonly code: string;
  readonly message: string;
}

export interface Fact {
  readonly object: string;
  readonly field: string;
  /** Absent where it is too large to be shown. */
  readonly value?: Json;
  readonly version?: string;
  readonly evidence: string;
}

export interface Gap {
  readonly name: string;
  readonly kind: string;
  readonly lacks: string;
}

export interface Status {
  readonly step: number;
  readonly gaps: readonly Gap[];
  readonly facts: readonly Fact[];
  readonly finding?: Finding;
  /** What the loop rules found, in words. */
  readonly correction?: { readonly rule: string; readonly what: string };
}

export const findFact = ({ status }: Conversation, object: string, field: string): Fact | undefined =>
  status.facts.find((fact) => fact.object === object && fact.field === field);

export const findText = (conversation: Conversation, object: string, field: string): string | undefined => {
  const value = findFact(conversation, object, field)?.value;
  return typeof value === 'string' ? value : undefined;
};

/** All calls so far, oldest first. */
export const callsOf = ({ turns }: Conversation): readonly Call[] => turns.flatMap(({ calls }) => calls);

export const lastCalls = ({ turns }: Conversation): readonly Call[] => turns.at(-1)?.calls ?? [];
