/**
 * A context as the provider is asked it. A pure function of the manifest and what it names: the same context gives the same
 * request, byte for byte, for every attempt and on every worker.
 */
import type Anthropic from '@anthropic-ai/sdk';
import type { ArtifactHash } from '../../workflows/contract/ids';
import type { JsonObject } from '../../workflows/contract/json';
import type { Manifest, RunRef } from '../../workflows/contract/records';
import type { ModelRequest, Project } from '../model/model-request';
import { FINDING } from './artifact-shapes';
import { assembleMessages } from './assemble-messages';
import type { Chains } from './chain';
import { decodeText, digestText } from './digest';
import { fence } from './fence';
import type { Frames } from './frame';
import type { PartsStore } from './load-parts';
import { readArtifact, readContent } from './read-artifact';
import { showDigest } from './render-result';
import { findingHashOf, renderStatus } from './status';

export interface ProjectParts {
  readonly store: PartsStore;
  readonly chains: Chains;
  readonly frames: Frames;
}

export const createProject =
  ({ store, chains, frames }: ProjectParts): Project =>
  async (ref, context) => {
    const manifest = await chains.manifest(ref, context);
    const { snapshot, limits, system, tools, task } = await frames.frame(ref, manifest.definition);
    const [chain, tail] = await Promise.all([
      chains.chain(ref, context, snapshot.model),
      renderTail(store, ref, manifest),
    ]);
    const { model: route } = snapshot;
    const messages = assembleMessages({ task, chain, tail });
    const request: Pick<ModelRequest, 'system' | 'tools' | 'messages'> = {
      system: [...system],
      tools: [...tools],
      messages,
    };
    return {
      ...request,
      model: route.model,
      maxOutputTokens: route.maxOutputTokens,
      ...(route.thinking === undefined
        ? {}
        : { thinking: { type: 'enabled', budget_tokens: route.thinking.budgetTokens } }),
      route,
      limits,
      estimateInputTokens: estimateTokens(JSON.stringify(request)),
    };
  };

type Tail = readonly Anthropic.TextBlockParam[];

export const renderTail = async (store: ProjectParts['store'], ref: RunRef, manifest: Manifest): Promise<Tail> => {
  const { tenant } = ref;
  const hash = findingHashOf(manifest);
  const [finding, memory] = await Promise.all([
    hash === undefined ? undefined : readArtifact(store, { tenant, hash }, FINDING),
    manifest.memory === undefined ? undefined : renderMemory(store, ref, manifest.memory),
  ]);
  const status = fence('status', renderStatus(manifest, finding));
  return [...(memory === undefined ? [] : [textOf(fence('memory', memory))]), textOf(status)];
};

const textOf = (text: string): Anthropic.TextBlockParam => ({ type: 'text', text });

const MAX_MEMORY_BYTES = 16_384;

const renderMemory = async (
  store: ProjectParts['store'],
  { tenant }: RunRef,
  hash: ArtifactHash,
): Promise<JsonObject> => {
  const { bytes } = await readContent(store, { tenant, hash });
  const text = decodeText(bytes);
  if (bytes.length <= MAX_MEMORY_BYTES) return parseMemory(text);
  return { digest: showDigest(digestText(text, { limitBytes: MAX_MEMORY_BYTES, words: [] })) };
};

const parseMemory = (text: string): JsonObject => JSON.parse(text) as JsonObject;

/**
 * English has about four bytes a token, code three, other scripts one to two tokens for the three bytes of a character:
 * this is rather more than any of them, since it is what gets reserved.
 */
export const estimateTokens = (text: string): number => {
  const furtherBytes = Buffer.byteLength(text) - text.length;
  return Math.ceil(text.length / 3 + furtherBytes / 2);
};
