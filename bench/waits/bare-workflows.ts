/** What a waiting run is compared with: a workflow that waits for one signal and then schedules one activity. */
import { condition, defineQuery, defineSignal, proxyActivities, setHandler } from '@temporalio/workflow';

export interface BareActivities {
  goOn(): Promise<string>;
}

const { goOn } = proxyActivities<BareActivities>({ startToCloseTimeout: '1 minute', heartbeatTimeout: '3s' });

export async function bareWait(): Promise<string> {
  let isTold = false;
  setHandler(defineSignal('tell'), () => {
    isTold = true;
  });
  // Whoever gets an answer knows that it waits.
  setHandler(defineQuery<boolean>('isWaiting'), () => !isTold);
  await condition(() => isTold);
  return goOn();
}
