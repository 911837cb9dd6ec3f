/** All activities of a worker, made from what they are given. */
import type { Activities } from '../workflows/contract/activities';
import type { Wire } from '../workflows/contract/wire';
import { cacheArtifacts } from './context/cached-artifacts';
import { createContextActivities } from './context/create-context-activities';
import type { ActivityDeps } from './deps';
import { createFinalizeActivities } from './finalize/create-finalize-activities';
import { createModelActivities } from './model/create-model-activities';
import { onTheWire } from './on-the-wire';
import { createOperateActivities } from './operate/create-operate-activities';
import { createReconcileActivities } from './reconcile/create-reconcile-activities';
import { createValidateActivities } from './validate/create-validate-activities';
import { createWaitActivities } from './waits/create-wait-activities';

export const createActivities = (given: ActivityDeps): Wire<Activities> => {
  // Artifacts never change: what one activity read or wrote need not be read again by the next one.
  const deps: ActivityDeps = { ...given, store: { ...given.store, artifacts: cacheArtifacts(given.store.artifacts) } };
  const { project, ...context } = createContextActivities(deps);
  return onTheWire({
    ...context,
    ...createModelActivities(deps, { project }),
    ...createValidateActivities(deps),
    ...createOperateActivities(deps),
    ...createWaitActivities(deps),
    ...createFinalizeActivities(deps),
    ...createReconcileActivities(deps),
    carry: async (carried) => {
      await deps.store.journal.carry(carried);
    },
  });
};
