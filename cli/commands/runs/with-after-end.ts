/** What can be done with runs that have ended, with the agents whose policies say who may. */
import { AfterEnd } from '../../../client/after-end';
import type { Caller } from '../../../client/start-request';
import { loadAgentsOf } from '../../agents-of';
import type { CliContext } from '../../context';
import { withServices } from '../../services';
import type { OneRunOptions } from './scope';

export interface AfterEndOptions extends OneRunOptions {
  readonly role: readonly string[];
  readonly agents?: string;
}

export const callerOf = ({ tenant, subject, role }: AfterEndOptions): Caller => ({ tenant, subject, roles: role });

/** Throws `agents.not_loadable` where agents are named and cannot be loaded; without any, nobody is permitted anything. */
export const withAfterEnd = <T>(
  context: CliContext,
  options: AfterEndOptions,
  use: (afterEnd: AfterEnd) => Promise<T>,
): Promise<T> =>
  withServices(context, async ({ store, temporal, taskQueue, stack }) => {
    const agents = await loadAgentsOf(context, { agents: options.agents, stack });
    return use(new AfterEnd({ store, temporal, taskQueue, ...(agents === undefined ? {} : { agents }) }));
  });
