/** An agent: instructions, tools, policy, and when its task counts as done. DESIGN.md 4, 5, 10, 11. */
import type { Fact, Gap, OperationSummary, Answer } from '../workflows/contract/records';
import type { JsonObject } from '../workflows/contract/json';
import type { Limits } from '../workflows/machine/limits';
import type { WaitKind } from '../workflows/machine/states';
import type { Tool } from './tool';

/** Dollars per million tokens; the version is recorded with every cost. */
export interface Prices {
  readonly version: string;
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  readonly cacheReadPerMillion: number;
  readonly cacheWritePerMillion: number;
}

export interface ModelRoute {
  readonly provider: 'anthropic';
  readonly model: string;
  /** Output limit of the first attempt; a truncated one doubles it. */
  readonly maxOutputTokens: number;
  /** The projection stays under this many bytes. */
  readonly maxContextBytes: number;
  /** No event from the provider for so long: the stream counts as dead. */
  readonly idleTimeoutMs: number;
  readonly prices: Prices;
  readonly thinking?: { readonly budgetTokens: number };
}

/** What conditions and validators look at. */
export interface CompletionView {
  readonly task: { readonly goal: string; readonly data: JsonObject };
  /** The newest of each object and field. */
  readonly facts: FactsView;
  readonly operations: readonly OperationSummary[];
  /** Absent while the gaps of a step are computed; present when an answer is judged. */
  readonly answer?: Answer;
}

export interface FactsView {
  readonly all: readonly Fact[];
  find(object: string, field: string): Fact | undefined;
  ofKind(kind: string, field: string): readonly Fact[];
}

export type ConditionVerdict = { readonly kind: 'met' } | { readonly kind: 'gap'; readonly gap: Omit<Gap, 'name'> };

export interface Condition {
  readonly name: string;
  readonly check: (view: CompletionView) => ConditionVerdict;
}

export interface WaitSettings {
  readonly expiresInMs: number;
  readonly onExpiry: 'end' | 'tell-model';
}

export interface OutputValidator {
  readonly name: string;
  readonly version: string;
  /** Undefined where it passes; else the precise finding. */
  readonly check: (answer: Answer, view: CompletionView) => string | undefined;
}

export interface AgentDefinition {
  readonly name: string;
  readonly version: string;
  readonly instructions: string;
  readonly tools: readonly Tool[];
  /** Cedar policy text; `policyVersion` is recorded with each of its decisions. */
  readonly policy: string;
  readonly model: ModelRoute;
  readonly budgets?: Partial<Pick<Limits, 'maxSteps' | 'maxTokens' | 'maxCostMicros' | 'maxToolCalls' | 'deadlineMs'>>;
  readonly limits?: Partial<Omit<Limits, 'loops' | 'onExpiry' | 'onRefusal'>>;
  readonly loops?: Partial<Limits['loops']>;
  readonly conditions: readonly Condition[];
  readonly validators?: readonly OutputValidator[];
  readonly waits?: Partial<Record<WaitKind, WaitSettings>>;
  readonly onRefusal?: Limits['onRefusal'];
  /** Whether a person has to accept the answer before the run may succeed. */
  readonly acceptance?: boolean;
  /** Read in READY only, once a step, and frozen into its context. */
  readonly memory?: (view: CompletionView) => Promise<JsonObject | undefined>;
  /** Patterns that must not appear in an answer. */
  readonly sensitive?: readonly RegExp[];
  /** A fresh read before the end: the tool and arguments whose facts the conditions are checked against once more. */
  readonly confirm?: (view: CompletionView) => { readonly tool: string; readonly arguments: JsonObject } | undefined;
}

/** Keeps an agent's types together; whatever is wrong with it is named when the worker starts. */
export const defineAgent = (definition: AgentDefinition): AgentDefinition => definition;
