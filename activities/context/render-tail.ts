/** The end of the last user message: the memory that was frozen for this step, where there is any, and the status. */
import type Anthropic from '@anthropic-ai/sdk';
import type { ArtifactHash } from '../../workflows/contract/ids';
import type { JsonObject } from '../../workflows/contract/json';
import type { Manifest, RunRef } from '../../workflows/contract/records';
import { FINDING } from './artifact-shapes';
import { decodeText, digestText } from './digest';
import { fence } from './fence';
import type { PartsStore } from './load-parts';
import { readArtifact, readContent } from './read-artifact';
import { showDigest } from './render-result';
import { findingHashOf, renderStatus, type Told } from './status';

type Store = Pick<PartsStore, 'artifacts'>;
type Tail = readonly Anthropic.TextBlockParam[];

export const renderTail = async (
  store: Store,
  ref: RunRef,
  manifest: Told & Pick<Manifest, 'memory'>,
): Promise<Tail> => {
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

const renderMemory = async (store: Store, { tenant }: RunRef, hash: ArtifactHash): Promise<JsonObject> => {
  const { bytes } = await readContent(store, { tenant, hash });
  const text = decodeText(bytes);
  if (bytes.length <= MAX_MEMORY_BYTES) return parseMemory(text);
  return { digest: showDigest(digestText(text, { limitBytes: MAX_MEMORY_BYTES, words: [] })) };
};

const parseMemory = (text: string): JsonObject => JSON.parse(text) as JsonObject;
