/**
 * What a new root still shows of a chain that has grown too large: the newest whole, older ones digested, the oldest not at
 * all (facts hold what was confirmed). Pure over sizes. Each addition is kept whole, digested or left out as one, so no
 * tool use is ever parted from its result.
 */

export interface PlanItem {
  readonly wholeBytes: number;
  readonly digestedBytes: number;
  /** Shown whatever the size: a change of the task, and the newest exchange with what came after it. */
  readonly isPinned: boolean;
}

export type Keep = 'whole' | 'digested' | 'leftOut';

/**
 * Half of the room is left on purpose: the next root is due when that has filled up, not with every step, and until then
 * the provider finds what it has kept of the request before.
 */
const WHOLE_SHARE = 0.35;
const DIGESTED_SHARE = 0.5;

/** One answer for each item, oldest first, as the items are given. */
export const planRoot = (items: readonly PlanItem[], limitBytes: number): readonly Keep[] => {
  let used = items.reduce((sum, item) => sum + (item.isPinned ? item.digestedBytes : 0), 0);
  let form: Keep = 'whole';
  const plan: Keep[] = [];
  for (const item of [...items].reverse()) {
    const reserved = item.isPinned ? item.digestedBytes : 0;
    if (form === 'whole' && used + item.wholeBytes - reserved > limitBytes * WHOLE_SHARE) form = 'digested';
    if (form === 'digested' && used + item.digestedBytes - reserved > limitBytes * DIGESTED_SHARE) form = 'leftOut';
    const kept: Keep = item.isPinned && form === 'leftOut' ? 'digested' : form;
    used += kept === 'whole' ? item.wholeBytes - reserved : kept === 'digested' ? item.digestedBytes - reserved : 0;
    plan.unshift(kept);
  }
  return plan;
};
