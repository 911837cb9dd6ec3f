/** TOOL_RUNNING and WAITING_TOOL: reads, sends, look-ups and polls. */
import type { LocalActivities, RegularActivities } from '../../workflows/contract/activities';
import type { ActivityDeps } from '../deps';
import { dispatch } from './dispatch';
import { pursue } from './pursue';
import { readLong, readShort } from './read';

export type OperateActivities = Pick<LocalActivities, 'readShort'> &
  Pick<RegularActivities, 'readLong' | 'dispatch' | 'pursue'>;

export const createOperateActivities = (deps: ActivityDeps): OperateActivities => ({
  readShort: (input) => readShort(deps, input),
  readLong: (input) => readLong(deps, input),
  dispatch: (input) => dispatch(deps, input),
  pursue: (input) => pursue(deps, input),
});
