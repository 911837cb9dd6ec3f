/** What a test wants to know of a request: whether the strict provider takes it, and what it says. */
import type Anthropic from '@anthropic-ai/sdk';
import type { ModelRequest } from '../../../activities/model/model-request';
import { judge } from '../../unit/testing/model-server/requests';

export const judgeRequest = ({ model, system, messages, tools, maxOutputTokens }: ModelRequest): unknown =>
  judge(
    { model, system, messages, tools, max_tokens: maxOutputTokens, stream: true },
    { limits: { contextTokens: Infinity } },
  );

export const bytesOf = ({ system, messages, tools }: ModelRequest): number =>
  Buffer.byteLength(JSON.stringify({ system, messages, tools }));

const FENCE = /^<([a-z_]+)>\n(.*)\n<\/\1>$/;

export interface Fence {
  readonly name: string;
  readonly content: Record<string, unknown>;
}

/** Every fence of the request, in order. */
export const fencesOf = ({ messages }: ModelRequest): readonly Fence[] =>
  messages.flatMap(({ content }) => (Array.isArray(content) ? content : [])).flatMap(fenceIn);

const fenceIn = (block: Anthropic.ContentBlockParam): readonly Fence[] => {
  const text = block.type === 'text' ? block.text : block.type === 'tool_result' ? block.content : undefined;
  const [, name, json] = typeof text === 'string' ? (FENCE.exec(text) ?? []) : [];
  return name === undefined || json === undefined ? [] : [{ name, content: parseContent(json) }];
};

const parseContent = (json: string): Fence['content'] => JSON.parse(json) as Fence['content'];

export const findFence = (request: ModelRequest, name: string): Fence['content'] | undefined =>
  fencesOf(request).findLast((fence) => fence.name === name)?.content;
