/**
 * A context as the provider is asked it. A pure function of the manifest and what it names: the same context gives the same
 * request, byte for byte, for every attempt and on every worker.
 */
import type { ModelRequest, Project } from '../model/model-request';
import { assembleMessages } from './assemble-messages';
import type { Chains } from './chain';
import type { Frames } from './frame';
import type { PartsStore } from './load-parts';
import { renderTail } from './render-tail';

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

/**
 * English has about four bytes a token, code three, other scripts one to two tokens for the three bytes of a character:
 * this is rather more than any of them, since it is what gets reserved.
 */
export const estimateTokens = (text: string): number => {
  const furtherBytes = Buffer.byteLength(text) - text.length;
  return Math.ceil(text.length / 3 + furtherBytes / 2);
};
