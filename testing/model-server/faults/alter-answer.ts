import { bytesOfBlocks, type Answer, type AnswerBlock } from '../answer';
import type { Fault, FaultOfKind } from './fault';

/** What the model says, changed by a content fault; any other fault leaves it as it is. */
export function alterAnswer(answer: Answer, fault: Fault | undefined): Answer {
  switch (fault?.kind) {
    case 'max-tokens':
      return { ...withBlocks(answer, cutLast(answer.blocks, fault.keepChars)), stopReason: 'max_tokens' };
    case 'refusal':
      return refuse(answer, fault);
    case 'pause-turn':
      return { ...answer, stopReason: 'pause_turn' };
    case 'stop-reason':
      return { ...answer, stopReason: fault.stopReason };
    case 'empty-content':
      return { ...withBlocks(answer, []), stopReason: 'end_turn' };
    case 'malformed-arguments':
      return withBlocks(answer, breakArguments(answer.blocks, fault.inputJson));
    case 'usage':
      return { ...answer, usageVariant: fault.variant };
    default:
      return answer;
  }
}

function refuse(answer: Answer, fault: FaultOfKind<'refusal'>): Answer {
  return {
    ...withBlocks(answer, fault.keepContent ? answer.blocks : []),
    stopReason: 'refusal',
    stopDetails: { type: 'refusal', category: fault.category, explanation: fault.explanation },
  };
}

/** Output tokens shrink with the text, whether they were given or estimated. */
function withBlocks(answer: Answer, blocks: readonly AnswerBlock[]): Answer {
  const share = bytesOfBlocks(blocks) / Math.max(1, bytesOfBlocks(answer.blocks));
  const outputTokens = Math.max(1, Math.round(answer.usage.outputTokens * share));
  return { ...answer, blocks, usage: { ...answer.usage, outputTokens } };
}

function cutLast(blocks: readonly AnswerBlock[], keepChars: number | undefined): readonly AnswerBlock[] {
  const last = blocks.at(-1);
  if (last === undefined) return blocks;
  const characters = Array.from(last.text);
  const kept = characters.slice(0, keepChars ?? Math.floor(characters.length / 2)).join('');
  return [...blocks.slice(0, -1), { ...last, text: kept }];
}

function breakArguments(blocks: readonly AnswerBlock[], inputJson: string | undefined): readonly AnswerBlock[] {
  const index = blocks.map((block) => block.type).lastIndexOf('tool_use');
  return blocks.map((block, position) => {
    if (position !== index) return block;
    return { ...block, text: inputJson ?? block.text.replace(/}?$/, ', "unfinished": tru }') };
  });
}
