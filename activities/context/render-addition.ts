/**
 * What an addition reads like to the model: the assistant's blocks as they came, then the runtime's. Pure over the parts.
 *
 *   1. An assistant turn is shown whole and verbatim, or not at all.
 *   2. Each of its tool uses has exactly one result, in the order of the calls, before anything else of the user's turn.
 *   3. The digested form differs from the whole one in results alone.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { JsonObject } from '../../workflows/contract/json';
import type { Finding } from '../../workflows/contract/records';
import { fence } from './fence';
import type { AdditionParts, ExchangeParts } from './load-parts';
import { renderEnd, renderFinding, renderResponse } from './render-result';

type Block = Anthropic.ContentBlockParam;

export interface Rendition {
  readonly assistant: readonly Block[];
  readonly user: readonly Block[];
  /** The provider paused the turn: it goes on where these blocks end. */
  readonly isPaused: boolean;
  /** Of both as JSON in UTF-8, rather too many than too few. */
  readonly bytes: number;
}

export interface RenderedAddition {
  readonly whole: Rendition;
  /** Never larger than `whole`. */
  readonly digested: Rendition;
}

const DIGESTED_RESULT_BYTES = 1_024;

export const renderAddition = (parts: AdditionParts, resultLimitBytes: number): RenderedAddition => {
  const whole = render(parts, resultLimitBytes);
  const digested = render(parts, Math.min(DIGESTED_RESULT_BYTES, resultLimitBytes));
  return { whole, digested: digested.bytes < whole.bytes ? digested : whole };
};

const render = (parts: AdditionParts, limitBytes: number): Rendition => {
  switch (parts.kind) {
    case 'exchange':
      return renderExchange(parts, limitBytes);
    case 'response':
      return toRendition([], [text('response', renderResponse(parts.response, limitBytes))]);
    case 'finding':
      return toRendition([], [text('finding', renderFinding(parts.finding))]);
    case 'correction': {
      const { rule, steps, what } = parts.addition.diagnosis;
      return toRendition([], [text('correction', { rule, steps, what, advice: ADVICE })]);
    }
    case 'message': {
      const { message, text: said } = parts.addition;
      return toRendition([], [text('message', { message, text: said })]);
    }
  }
};

const ADVICE = 'This does not lead on. Do something else: close another gap, ask, or finish with what is recorded.';

const text = (name: Parameters<typeof fence>[0], content: JsonObject): Block => ({
  type: 'text',
  text: fence(name, content),
});

/** Frozen: it is cached and becomes part of many requests. */
const toRendition = (assistant: readonly Block[], user: readonly Block[], isPaused = false): Rendition => ({
  assistant: assistant.map((block) => Object.freeze(block)),
  user: user.map((block) => Object.freeze(block)),
  isPaused,
  bytes: bytesOf(assistant) + bytesOf(user) + WRAPPING_BYTES,
});

/** Of the two messages that it may make. */
const WRAPPING_BYTES = 64;

const bytesOf = (blocks: readonly Block[]): number =>
  blocks.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(blocks));

const renderExchange = (parts: ExchangeParts, limitBytes: number): Rendition => {
  const { candidate, finding, response } = parts;
  const blocks = candidate.blocks.filter((block) => block.type !== 'text' || block.text.trim() !== '');
  const uses = blocks.filter((block) => block.type === 'tool_use');
  const results = uses.map((use, index) =>
    renderCall(parts, { use, ordinal: index + 1, isOnly: uses.length === 1 }, limitBytes),
  );
  const isPaused = candidate.stopReason === 'pause_turn' && uses.length === 0;
  if (!isSendable(blocks))
    return toRendition(
      [],
      unsentTurn(
        results.map(({ content }) => content),
        parts,
      ),
    );
  const user: readonly Block[] = [
    ...results.map(({ id, content, isError }) => toResult(id, content, isError)),
    ...(finding !== undefined && (uses.length === 0 || parts.calls.length > 0)
      ? [text('finding', renderFinding(finding))]
      : []),
    ...(response !== undefined && uses.length !== 1 ? [text('response', renderResponse(response, limitBytes))] : []),
  ];
  // Only a paused turn may stand without a word after it: two turns in a row would be taken for one.
  return toRendition(blocks, user.length > 0 || isPaused ? user : [text('finding', OVERTAKEN)], isPaused);
};

