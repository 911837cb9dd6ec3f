/** FINALIZING: whether the intended end holds, and its commit. */
import type { LocalActivities, RegularActivities } from '../../workflows/contract/activities';
import type { ActivityDeps } from '../deps';
import { checkEnd } from './check-end';
import { commit } from './commit';

export type FinalizeActivities = Pick<LocalActivities, 'checkEnd'> & Pick<RegularActivities, 'commit'>;

export const createFinalizeActivities = (deps: ActivityDeps): FinalizeActivities => ({
  checkEnd: (input) => checkEnd(deps, input),
  commit: (input) => commit(deps, input),
});
