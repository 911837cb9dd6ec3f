/** The smallest workflow around one attempt: says what came back, whatever it was. */
import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import type { AttemptInput, RegularActivities } from '../../../workflows/contract/activities';

export const giveUp = defineSignal('giveUp');

const { runAttempt } = proxyActivities<RegularActivities>({
  startToCloseTimeout: '1m',
  heartbeatTimeout: '3s',
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

export async function oneAttempt(input: AttemptInput): Promise<string> {
  const scope = new CancellationScope();
  setHandler(giveUp, () => {
    scope.cancel();
  });
  try {
    return (await scope.run(() => runAttempt(input))).kind;
  } catch (error) {
    if (isCancellation(error)) return 'cancelled';
    const cause = error instanceof ActivityFailure ? error.cause : error;
    return cause instanceof ApplicationFailure ? `failed: ${cause.type ?? ''}` : `failed: ${String(cause)}`;
  }
}
