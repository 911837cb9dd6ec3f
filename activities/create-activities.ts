/** All activities of a worker, made from what they are given. */
import type { Activities } from '../workflows/contract/activities';
import type { Wire } from '../workflows/contract/wire';
import { cacheArtifacts } from './context/cached-artifacts';
import { createContextActivities } from './context/create-context-activities';
import type { ActivityDeps } from './deps';
import { createJudgeAndGoAhead } from './go-ahead';
import { createFinalizeActivities } from './finalize/create-finalize-activities';
import { createModelActivities } from './model/create-model-activities';
import { createLiveTextWriter } from './model/live-text-writer';
import { onTheWire } from './on-the-wire';
import { createOperateActivities } from './operate/create-operate-activities';
import { createReconcileActivities } from './reconcile/create-reconcile-activities';
import { shareReads } from './shared-reads';
import { createValidateActivities } from './validate/create-validate-activities';
import { createWaitActivities } from './waits/create-wait-activities';

export const createActivities = (given: ActivityDeps): Wire<Activities> => {
  // Artifacts never change: what one activity read or wrote need not be read again by the next one.
  const cached = { ...given.store, artifacts: cacheArtifacts(given.store.artifacts) };
  const deps: ActivityDeps = { ...given, store: shareReads(cached) };
  const { project, freezeAhead, ...context } = createContextActivities(deps);
  const { judgeCandidate } = createValidateActivities(deps);
  const operate = createOperateActivities(deps);
  const onText = createLiveTextWriter({ store: deps.store.liveText, log: deps.log });
  return onTheWire({
    ...context,
    ...createModelActivities(deps, { project, onText }),
    ...operate,
    judgeCandidate: createJudgeAndGoAhead({ judgeCandidate, readShort: operate.readShort, freezeAhead, log: deps.log }),
    ...createWaitActivities(deps),
    ...createFinalizeActivities(deps),
    ...createReconcileActivities(deps),
    carry: async (carried) => {
      await deps.store.journal.carry(carried);
    },
  });
};
