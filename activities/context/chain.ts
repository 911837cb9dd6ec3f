/**
 * The additions that a context shows, from its root to itself, each with how it reads. Immutable values: a chain is a pure
 * function of its manifest, so it is kept by hash. However long a run, a chain is bounded: a root is written at a size and
 * at a number of manifests.
 */
import type { ArtifactHash } from '../../workflows/contract/ids';
import type { Addition, KeptAddition, Manifest, RunRef } from '../../workflows/contract/records';
import { MANIFEST } from './artifact-shapes';
import { createBoundedCache } from './bounded-cache';
import { ChainTooLong } from './errors';
import { loadParts, type PartsStore } from './load-parts';
import { readArtifact } from './read-artifact';
import { renderAddition, type RenderedAddition, type Rendition } from './render-addition';

export interface ChainItem extends KeptAddition {
  readonly rendered: RenderedAddition;
}

export interface Chain {
  readonly items: readonly ChainItem[];
  /** Of the items in the form in which they are shown. */
  readonly bytes: number;
  /** Manifests since the root, the root included. */
  readonly depth: number;
  readonly leftOut: number;
}

export const EMPTY_CHAIN: Chain = { items: [], bytes: 0, depth: 0, leftOut: 0 };

/** With this many manifests the next one is a root, whatever its size: whoever has none of them cached reads no more. */
export const MAX_DEPTH = 64;

export const formOf = ({ isDigested, rendered }: ChainItem): Rendition =>
  isDigested ? rendered.digested : rendered.whole;

export const bytesOf = (items: readonly ChainItem[]): number =>
  items.reduce((sum, item) => sum + formOf(item).bytes, 0);

export interface Chains {
  manifest(ref: RunRef, hash: ArtifactHash): Promise<Manifest>;
  chain(ref: RunRef, hash: ArtifactHash, sizes: ChainSizes): Promise<Chain>;
  render(ref: RunRef, additions: readonly KeptAddition[], sizes: ChainSizes): Promise<readonly ChainItem[]>;
  /** What was just written need not be read again. */
  remember(ref: RunRef, hash: ArtifactHash, made: { readonly manifest: Manifest; readonly chain: Chain }): void;
}

/** Of the pinned model route: how much a context may show. */
export interface ChainSizes {
  readonly maxContextBytes: number;
}

const CACHED_MANIFESTS = 2_000;
const CACHED_CHAINS = 500;
const CACHED_CHAIN_BYTES = 64 * 1024 * 1024;

export const createChains = (store: PartsStore): Chains => {
  const manifests = createBoundedCache<Manifest>({ maxEntries: CACHED_MANIFESTS });
  const chains = createBoundedCache<Chain>({ maxEntries: CACHED_CHAINS, maxWeight: CACHED_CHAIN_BYTES });

  const keepChain = (key: string, chain: Chain): void => {
    chains.set(key, chain, chain.bytes);
  };

  const manifest: Chains['manifest'] = async (ref, hash) => {
    const key = keyOf(ref, hash);
    const cached = manifests.get(key);
    if (cached !== undefined) return cached;
    const read = await readArtifact(store, { tenant: ref.tenant, hash }, MANIFEST);
    manifests.set(key, read);
    return read;
  };

  const render: Chains['render'] = (ref, additions, sizes) =>
    Promise.all(
      additions.map(async (kept) => {
        const parts = await loadParts(store, ref, kept.addition);
        return { ...kept, rendered: renderAddition(parts, resultLimitOf(kept, sizes)) };
      }),
    );

  const chain: Chains['chain'] = async (ref, hash, sizes) => {
    const missing: { readonly key: string; readonly manifest: Manifest }[] = [];
    let found: Chain | undefined;
    for (let next: ArtifactHash | undefined = hash; next !== undefined && found === undefined;) {
      const key = keyOf(ref, next);
      found = chains.get(key);
      if (found !== undefined) break;
      if (missing.length > MAX_DEPTH) throw new ChainTooLong(ref, hash);
      const read: Manifest = await manifest(ref, next);
      missing.push({ key, manifest: read });
      next = read.parent;
    }
    const rendered = await Promise.all(missing.map((each) => render(ref, additionsOf(each.manifest), sizes)));
    return missing.reduceRight((below, each, index) => {
      const above = append(below, each.manifest, rendered[index] ?? []);
      keepChain(each.key, above);
      return above;
    }, found ?? EMPTY_CHAIN);
  };

  return {
    manifest,
    chain,
    render,
    remember: (ref, hash, made) => {
      const key = keyOf(ref, hash);
      manifests.set(key, made.manifest);
      keepChain(key, made.chain);
    },
  };
};

const keyOf = ({ tenant }: RunRef, hash: ArtifactHash): string => `${tenant}/${hash}`;

/** Of a root what it keeps and adds, of another manifest what it adds. */
export const additionsOf = ({ kept = [], adds, shrinks }: Manifest): readonly KeptAddition[] => [
  ...kept,
  ...adds.map((addition) => keepWhole(addition, shrinks)),
];

export const keepWhole = (addition: Addition, shrinks: number): KeptAddition => ({
  addition,
  isDigested: false,
  ...(shrinks === 0 ? {} : { shrinks }),
});

export const append = (below: Chain, manifest: Manifest, items: readonly ChainItem[]): Chain =>
  manifest.parent === undefined
    ? { items, bytes: bytesOf(items), depth: 1, leftOut: manifest.leftOut ?? 0 }
    : {
        items: [...below.items, ...items],
        bytes: below.bytes + bytesOf(items),
        depth: below.depth + 1,
        leftOut: below.leftOut,
      };

export const MAX_RESULT_BYTES = 8_192;
const MIN_RESULT_BYTES = 512;
/** All results of one exchange together take no more than this part of a context. */
const RESULTS_SHARE = 1 / 4;

/** The same for ever: it depends on the pinned route and on the addition alone. */
export const resultLimitOf = ({ addition, shrinks = 0 }: KeptAddition, { maxContextBytes }: ChainSizes): number => {
  const calls = addition.kind === 'exchange' ? Math.max(1, addition.calls.length) : 1;
  const share = Math.floor((maxContextBytes * RESULTS_SHARE) / 2 ** shrinks / calls);
  return Math.max(MIN_RESULT_BYTES, Math.min(MAX_RESULT_BYTES >> shrinks, share));
};