const OVERTAKEN = {
  code: 'candidate.superseded',
  message: 'the plan changed before this turn was judged; nothing came of it',
};

interface RenderedCall {
  readonly id: string;
  readonly content: JsonObject;
  readonly isError: boolean;
}

interface Use {
  readonly use: Anthropic.ToolUseBlockParam;
  readonly ordinal: number;
  readonly isOnly: boolean;
}

const renderCall = (parts: ExchangeParts, { use, ordinal, isOnly }: Use, limitBytes: number): RenderedCall => {
  const { finding, response } = parts;
  const part = parts.calls.find(({ end }) => end.ordinal === ordinal);
  const answer = response !== undefined && isOnly ? renderResponse(response, limitBytes) : {};
  if (part !== undefined) {
    const content = { ...renderEnd(part, limitBytes), ...(isOnly && response !== undefined ? { answer } : {}) };
    return { id: use.id, content, isError: part.end.code !== undefined };
  }
  if (finding !== undefined) return { id: use.id, content: findingOf(finding, ordinal, isOnly), isError: true };
  if (response !== undefined && isOnly) return { id: use.id, content: answer, isError: false };
  if (response !== undefined)
    return { id: use.id, content: { code: 'OBJECT_AMBIGUOUS', message: NOT_EXECUTED }, isError: true };
  if (use.name === 'analyse') return { id: use.id, content: { accepted: true }, isError: false };
  return { id: use.id, content: { code: 'SUPERSEDED', message: NOT_EXECUTED }, isError: true };
};

const NOT_EXECUTED = 'it was not executed';

/** The fault of this call, or that the turn as a whole was refused. */
const findingOf = (finding: Finding, ordinal: number, isOnly: boolean): JsonObject => {
  const own = finding.calls?.find((call) => call.ordinal === ordinal);
  const whole = renderFinding(finding);
  if (own === undefined) return isOnly || ordinal === 1 ? whole : { code: finding.code, message: NOT_EXECUTED };
  const { code, message, field } = own;
  const call = { code, message, ...(field === undefined ? {} : { field }) };
  return isOnly || ordinal === 1 ? { ...whole, ...call, finding: finding.code } : { ...call, finding: finding.code };
};

const toResult = (id: string, content: JsonObject, isError: boolean): Block => ({
  type: 'tool_result',
  tool_use_id: id,
  content: fence('result', content),
  ...(isError ? { is_error: true } : {}),
});

/** A provider refuses turns that are empty, end in thinking, or name one tool use twice. */
const isSendable = (blocks: readonly Block[]): boolean => {
  const last = blocks.at(-1);
  if (last === undefined || last.type === 'thinking' || last.type === 'redacted_thinking') return false;
  const ids = toolUseIdsOf(blocks);
  return new Set(ids).size === ids.length && ids.every((id) => TOOL_USE_ID.test(id));
};

const TOOL_USE_ID = /^[a-zA-Z0-9_-]+$/;

export const toolUseIdsOf = (blocks: readonly Block[]): readonly string[] =>
  blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));

const UNSENT = 'your turn could not be kept as it was; this is what came of its calls, in their order';

/** What came of a turn that cannot be sent back. A turn that said nothing leaves nothing but its finding. */
const unsentTurn = (results: readonly JsonObject[], { finding, response }: ExchangeParts): readonly Block[] => {
  return [
    ...(results.length === 0 ? [] : [text('unsent_turn', { note: UNSENT, results })]),
    ...(finding !== undefined && results.length === 0 ? [text('finding', renderFinding(finding))] : []),
    ...(response !== undefined && results.length !== 1 ? [text('response', renderResponse(response, 2_048))] : []),
  ];
};

/** The same for a turn that repeats a tool-use id of an earlier turn, which is known only among its neighbours. */
export const toUnsent = ({ user }: Rendition): Rendition => {
  const results = user.flatMap((block) =>
    block.type === 'tool_result' && typeof block.content === 'string' ? [block.content] : [],
  );
  const others = user.filter((block) => block.type !== 'tool_result');
  return toRendition([], [text('unsent_turn', { note: UNSENT, results }), ...others]);
};
