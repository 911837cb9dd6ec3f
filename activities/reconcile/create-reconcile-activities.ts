/** After the end. */
import type { ReconcileActivities } from '../../workflows/contract/reconcile';
import type { ActivityDeps } from '../deps';
import { reconcileOperation } from './reconcile-operation';

export const createReconcileActivities = (deps: ActivityDeps): ReconcileActivities => ({
  reconcileOperation: (input) => reconcileOperation(deps, input),
});
