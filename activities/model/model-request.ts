/** A step's context as the provider is to be asked: what the projection makes and an attempt sends. */
import type Anthropic from '@anthropic-ai/sdk';
import type { ModelRoute } from '../../definition/agent';
import type { ArtifactHash } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';
import type { Limits } from '../../workflows/machine/limits';

export interface ModelRequest {
  readonly model: string;
  readonly system: string | Anthropic.TextBlockParam[];
  /** Native messages; an earlier candidate's blocks stand in them verbatim. */
  readonly messages: Anthropic.MessageParam[];
  readonly tools: Anthropic.Tool[];
  /** Of the first attempt; a truncated one doubles it, and what is left of the budget caps it. */
  readonly maxOutputTokens: number;
  readonly thinking?: Anthropic.ThinkingConfigParam;
  /** The pinned route: prices, idle time-out. */
  readonly route: ModelRoute;
  /** The run's limits in force: what an attempt may reserve, and how long it may take. */
  readonly limits: Pick<Limits, 'maxTokens' | 'maxCostMicros' | 'attemptTimeoutMs'>;
  /** Of system, tools and messages together; rather too high than too low, since it is what gets reserved. */
  readonly estimateInputTokens: number;
}

/** A pure function of stored artifacts: the same context gives the same request, byte for byte, on every worker. */
export type Project = (ref: RunRef, context: ArtifactHash) => Promise<ModelRequest>;
