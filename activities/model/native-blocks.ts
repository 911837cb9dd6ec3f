/** Received blocks → the blocks that go into a candidate and back to the provider, and the calls among them. */
import type { Json, JsonObject } from '../../workflows/contract/json';
import { toWellFormed } from '../context/well-formed';
import { readCallInput } from './call-input';
import type { CandidateCall, NativeBlock } from './candidate';
import type { ReceivedBlock } from './message-builder';

/** Verbatim, but for what the provider would refuse to take back: that is left out whole. */
export const toNativeBlocks = (blocks: readonly ReceivedBlock[]): readonly NativeBlock[] =>
  blocks.flatMap((block) => {
    const native = toNative(block);
    return native === undefined ? [] : [parseNative(native)];
  });

const parseNative = (block: JsonObject): NativeBlock =>
  // The provider made it; only its own shape comes out of `toNative`.
  block as unknown as NativeBlock;

const toNative = (block: ReceivedBlock): JsonObject | undefined => {
  if (block.isUnknown) return undefined;
  switch (block.start.type) {
    case 'text':
      return toText(block);
    case 'thinking':
      return toThinking(block);
    case 'tool_use':
    case 'server_tool_use':
      return { ...block.start, input: objectOf(inputOf(block)) };
    default:
      return block.start;
  }
};

/** The provider refuses text that is empty or white. */
const toText = ({ start, text, citations }: ReceivedBlock): JsonObject | undefined => {
  const whole = toWellFormed(textOf(start['text']) + text);
  if (whole.trim() === '') return undefined;
  return { ...start, text: whole, ...(citations.length === 0 ? {} : { citations }) };
};

/** Signed over its exact text: altered, or without its signature, it would be refused. */
const toThinking = ({ start, thinking, signature }: ReceivedBlock): JsonObject | undefined => {
  const whole = textOf(start['thinking']) + thinking;
  const signed = signature === '' ? textOf(start['signature']) : signature;
  return signed === '' || toWellFormed(whole) !== whole ? undefined : { ...start, thinking: whole, signature: signed };
};

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const inputOf = (block: ReceivedBlock): Json | undefined => {
  const input = readCallInput(argumentTextOf(block));
  return input.kind === 'json' ? input.value : undefined;
};

/** Short arguments may come whole with the block's start. */
const argumentTextOf = ({ start, inputJson }: ReceivedBlock): string => {
  if (inputJson !== '') return inputJson;
  const { input } = start;
  return isObject(input) && Object.keys(input).length > 0 ? JSON.stringify(input) : '';
};

/** The calls in the order of the blocks. Of an incomplete message none has an input, however whole it looks. */
export const toCalls = (blocks: readonly ReceivedBlock[], isComplete: boolean): readonly CandidateCall[] =>
  blocks
    .filter((block) => block.start.type === 'tool_use')
    .map((block, index) => ({
      ordinal: index + 1,
      id: textOf(block.start['id']),
      name: toWellFormed(textOf(block.start['name'])),
      ...argumentsOf(block, isComplete),
    }));

type CallArguments =
  | Pick<Extract<CandidateCall, { input: Json }>, 'input' | 'inputText' | 'flaws'>
  | Pick<Extract<CandidateCall, { invalidJson: string }>, 'invalidJson'>;

const argumentsOf = (block: ReceivedBlock, isComplete: boolean): CallArguments => {
  const text = argumentTextOf(block);
  const input = isComplete ? readCallInput(text) : { kind: 'invalid' as const };
  if (input.kind === 'invalid') return { invalidJson: toWellFormed(text) };
  const { value, flaws } = input;
  return flaws.length === 0 ? { input: value } : { input: value, inputText: toWellFormed(text), flaws };
};
