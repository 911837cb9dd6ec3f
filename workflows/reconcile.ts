/**
 * Goes on with an operation that was open or unknown when its run ended. It looks up and polls, and never sends; a callback
 * wakes it before its time. What it finds out becomes the next version of the run's result.
 */
import { condition, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';
import { SIGNALS, type ToolEventSignal } from './contract/messages';
import { MAX_LOOKS, type Looked, type ReconcileActivities, type ReconcileInput } from './contract/reconcile';
import { TOOL } from './policies';

const { reconcileOperation } = proxyActivities<ReconcileActivities>(TOOL);

export async function reconcile({ ref, operation }: ReconcileInput): Promise<Looked> {
  let isWoken = false;
  setHandler(defineSignal<[ToolEventSignal]>(SIGNALS.toolEvent), () => {
    isWoken = true;
  });
  let looked: Looked = { kind: 'givenUp' };
  for (let look = 1; look <= MAX_LOOKS; look += 1) {
    isWoken = false;
    looked = await reconcileOperation({ ref, operation, look });
    if (looked.kind === 'settled') return looked;
    // What was reported while the last look was under way is looked into once more.
    if (looked.kind === 'open') await condition(() => isWoken, looked.afterMs);
    else if (!hasBeen(isWoken)) return looked;
  }
  return looked;
}

/** The handler runs while the workflow waits, which the compiler does not see. */
const hasBeen = (flag: boolean): boolean => flag;
