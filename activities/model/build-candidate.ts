/** A received message → the artifact that is stored of it. */
import type { Usage } from '../../store/rows';
import type { AttemptInput } from '../../workflows/contract/activities';
import type { CandidateArtifact } from './candidate';
import type { Exchange } from './exchange';
import { toCalls, toNativeBlocks } from './native-blocks';

interface Judged {
  /** Whether everything that the model said is there. */
  readonly isComplete: boolean;
  readonly usage: Usage;
  /** The model that was asked, where the answer does not name one. */
  readonly model: string;
}

export const buildCandidate = (
  { ref, step, attempt, context }: AttemptInput,
  { message, requestId }: Pick<Exchange, 'message' | 'requestId'>,
  { isComplete, usage, model }: Judged,
): CandidateArtifact => ({
  schemaVersion: 1,
  run: ref.run,
  step,
  attempt,
  context,
  isComplete,
  blocks: toNativeBlocks(message.blocks),
  calls: toCalls(message.blocks, isComplete),
  usage,
  model: message.model ?? model,
  ...(message.stopReason === undefined ? {} : { stopReason: message.stopReason }),
  ...(message.id === undefined ? {} : { providerMessageId: message.id }),
  ...(requestId === undefined ? {} : { requestId }),
});
