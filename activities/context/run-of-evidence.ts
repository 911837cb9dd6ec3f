/** Whose evidence it is: of the run itself, or of one that it reopens. */
import type { Store } from '../../store/store';
import type { EvidencePlace } from '../../workflows/contract/ids';
import type { RunRef } from '../../workflows/contract/records';

/** A chain is short; the limit only keeps a damaged one from being followed for ever. */
const MAX_REOPENED = 100;

/**
 * Steps are numbered on through all runs of a chain, so a call is of the run that took its step; a response names its run,
 * where that is another. Undefined where no run of the chain has it.
 */
export const findRunOfEvidence = async (
  store: Pick<Store, 'runs'>,
  own: RunRef,
  { kind, first, run }: EvidencePlace,
): Promise<RunRef | undefined> => {
  let ref = own;
  for (let depth = 0; depth < MAX_REOPENED; depth += 1) {
    if (run === ref.run) return ref;
    const reopens = (await store.runs.get(ref))?.reopens;
    const before = reopens === undefined ? undefined : await store.runs.get({ ...ref, run: reopens });
    const isBefore = before !== undefined && (run !== undefined || (kind === 'call' && first <= before.step));
    if (!isBefore) return run === undefined ? ref : undefined;
    ref = before.ref;
  }
  return undefined;
};
