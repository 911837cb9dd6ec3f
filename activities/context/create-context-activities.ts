/** READY's activities, and the projection that attempts are made from. They share what they have read and rendered. */
import type { FreezeInput, FrozenContext, LocalActivities } from '../../workflows/contract/activities';
import type { ActivityDeps } from '../deps';
import type { Project } from '../model/model-request';
import { createChains } from './chain';
import { createFrames } from './frame';
import { createFreezeAhead, createFreezeContext } from './freeze-context';
import { createOpenRun } from './open-run';
import { createProject } from './project';

export interface ContextActivities extends Pick<LocalActivities, 'openRun' | 'freezeContext'> {
  readonly project: Project;
  readonly freezeAhead: (input: FreezeInput) => Promise<FrozenContext | undefined>;
}

export const createContextActivities = (deps: Pick<ActivityDeps, 'store' | 'registry' | 'log'>): ContextActivities => {
  const { store } = deps;
  const chains = createChains(store);
  const frames = createFrames(deps);
  const parts = { deps, store, chains, frames };
  return {
    openRun: createOpenRun(deps),
    freezeContext: createFreezeContext(parts),
    freezeAhead: createFreezeAhead(parts),
    project: createProject({ store, chains, frames }),
  };
};
