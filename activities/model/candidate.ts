/**
 * What an attempt produced, as it is stored before anyone judges it.
 *
 * History of the shape: version 1, the first.
 *
 *   1. `blocks` can be sent back as they stand. What the provider would refuse was left out whole: empty text, thinking
 *      without its signature. A call whose arguments are no JSON object stands there with an empty one.
 *   2. An incomplete candidate is evidence only: its calls have no `input`, so that nothing of it can be executed.
 */
import type Anthropic from '@anthropic-ai/sdk';
import { z } from 'zod';
import type { Usage } from '../../store/rows';
import { parseArtifactHash, parseRunId, type ArtifactHash, type RunId } from '../../workflows/contract/ids';
import type { Json } from '../../workflows/contract/json';
import type { ArtifactShape } from '../context/artifact-shapes';
import { INPUT_FLAW_KINDS, type InputFlaw } from './call-input';

/** A content block in the provider's own shape; thinking carries its signature. */
export type NativeBlock = Anthropic.ContentBlockParam;

interface ProposedCall {
  /** 1, 2, 3… in the order of the blocks. */
  readonly ordinal: number;
  /** The provider's tool-use id. It may stand twice in one candidate; judging says so. */
  readonly id: string;
  readonly name: string;
}

export type CandidateCall = ProposedCall &
  (
    | {
        readonly input: Json;
        /** Present where `input` is not exactly what was written, with what differs. */
        readonly inputText?: string;
        readonly flaws?: readonly InputFlaw[];
      }
    /** The arguments as they were written: no JSON, or of an incomplete candidate. */
    | { readonly invalidJson: string }
  );

export interface CandidateArtifact {
  readonly schemaVersion: 1;
  readonly run: RunId;
  readonly step: number;
  readonly attempt: number;
  readonly context: ArtifactHash;
  /** Absent where the stream ended before it came. */
  readonly stopReason?: string;
  /** False for what was cut: by the output limit, the connection, a refusal. */
  readonly isComplete: boolean;
  readonly blocks: readonly NativeBlock[];
  readonly calls: readonly CandidateCall[];
  readonly usage: Usage;
  /** The model that answered, by its own account. */
  readonly model: string;
  readonly providerMessageId?: string;
  readonly requestId?: string;
}

const count = z.number().int().nonnegative();
const optional = z.exactOptional;

const parseBlocks = (blocks: readonly { type: string }[]): readonly NativeBlock[] => blocks as readonly NativeBlock[];

const proposed = { ordinal: count, id: z.string(), name: z.string() };

const flaw: z.ZodType<InputFlaw> = z.object({ kind: z.enum(INPUT_FLAW_KINDS), path: z.string(), text: z.string() });

const call: z.ZodType<CandidateCall> = z.union([
  z.object({ ...proposed, invalidJson: z.string() }),
  z.object({ ...proposed, input: z.json(), inputText: optional(z.string()), flaws: optional(z.array(flaw)) }),
]);

const schema: z.ZodType<CandidateArtifact> = z.object({
  schemaVersion: z.literal(1),
  run: z.string().transform(parseRunId),
  step: count,
  attempt: count,
  context: z.string().transform(parseArtifactHash),
  stopReason: optional(z.string()),
  isComplete: z.boolean(),
  blocks: z.array(z.looseObject({ type: z.string() })).transform(parseBlocks),
  calls: z.array(call),
  usage: z.object({
    inputTokens: count,
    outputTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: count,
    costMicros: count,
    isEstimate: z.boolean(),
  }),
  model: z.string(),
  providerMessageId: optional(z.string()),
  requestId: optional(z.string()),
});

export const CANDIDATE: ArtifactShape<CandidateArtifact> = {
  name: 'candidate',
  versions: [1],
  schema,
  isShared: true,
};
