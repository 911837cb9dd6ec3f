/** How a step's additions go onto its parent's chain: as one more manifest, or as a new root that shows less. Pure. */
import type { ArtifactHash } from '../../workflows/contract/ids';
import type { Manifest } from '../../workflows/contract/records';
import { bytesOf, formOf, MAX_DEPTH, type Chain, type ChainItem } from './chain';
import { planRoot, type Keep } from './plan-root';

export interface Extension {
  /** Absent in the first step. */
  readonly parent: { readonly hash: ArtifactHash; readonly shrinks: number; readonly chain: Chain } | undefined;
  readonly added: readonly ChainItem[];
  readonly shrinks: number;
  readonly maxContextBytes: number;
  /** Of what is shown besides the chain: rules, tools, task, memory, status. */
  readonly frameBytes: number;
}

export interface Extended {
  readonly chain: Chain;
  readonly links: Pick<Manifest, 'parent' | 'kept' | 'leftOut'>;
}

/** Whether the parent's items have to be rendered again, for a context that must be smaller than the one before. */
export const isSmaller = ({ parent, shrinks }: Pick<Extension, 'parent' | 'shrinks'>): boolean =>
  parent !== undefined && shrinks > parent.shrinks;

export const extendChain = (extension: Extension): Extended => {
  const { parent, added } = extension;
  if (parent === undefined) return { chain: { items: added, bytes: bytesOf(added), depth: 1, leftOut: 0 }, links: {} };
  const { chain } = parent;
  const bytes = chain.bytes + bytesOf(added);
  const isTooLarge = isSmaller(extension) || extension.frameBytes + bytes > limitOf(extension);
  if (isTooLarge) return toRoot(extension, keepLess(extension));
  if (chain.depth >= MAX_DEPTH) return toRoot(extension, chain.items);
  return {
    chain: { items: [...chain.items, ...added], bytes, depth: chain.depth + 1, leftOut: chain.leftOut },
    links: { parent: parent.hash },
  };
};

const limitOf = ({ maxContextBytes, shrinks }: Extension): number => Math.floor(maxContextBytes / 2 ** shrinks);

/** The provider found the parent's context too long, whatever its bytes: half of it is the most that is tried again. */
const roomOf = (extension: Extension): number => {
  const { parent, added, frameBytes } = extension;
  const before = frameBytes + (parent?.chain.bytes ?? 0);
  const limit = isSmaller(extension) ? Math.min(limitOf(extension), Math.floor(before / 2)) : limitOf(extension);
  return Math.max(0, limit - frameBytes - bytesOf(added));
};

const keepLess = (extension: Extension): readonly ChainItem[] => {
  const items = extension.parent?.chain.items ?? [];
  const newest = newestExchange(items, extension.added);
  const plan = planRoot(
    items.map((item, index) => ({
      wholeBytes: formOf(item).bytes,
      digestedBytes: item.rendered.digested.bytes,
      isPinned: index >= newest || item.addition.kind === 'message',
    })),
    roomOf(extension),
  );
  return items.flatMap((item, index) => keep(item, plan[index] ?? 'leftOut'));
};

/** The model has to see what came of its last turn; where the step adds that, nothing older has to stay. */
const newestExchange = (items: readonly ChainItem[], added: readonly ChainItem[]): number => {
  const isExchange = ({ addition }: ChainItem): boolean => addition.kind === 'exchange';
  if (added.some(isExchange)) return items.length;
  const index = items.findLastIndex(isExchange);
  return index === -1 ? items.length : index;
};

const keep = (item: ChainItem, as: Keep): readonly ChainItem[] => {
  if (as === 'leftOut') return [];
  return [as === 'digested' ? { ...item, isDigested: true } : item];
};

const toRoot = ({ parent, added }: Extension, kept: readonly ChainItem[]): Extended => {
  const before = parent?.chain ?? { items: [], leftOut: 0 };
  const leftOut = before.leftOut + countExchanges(before.items) - countExchanges(kept);
  const items = [...kept, ...added];
  return {
    chain: { items, bytes: bytesOf(items), depth: 1, leftOut },
    links: {
      kept: kept.map(({ rendered: _made, ...addition }) => addition),
      ...(leftOut === 0 ? {} : { leftOut }),
    },
  };
};

const countExchanges = (items: readonly ChainItem[]): number =>
  items.filter(({ addition }) => addition.kind === 'exchange').length;
